"""The fast path from a call to its graph.

    f(x, 3)   →   key: (kind of x, (int, 3))   →   entry: the arrays of the tensors → graph → tensor

A fast key consists of the abstract values of eager tensors, Python numbers and strings, and the keys of the elements
of nests. All other objects are represented by their `id`. The entry compares them with the objects that it was made
for. Any other argument gets a key that is never found: the call then takes the slow path, `cache_key.key_of`.
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
"""The value that an entry returns if it was made for other objects."""

IMMUTABLE = frozenset({bool, int, float, str, bytes, type(None)})
"""The types of values that are used in keys unchanged."""

_NESTS = frozenset({tuple, list, dict})
_ARRAYS = (np.ndarray, np.generic)
_array_of = attrgetter("_array")


def fast_key(value: Any) -> Hashable:
    """Return the part of the fast key for one argument. It differs for arguments that need different graphs."""
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
    """A map from the number of arguments to the function that makes their key."""

    def __missing__(self, count: int) -> Callable[[Sequence[Any]], Hashable]:
        if count > MOST:
            return _key_of_many
        made: Callable[[Sequence[Any]], Hashable] = key_function(count)(fast_key)
        self[count] = made
        return made


def _key_of_many(args: Sequence[Any]) -> Hashable:
    return tuple(map(fast_key, args))


KEYS = _Keys()
"""The functions that make the fast key of a call without keywords: `KEYS[len(args)](args)`."""


def build_entry(concrete: ConcreteFunction, values: Sequence[Any], leaves: Sequence[Any]) -> Entry | None:
    """Return an entry that calls `concrete` with arguments like `values`; `leaves` are the inputs of the graph.

    Return None if the leaves of `values` are not exactly `leaves`, in this order.
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
    """Append the leaves of an argument to `tensors` and `objects`, in the order of the graph's inputs."""
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
    """Return an entry for arguments that are tensors, immutable values or objects, without nests and arrays."""
    tensors = [place for place, value in enumerate(values) if type(value) is EagerTensor]
    others = [place for place, value in enumerate(values) if any(value is each for each in objects)]
    known = [Identity(values[place]).reference for place in others]
    maker = entry_function(len(values), tuple(tensors), tuple(others), bool(concrete.references))
    return maker(MISSED, concrete, concrete.finish, *known)


def _of_nests(concrete: ConcreteFunction, values: Sequence[Any], objects: Sequence[Any]) -> Entry:
    """Return an entry for any arguments. It flattens them at each call."""
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
