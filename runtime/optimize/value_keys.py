"""Keys of constants and attributes: equal keys stand for what no operation can tell apart.

`0.0 == -0.0 == False` for Python, but not for a graph; and much of what attributes hold cannot be hashed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.graph import Constant

SMALL = 64
"""Constants of no more elements than this are compared by their contents, others by identity."""

_PLAIN = (int, str, bytes, bool, type(None), dtypes.DType)


def of_constant(constant: Constant) -> Hashable:
    """The dtype, shape and bits of a constant."""
    array = constant.value
    if array.size > SMALL or array.dtype.hasobject:
        return id(array)
    return array.dtype, array.shape, array.tobytes()


def of_attributes(attrs: Mapping[str, Any]) -> Hashable:
    """All attributes; they come in the order of the operation's signature."""
    return tuple([(name, of_value(value)) for name, value in attrs.items()])


def of_value(value: Any) -> Hashable:
    """One attribute. What is not plain data counts as itself, and nothing else."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is tuple or kind is list:
        return kind, tuple(map(of_value, value))
    if kind is float or kind is complex:
        return kind, repr(value)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return kind, value.dtype, value.tobytes()
    if isinstance(value, dtypes.DType):
        return dtypes.DType, value
    return kind, id(value)
