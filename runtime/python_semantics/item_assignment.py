"""`target[key] = value` in converted code, for the runtime's types: return the new value of the variable.

tensor           another tensor, in graphs and outside of them
variable         the variable, which has been assigned
TensorArray      the array after `write`
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..ops.arrays.setitem import setitem


def with_item(target: Any, key: Any, value: Any) -> Any:
    """Return the value of `target` after `value` has been stored at `key`."""
    if isinstance(target, Tensor):
        return setitem(target, key, value)
    if isinstance(target, TensorArray):
        return target.write(_position(key), value)
    target[key] = value  # other classes raise their own errors
    return target


def _position(key: Any) -> Any:
    if isinstance(key, (slice, tuple)):
        raise TypeError("a TensorArray is assigned one element at a time: its index must be a scalar integer")
    return key
