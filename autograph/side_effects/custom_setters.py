"""Custom setters: assignments that call properties, other descriptors or methods of the user's class.

self.v = self.v + 1      If `v` is a property, this calls two functions. Their mutations are found as those of any
                         other function. There is no location that could be set to the incoming value.
"""

from __future__ import annotations

from collections import deque
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

from .. import policy
from ..errors import is_own_file
from ..staging import PYTHON, backends

_WITHOUT_MEMORY = frozenset(
    {list, dict, set, tuple, str, int, float, bool, type(None), deque, type, ModuleType}
)
_STORED = MemberDescriptorType, GetSetDescriptorType


def sets_attribute(base: Any, name: str) -> bool:
    """Return whether `base.name = value` is a call.

    >>> class Circle:
    ...     radius = property(lambda self: 1, lambda self, value: None)
    >>> sets_attribute(Circle(), "radius"), sets_attribute(Circle(), "name")
    (True, False)
    """
    cls = type(base)
    if is_memory(base) or is_fixed(cls, name):
        return True
    found = next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)
    if hasattr(type(found), "__set__") and not isinstance(found, _STORED):
        return True
    return _is_users(cls.__setattr__)


def sets_items(base: Any) -> bool:
    """Return whether `base[key] = value` calls user code, or writes to memory, which holds no tensors."""
    return is_memory(base) or _is_users(getattr(type(base), "__setitem__", None))


def is_fixed(cls: type, name: str) -> bool:
    """Return whether an attribute is implemented in C by a library: no graph can give it a value.

    >>> import decimal
    >>> is_fixed(decimal.Context, "prec"), is_fixed(type("Net", (), {}), "prec")
    (True, False)
    """
    base = next((base for base in policy.bases_of(cls) if name in vars(base)), None)
    is_plain = name == "cell_contents" or base is None or policy.is_user_class(base)
    return not is_plain and isinstance(vars(base)[name], GetSetDescriptorType)


def is_memory(value: Any) -> bool:
    """Return whether a value is an array of numbers, or a number in an array.

    >>> is_memory(bytearray(3)), is_memory([1])
    (True, False)
    """
    cls = type(value)
    if cls.__module__ == "numpy":  # also types such as `array.flat`
        return True
    return cls not in _WITHOUT_MEMORY and backends[cls] is PYTHON and has_buffer(value)


def has_buffer(value: Any) -> bool:
    """Return whether a `memoryview` of a value can be made."""
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _is_users(function: Any) -> bool:
    return isinstance(function, FunctionType) and not is_own_file(function.__code__.co_filename)
