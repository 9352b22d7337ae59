"""New values for variables, unless another thread has given them others meanwhile.

    before = v._array                       thread 1 and thread 2 read 5
    after = before + 1
    if v._array is before:                  thread 1 finds 5 and writes 6
        v._array = after                    thread 2 finds 6, and adds again: 7

CPython changes threads where a function is called and where code jumps back, so between the last two lines there is no
other thread; nor is there one within a function of C that calls no Python. That costs less than a lock, which an
update would hold while it computes. `before` is kept, so no other array can be at its place in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import attrgetter, is_, not_
from typing import Any

import numpy as np

Array = Any

_array_of = attrgetter("_array")


def update(variable: Any, new: Callable[..., Array], *operands: Any) -> Array:
    """Give a variable the value `new(value, *operands)` in one step; the new value."""
    variable = getattr(
        variable, "_variable", variable
    )  # of a stand-in, whose attributes are Python's properties
    while True:
        before = variable._array
        after = new(before, *operands)
        if variable._array is before:
            variable._array = after
            return after


def update_into(variable: Any, ufunc: np.ufunc, delta: Array, out: Array) -> Array:
    """The same for the sum or difference of arrays, computed into `out`, which may be the array of `delta`."""
    before = variable._array
    after = ufunc(before, delta, out=out)
    if variable._array is before:
        variable._array = after
        return after
    if out is delta:  # which is gone: it is what the value would have changed by
        delta = after - before if ufunc is np.add else before - after
    return update(variable, ufunc, delta)


def exchange(variables: Sequence[Any], before: Sequence[Array], after: Sequence[Array]) -> bool:
    """Give all variables new values if all have those from `before` still; whether they had.

    >>> from types import SimpleNamespace
    >>> a, b = SimpleNamespace(_array=[1]), SimpleNamespace(_array=[2])
    >>> exchange([a, b], [a._array, b._array], ["new", "newer"]), exchange([a, b], [a._array, [2]], ["last", "last"])
    (True, False)
    >>> a._array, b._array
    ('new', 'newer')
    """
    # One call of C for all: `setattr` gives None, so `not_` goes on.
    are_as_before = map(is_, map(_array_of, variables), before)
    are_set = map(not_, map(setattr, variables, repeat("_array"), after))
    return all(chain(are_as_before, are_set))
