"""Value identity: when two values are the same for a traced block."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..staging import Maybe, Undefined

NOTHING = object()  # marks a missing value
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def same(one: Any, other: Any) -> bool:
    """Return whether two values are indistinguishable.

    >>> same((1, "a"), (1, "a")), same(0.0, -0.0), same([], [])
    (True, False, False)
    """
    if one is other or (_is_no_value(one) and _is_no_value(other)):
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and type(one) is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) in _PLAIN and repr(one) == repr(other)


def _is_no_value(value: Any) -> bool:
    return value is NOTHING or (isinstance(value, Undefined) and not isinstance(value, Maybe))


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are the same, or equal functions, such as factories of defaultdicts."""
    if isinstance(one, FunctionType) and isinstance(other, FunctionType):
        return (one.__code__, one.__defaults__, one.__closure__) == (
            other.__code__, other.__defaults__, other.__closure__
        )  # fmt: skip
    return same(one, other)


def has_same_items(one: Any, other: Any) -> bool:
    """Return whether two copies of the items of a list or dict, with nested ones, hold the same objects in one order.

    >>> x = object()
    >>> has_same_items([x, {"a": [x]}], [x, {"a": [x]}]), has_same_items([x], [object()])
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return has_same_items([*one.keys(), *one.values()], [*other.keys(), *other.values()])
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(has_same_items, one, other))
    return one is other
