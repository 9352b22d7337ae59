"""The leaves of a variable's value: arrays and numbers, which JAX carries, and Python objects, which stay as they are.

    {"w": w, "best": None}  ⇒  leaves [w], and a function that makes the value from other leaves

A value is a pytree of JAX. A `Maybe` adds its flag as a leaf; an `Undefined` is a leaf of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from agc.autograph.staging import Maybe, Undefined, UnescapedList

import jax
import jax.numpy as jnp

Build = Callable[[Sequence[Any]], Any]

_NUMBERS = (bool, int, float, complex)


class Slot(NamedTuple):
    """The place of an array in the results of a traced block: its number among them, and its type.

    `array` is the array itself if the block has only passed it on from outside, else None.
    """

    number: int
    aval: Any
    array: Any


def is_array(leaf: Any) -> bool:
    """Return whether JAX carries the leaf as an array; a PRNG key is one."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic))


def is_number(leaf: Any) -> bool:
    """Return whether the leaf is a Python number, which adapts to the dtype of arrays (a weak type)."""
    return type(leaf) in _NUMBERS


def is_carried(leaf: Any) -> bool:
    return isinstance(leaf, Slot) or is_number(leaf) or is_array(leaf)


def flatten(value: Any) -> tuple[list[Any], Build]:
    """Return the leaves of a value, and the function that builds a value of this structure from leaves.

    >>> leaves, build = flatten({"a": (1, None), "b": "text"})
    >>> leaves, build([2, "other"])
    ([1, 'text'], {'a': (2, None), 'b': 'other'})
    """
    if type(value) is Maybe:
        name: str = value.name
        leaves, build = flatten(value.value)
        return [*leaves, value.defined], lambda new: Maybe(name, build(new[:-1]), new[-1])
    if isinstance(value, UnescapedList):
        kind = type(value)
        leaves, build = flatten([*list.__iter__(value)])
        return leaves, lambda new: kind(build(new))
    leaves, tree = jax.tree.flatten(value, is_leaf=lambda leaf: isinstance(leaf, (Undefined, Slot)))
    return leaves, lambda new: jax.tree.unflatten(tree, new)


def flatten_named(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the leaves with their paths, such as `state['h'][0]`."""
    if type(value) is Maybe:
        return [*flatten_named(name, value.value), (f"whether {name} is bound", value.defined)]
    if isinstance(value, UnescapedList):
        value = [*list.__iter__(value)]
    pairs, _ = jax.tree.flatten_with_path(value, is_leaf=lambda leaf: isinstance(leaf, (Undefined, Slot)))
    return [(name + jax.tree_util.keystr(path), leaf) for path, leaf in pairs]


def structure(value: Any) -> Any:
    """Return a comparison key of the structure without the leaves."""
    if type(value) is Maybe:
        return Maybe, structure(value.value)
    if isinstance(value, UnescapedList):
        value = [*list.__iter__(value)]
    return jax.tree.structure(value, is_leaf=lambda leaf: isinstance(leaf, (Undefined, Slot)))


def type_of(leaf: Any) -> Any:
    """Return the type that JAX carries the leaf with: shape, dtype, and whether it is weak."""
    return leaf.aval if isinstance(leaf, Slot) else jax.typeof(jnp.asarray(leaf) if is_number(leaf) else leaf)


def described(leaf: Any) -> str:
    """Return the type of a leaf for a message; other objects as Python shows them.

    >>> described(jnp.zeros((2, 3))), described(1.5), described("text"), described(None)
    ('float32[2,3]', '1.5', "'text'", 'None')
    """
    if is_number(leaf) or not is_carried(leaf):
        return f"{leaf!r}"
    aval = type_of(leaf)
    return f"{aval.dtype}[{','.join(map(str, aval.shape))}]"


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
    aval = type_of(leaf)
    return jnp.zeros(aval.shape, aval.dtype)


def is_same(one: Any, other: Any) -> bool:
    """Return whether two leaves are the same object, or equal numbers or texts of one type."""
    if isinstance(one, Slot) and isinstance(other, Slot):
        return one.array is not None and one.array is other.array
    if one is other:
        return True
    plain = (*_NUMBERS, str, bytes)
    return type(one) is type(other) and type(one) in plain and one == other
