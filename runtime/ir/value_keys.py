"""Keys of constants and attributes: no operation can distinguish values with equal keys.

`0.0 == -0.0 == False` in Python, but not in a graph. Many attributes are not hashable.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .. import dtypes
from .graph import Constant, Value
from .value_types import TensorType

SMALL = 64
"""Constants of at most this many elements are compared by contents, others by identity."""

_PLAIN = frozenset({int, str, bytes, bool, type(None), dtypes.DType})


def of_constant(constant: Constant) -> Hashable:
    """Return a key for the dtype, shape and bits of a constant."""
    array = constant.value
    if array.size > SMALL or array.dtype.hasobject:
        return id(array)
    return array.dtype, array.shape, array.tobytes()


def of_attributes(attrs: Mapping[str, Any]) -> Hashable:
    """Return a key for all attributes; these are in the order of the operation's signature."""
    kinds = tuple(map(type, attrs.values()))
    if _PLAIN.issuperset(kinds):
        return kinds, tuple(attrs.items())
    return tuple([(name, of_value(value)) for name, value in attrs.items()])


def of_type(operand: Value | Constant) -> Hashable:
    """Return a key for the type of an operand and its known elements."""
    spec = operand.spec
    elements = operand.elements if type(operand) is Value else None
    return (spec.dtype, spec.shape, elements) if type(spec) is TensorType else (spec, elements)


def of_value(value: Any) -> Hashable:
    """Return a key for one attribute; objects other than plain data are compared by identity."""
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
