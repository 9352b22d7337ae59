"""The shortest way from a call to its graph.

    f(x, 3)   →   key: (kind of x, (int, 3))   →   entry: the arrays of the tensors → graph → tensor

A key is made of what is at hand: the kinds of eager tensors, numbers as they are, nests by their parts, all other
objects by their number, which the entry then holds against the object that it was made for. A call of another kind
has a key that is never found; it takes the long way, through `signature.key_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import nest
from ..core.abstract_value import abstract_value_of
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from .cache_key import Identity, is_identified
from .unrolled_codegen import MOST, entry_function, key_function

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction

Entry = Callable[[Sequence[Any]], Any]

MISSED: Any = object()
"""What an entry gives when it was made for other objects."""

IMMUTABLE = frozenset({bool, int, float, str, bytes, type(None)})
"""What keys have as it is."""

_NESTS = frozenset({tuple, list, dict})
_ARRAYS = (np.ndarray, np.generic)
_array_of = attrgetter("_array")


def fast_key(value: Any) -> Hashable:
    """What stands for one argument; never the same for two that need different graphs."""
    kind = type(value)
    if kind is EagerTensor:
        return value._kind or abstract_value_of(value)
    if kind in IMMUTABLE:
        return kind, str(value) if value == 0 else value  # 0.0 and -0.0 are equal
    if kind is tuple or kind is list:
        return (kind, *map(fast_key, value))
    if kind is dict:
        return (kind, *value, *map(fast_key, value.values()))
    if issubclass(kind, _ARRAYS):
        return kind, value.dtype, value.shape
    return id(value) if is_identified(kind) else object()


class _Keys(dict[int, Callable[[Sequence[Any]], Hashable]]):
    """By the number of arguments, what makes their key."""

    def __missing__(self, count: int) -> Callable[[Sequence[Any]], Hashable]:
        if count > MOST:
            return _key_of_many
        made: Callable[[Sequence[Any]], Hashable] = key_function(count)(fast_key)
        self[count] = made
        return made


def _key_of_many(args: Sequence[Any]) -> Hashable:
    return tuple(map(fast_key, args))


KEYS = _Keys()
"""What stands for the arguments of a call without keywords: `KEYS[len(args)](args)`."""


def build_entry(concrete: ConcreteFunction, values: Sequence[Any], leaves: Sequence[Any]) -> Entry | None:
    """The way to call `concrete` with arguments like `values`, of which it takes the `leaves`.

    None where they are not enough, or not in the same order.
    """
    tensors: list[Any] = []
    objects: list[Any] = []
    for value in values:
        _collect(value, tensors, objects)
    if len(tensors) != len(leaves) or any(a is not b for a, b in zip(tensors, leaves, strict=True)):
        return None
    if any(not is_identified(type(each)) for each in objects):
        return None
    is_nested = any(type(value) in _NESTS or isinstance(value, _ARRAYS) for value in values)
    return (_of_nests if is_nested or len(values) > MOST else _of_flat)(concrete, values, objects)


def _collect(value: Any, tensors: list[Any], objects: list[Any]) -> None:
    """Sort the leaves of an argument, in the order in which graphs take them."""
    kind = type(value)
    if kind is EagerTensor:
        tensors.append(value)
    elif kind in _NESTS:
        for _, child in nest.children(value):
            _collect(child, tensors, objects)
    elif issubclass(kind, _ARRAYS) and not value.dtype.hasobject:
        tensors.append(value)
    elif kind not in IMMUTABLE:
        objects.append(value)


def _of_flat(concrete: ConcreteFunction, values: Sequence[Any], objects: Sequence[Any]) -> Entry:
    """For arguments each of which is a tensor, or none of the graph's matter."""
    tensors = [place for place, value in enumerate(values) if type(value) is EagerTensor]
    others = [place for place, value in enumerate(values) if any(value is each for each in objects)]
    known = [Identity(values[place]).reference for place in others]
    maker = entry_function(len(values), tuple(tensors), tuple(others), bool(concrete.references))
    return maker(MISSED, concrete, concrete.finish, *known)


def _of_nests(concrete: ConcreteFunction, values: Sequence[Any], objects: Sequence[Any]) -> Entry:
    """For any arguments: they are taken apart at each call."""
    finish, references = concrete.finish, concrete.references
    known = [Identity(each).reference for each in objects]

    def entry(values: Sequence[Any]) -> Any:
        tensors: list[Any] = []
        objects: list[Any] = []
        for value in values:
            _collect(value, tensors, objects)
        for reference, found in zip(known, objects, strict=True):
            if reference() is not found:
                return MISSED
        arrays = [t._array if type(t) is EagerTensor else _array_of(convert_to_tensor(t)) for t in tensors]
        return finish(concrete.runner([*arrays, *references]))

    return entry
