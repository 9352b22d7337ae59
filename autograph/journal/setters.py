"""Whose assignments are calls: of properties and other descriptors, of a user's `__setattr__` and `__setitem__`.

self.v = self.v + 1      if `v` is a property, this calls two functions: what they change is found like what any
                         other function changes, and there is no place that could be set to what comes in
"""

from __future__ import annotations

from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

from ..errors import is_own_file

_STORED = MemberDescriptorType, GetSetDescriptorType


def sets_attribute(base: Any, name: str) -> bool:
    """Whether `base.name = value` is a call.

    >>> class Circle:
    ...     radius = property(lambda self: 1, lambda self, value: None)
    >>> sets_attribute(Circle(), "radius"), sets_attribute(Circle(), "name")
    (True, False)
    """
    cls = type(base)
    found = next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)
    if hasattr(type(found), "__set__") and not isinstance(found, _STORED):
        return True
    return _is_users(cls.__setattr__)


def sets_items(base: Any) -> bool:
    """Whether `base[key] = value` is a call of a function of the user's."""
    return _is_users(getattr(type(base), "__setitem__", None))


def _is_users(function: Any) -> bool:
    return isinstance(function, FunctionType) and not is_own_file(function.__code__.co_filename)
