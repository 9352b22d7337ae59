"""What a backend takes apart and whoever knows it may change: lists, dicts, and objects with fields.

kind                                        parts
list, deque, and classes made from these    the items, by their positions
dict, and classes made from it              the values, by their keys
a dataclass that is not frozen              the fields, by their names

Parts are read and written past the methods of users' classes, so that nobody notices.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque
from typing import Any

from ..staging import OwnList

_BASES = list, deque, OrderedDict, defaultdict, dict


def is_mutable(value: Any) -> bool:
    """Whether a value is taken apart, and may be changed.

    >>> is_mutable([1]), is_mutable((1,)), is_mutable(OrderedDict(a=1)), is_mutable("a")
    (True, False, True, False)
    """
    return _base_of(value) is not None


def has_fields(value: Any) -> bool:
    """Whether a mutable value is an object with fields."""
    return _base_of(value) is object


def _base_of(value: Any) -> Any:
    kind: Any = type(value)  # mypy does not know that classes are hashable
    return _base_of_kind(kind)


@functools.lru_cache(maxsize=1024)
def _base_of_kind(kind: Any) -> Any:
    """The class whose methods read and write the parts; None for what has no parts that change."""
    if issubclass(kind, OwnList):
        return None
    is_fixed = getattr(getattr(kind, "__dataclass_params__", None), "frozen", True)
    of_fields = None if is_fixed or issubclass(kind, BaseException) else object
    return next((base for base in _BASES if issubclass(kind, base)), of_fields)


def parts(value: Any) -> dict[Any, Any]:
    """The parts of a mutable value, by their keys.

    >>> parts(["a", "b"]), parts({"x": 1})
    ({0: 'a', 1: 'b'}, {'x': 1})
    """
    base = _base_of(value)
    if base in (list, deque):
        return dict(enumerate(base.__iter__(value)))
    if base is object:
        found = ((name, getattr(value, name, _ABSENT)) for name in _fields(value))
        return {name: part for name, part in found if part is not _ABSENT}
    return dict(base.items(value))


_ABSENT = object()


def _fields(value: Any) -> list[str]:
    import dataclasses  # here, where there is one: others need not wait for the module

    return [field.name for field in dataclasses.fields(value)]


def put(value: Any, key: Any, part: Any) -> None:
    """Give a mutable value another part where it has one."""
    base = _base_of(value)
    if base is object:
        object.__setattr__(value, key, part)
    else:
        base.__setitem__(value, key, part)


def refill(value: Any, kept: dict[Any, Any]) -> None:
    """Give a mutable value these parts and no others.

    >>> items = [1, 2, 3]
    >>> refill(items, {0: "a"})
    >>> items
    ['a']
    """
    base = _base_of(value)
    if base in (list, deque):
        base.clear(value)
        base.extend(value, kept.values())
        return
    if base is object:
        for name in parts(value).keys() - kept.keys():
            object.__delattr__(value, name)
    else:
        base.clear(value)
    for key, part in kept.items():
        put(value, key, part)


def copied(value: Any) -> Any:
    """Another object with the same parts, made without a call of the user's class."""
    kind: Any = type(value)
    base = _base_of(value)
    new = base.__new__(kind)
    if base is deque:
        deque.__init__(new, (), value.maxlen)
    elif base is defaultdict:
        new.default_factory = value.default_factory
    getattr(new, "__dict__", {}).update(getattr(value, "__dict__", {}))
    refill(new, parts(value))
    return new
