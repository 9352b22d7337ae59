"""`target[key] = value` in converted code, for what this runtime owns: the value of the variable after it.

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
    """What `target` is when `value` has been put at `key`."""
    if isinstance(target, Tensor):
        return setitem(target, key, value)
    if isinstance(target, TensorArray):
        return target.write(_position(key), value)
    target[key] = value  # of the others, each class knows best, and says so when it cannot
    return target


def _position(key: Any) -> Any:
    if isinstance(key, (slice, tuple)):
        raise TypeError("a TensorArray is assigned one element at a time: its index must be a scalar integer")
    return key
