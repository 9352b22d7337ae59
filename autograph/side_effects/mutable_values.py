"""Mutable values: lists, dicts, and objects with fields, which a backend takes apart into parts.

    kind                                        parts
    list, deque, and their subclasses           the items, by their positions
    dict and its subclasses                     the values, by their keys
    UserDict and its subclasses                 the values of its dict, by their keys
    a dataclass or attrs class, not frozen      the fields, by their names

Excluded are opaque leaves (`staging.is_opaque_leaf`), and lists that do not escape the function. Parts are read
and written without calling methods that users' classes override.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, UserDict, defaultdict, deque
from typing import Any

from .. import staging
from ..staging import UnescapedList, is_opaque_leaf

_BASES = list, deque, OrderedDict, defaultdict, dict, UserDict


def is_mutable(value: Any) -> bool:
    """Return whether a value is taken apart, and may be mutated.

    >>> is_mutable([1]), is_mutable((1,)), is_mutable(OrderedDict(a=1)), is_mutable("a")
    (True, False, True, False)
    """
    return _base_of(value) is not None


def has_fields(value: Any) -> bool:
    """Return whether a mutable value is an object with fields."""
    return _base_of(value) is object


def has_parts(kind: Any) -> bool:
    """Return whether the instances of a class are mutable, or have fields."""
    return _base_of_kind(kind) is not None or _has_fixed_fields(kind)


def _base_of(value: Any) -> Any:
    kind: Any = type(value)  # mypy does not accept that classes are hashable
    return _base_of_kind(kind)


@functools.lru_cache(maxsize=1024)
def _base_of_kind(kind: Any) -> Any:
    """Return the class with the methods that access the parts; None if there are no mutable parts."""
    if issubclass(kind, UnescapedList) or is_opaque_leaf(kind):
        return None
    is_fixed = not staging.has_fields(kind) or staging.is_frozen(kind) or issubclass(kind, BaseException)
    of_fields = None if is_fixed else object
    return next((base for base in _BASES if issubclass(kind, base)), of_fields)


def parts(value: Any) -> dict[Any, Any]:
    """Return the parts of a mutable value, by their keys.

    >>> parts(["a", "b"]), parts({"x": 1})
    ({0: 'a', 1: 'b'}, {'x': 1})
    """
    base = _base_of(value)
    if base in (list, deque):
        return dict(enumerate(base.__iter__(value)))
    if base is object:
        found = ((name, getattr(value, name, _ABSENT)) for name in _fields(value))
        return {name: part for name, part in found if part is not _ABSENT}
    return dict(value.data if base is UserDict else base.items(value))


_ABSENT = object()


def _fields(value: Any) -> tuple[str, ...]:
    kind: Any = type(value)
    return staging.field_names(kind)


def put(value: Any, key: Any, part: Any) -> None:
    """Replace an existing part of a mutable value."""
    base = _base_of(value)
    if base is object:
        object.__setattr__(value, key, part)
    elif base is UserDict:
        value.data[key] = part
    else:
        base.__setitem__(value, key, part)


def refill(value: Any, saved: dict[Any, Any]) -> None:
    """Replace all parts of a mutable value by `saved`.

    >>> items = [1, 2, 3]
    >>> refill(items, {0: "a"})
    >>> items
    ['a']
    """
    base = _base_of(value)
    if base in (list, deque):
        base.clear(value)
        base.extend(value, saved.values())
        return
    if base is object:
        for name in parts(value).keys() - saved.keys():
            object.__delattr__(value, name)
    elif base is UserDict:
        value.data.clear()
    else:
        base.clear(value)
    for key, part in saved.items():
        put(value, key, part)


def copied(value: Any) -> Any:
    """Return a new object with the same parts, without calling the user's class."""
    kind: Any = type(value)
    base = _base_of(value)
    new = base.__new__(kind)
    if base is deque:
        deque.__init__(new, (), value.maxlen)
    elif base is defaultdict:
        new.default_factory = value.default_factory
    getattr(new, "__dict__", {}).update(getattr(value, "__dict__", {}))
    if base is UserDict:
        new.data = {}
    refill(new, parts(value))
    return new


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes in an object's dictionary, other than its parts.

    >>> items = type("Items", (list,), {})()
    >>> items.name = "x"
    >>> attributes(items)
    {'name': 'x'}
    """
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        return {}
    base = _base_of(value)
    for name in _fields(value) if base is object else ("data",) if base is UserDict else ():
        found.pop(name, None)
    return found


def extras(value: Any) -> dict[str, Any]:
    """Return the properties of a mutable value other than its parts."""
    built_in = {name: getattr(value, name, None) for name in ("maxlen", "default_factory")}
    return {**attributes(value), **(built_in if _base_of(value) in (deque, defaultdict) else {})}


def fixed_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a frozen object, by their names; empty for any other value."""
    kind: Any = type(value)
    if not _has_fixed_fields(kind):
        return {}
    found = ((name, getattr(value, name, _ABSENT)) for name in _fields(value))
    return {name: part for name, part in found if part is not _ABSENT}


@functools.lru_cache(maxsize=1024)
def _has_fixed_fields(kind: Any) -> bool:
    return staging.has_fields(kind) and staging.is_frozen(kind) and not is_opaque_leaf(kind)


def with_fields(value: Any, new: dict[str, Any]) -> Any:
    """Return a copy of a frozen object with the parts `new`, without calling the user's class."""
    other = object.__new__(type(value))
    getattr(other, "__dict__", {}).update(getattr(value, "__dict__", {}))
    for name, part in new.items():
        object.__setattr__(other, name, part)
    return other
