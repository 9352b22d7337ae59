"""The leaves of a variable's value: arrays and numbers, which a library carries, and objects, which stay as they are.

    {"w": w, "best": None}  ⇒  leaves [w], and a function that makes the value from other leaves

A value is a pytree of the library. A `Maybe` adds its flag as a leaf; an `Undefined` is a leaf of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agc.autograph.staging import Maybe, Undefined, UnescapedList

from .failures import library
from .library import Build, Type

_NUMBERS = (bool, int, float, complex)


class Slot(NamedTuple):
    """The place of an array in the results of a traced block: its number among them, and its type.

    `array` is the array itself if the block has only passed it on from outside, else None.
    """

    number: int
    type: Type
    array: Any


def is_array(leaf: Any) -> bool:
    """Return whether the library carries the leaf as an array."""
    return library().is_array(leaf)


def is_number(leaf: Any) -> bool:
    """Return whether the leaf is a Python number, which adapts to the dtype of arrays (a weak type)."""
    return type(leaf) in _NUMBERS


def is_carried(leaf: Any) -> bool:
    return isinstance(leaf, Slot) or is_number(leaf) or is_array(leaf)


def flatten(value: Any) -> tuple[list[Any], Build]:
    """Return the leaves of a value, and the function that builds a value of this structure from leaves."""
    if type(value) is Maybe:
        name: str = value.name
        leaves, build = flatten(value.value)
        return [*leaves, value.defined], lambda new: Maybe(name, build(new[:-1]), new[-1])
    if isinstance(value, UnescapedList):
        kind = type(value)
        leaves, build = flatten([*list.__iter__(value)])
        return leaves, lambda new: kind(build(new))
    return library().flatten(value, _is_leaf)


def _is_leaf(value: Any) -> bool:
    return isinstance(value, (Undefined, Slot))


def flatten_named(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the leaves with their paths, such as `state['h'][0]`."""
    if type(value) is Maybe:
        return [*flatten_named(name, value.value), (f"whether {name} is bound", value.defined)]
    if isinstance(value, UnescapedList):
        value = [*list.__iter__(value)]
    return [(name + path, leaf) for path, leaf in library().flatten_with_path(value, _is_leaf)]


def structure(value: Any) -> Any:
    """Return a comparison key of the structure without the leaves."""
    if type(value) is Maybe:
        return Maybe, structure(value.value)
    if isinstance(value, UnescapedList):
        value = [*list.__iter__(value)]
    return library().structure(value, _is_leaf)


def type_of(leaf: Any) -> Type:
    """Return the type that the library carries the leaf with."""
    return leaf.type if isinstance(leaf, Slot) else library().type_of(leaf)


def described(leaf: Any) -> str:
    """Return the type of a leaf for a message, such as `float32[2,3]`; other objects as Python shows them."""
    if is_number(leaf) or not is_carried(leaf):
        return f"{leaf!r}"
    type = type_of(leaf)
    return f"{library().dtype_name(type.dtype)}[{','.join(map(str, type.shape))}]"


def shown(value: Any) -> str:
    """Return the structure of a value with the types of its leaves, for a message."""
    if isinstance(value, Undefined):
        return "unbound"
    leaves, build = flatten(value)
    return str(build([_Shown(described(leaf)) for leaf in leaves]))


class _Shown:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def blank(value: Any) -> Any:
    """Return a placeholder of the same structure and types, which is never read."""
    leaves, build = flatten(value)
    return build([_blank(leaf) for leaf in leaves])


def _blank(leaf: Any) -> Any:
    if not is_carried(leaf) or is_number(leaf):
        return leaf
    return library().blank(type_of(leaf)._replace(is_weak=False))


def is_same(one: Any, other: Any) -> bool:
    """Return whether two leaves are the same object, or equal numbers or texts of one type."""
    if isinstance(one, Slot) and isinstance(other, Slot):
        return one.array is not None and one.array is other.array
    if one is other:
        return True
    plain = (*_NUMBERS, str, bytes)
    return type(one) is type(other) and type(one) in plain and one == other
