"""Lock-free updates of variables: compare-and-swap loops that rely on CPython's thread switching.

    before = v._array                       thread 1 and thread 2 read 5
    after = before + 1
    if v._array is before:                  thread 1 finds 5 and writes 6
        v._array = after                    thread 2 finds 6, and adds again: 7

CPython switches threads only at function calls and backward jumps, so no other thread runs between the last
two lines. Nor does one run within a C function that calls no Python. This costs less than a lock held during
the computation. `before` stays referenced, so no other array can reuse its address (no ABA problem).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import attrgetter, is_, not_
from typing import Any

import numpy as np

from .own_arrays import own_array

Array = Any

_array_of = attrgetter("_array")


def update(variable: Any, new: Callable[..., Array], *operands: Any) -> Array:
    """Set a variable to `new(value, *operands)` in one atomic step, and return the new value."""
    owner = getattr(variable, "_variable", variable)  # a proxy has Python properties as attributes
    return update_own(owner, new, *operands)


def update_own(variable: Any, new: Callable[..., Array], *operands: Any) -> Array:
    """Do the same for a variable that is no proxy of another one."""
    while True:
        before = variable._array
        after = new(before, *operands)
        if variable._array is before:
            variable._array = after
            return after


def update_into(variable: Any, ufunc: np.ufunc, delta: Array, out: Array) -> Array:
    """Set a variable to the sum or difference of arrays, computed into `out`, and return the new value.

    `out` may be the array of `delta`. A large array that only the variable has is overwritten instead of `out`.
    """
    own = own_array(variable)
    if own is not None:
        return ufunc(own, delta, out=own)
    before = variable._array
    after = ufunc(before, delta, out=out)
    if variable._array is before:
        variable._array = after
        return after
    if out is delta:  # `delta` was overwritten: recompute it from the change of the value
        delta = after - before if ufunc is np.add else before - after
    return update(variable, ufunc, delta)


def exchange(variables: Sequence[Any], before: Sequence[Array], after: Sequence[Array]) -> bool:
    """Set all variables to `after` if all still have the values in `before`; return whether they had.

    >>> from types import SimpleNamespace
    >>> a, b = SimpleNamespace(_array=[1]), SimpleNamespace(_array=[2])
    >>> exchange([a, b], [a._array, b._array], ["new", "newer"]), exchange([a, b], [a._array, [2]], ["last", "last"])
    (True, False)
    >>> a._array, b._array
    ('new', 'newer')
    """
    # One C call handles all: `setattr` returns None, so `not_` yields True and `all` continues.
    are_as_before = map(is_, map(_array_of, variables), before)
    are_set = map(not_, map(setattr, variables, repeat("_array"), after))
    return all(chain(are_as_before, are_set))
