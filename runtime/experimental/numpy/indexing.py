"""`x[key]` with NumPy's advanced keys: sequences, arrays and tensors of indices or booleans, next to slices.

x[:, [0, 2]]          ==>    gather(x, [0, 2], axis=1)
x[[0, 1], :, [1, 2]]  ==>    gather_nd(transpose(x), stack([[0, 1], [1, 2]], -1))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.tensor import Tensor
from ...interop.numpy_dispatch.joining import broadcast_arrays
from ...interop.numpy_dispatch.manipulation import moveaxis
from ...ops.arrays import concat_split, gather_ops, shape_ops, where_ops
from ...ops.arrays.getitem import getitem as plain_item
from ...ops.math.cast import cast

_SEQUENCES = (list, tuple, range)


def getitem(x: Any, key: Any) -> Any:
    """Return `x[key]` as in NumPy; single integers are selected before the arrays, as in TensorFlow.

    >>> getitem([[1, 2, 3], [4, 5, 6]], ([0, 1], [0, 2])).numpy().tolist()
    [1, 6]
    """
    items = list(key) if isinstance(key, tuple) else [key]
    if not any(map(_is_array, items)):
        return plain_item(x, key)
    tensor = convert_to_tensor(x)
    items = _whole([each for item in items for each in _without_masks(item)], tensor)
    found = plain_item(tensor, tuple(slice(None) if _is_array(item) else item for item in items))
    kept = [item for item in items if _is_array(item) or item is None or isinstance(item, slice)]
    axes = [axis for axis, item in enumerate(kept) if _is_array(item)]
    return _gathered(found, [kept[axis] for axis in axes], axes)


def _is_array(item: Any) -> bool:
    """Return whether an item of a key is an array of indices or booleans, not a single integer."""
    if is_tensor_like(item):
        return bool(item.shape.rank != 0 or item.dtype.is_bool)
    return isinstance(item, (*_SEQUENCES, np.ndarray))


def _without_masks(item: Any) -> list[Any]:
    """Return the indices of the true elements, one array for each axis, in place of a mask."""
    if not _is_array(item):
        return [item]
    tensor = convert_to_tensor(np.zeros(0, np.int32) if isinstance(item, _SEQUENCES) and not item else item)
    if not tensor.dtype.is_bool:
        return [tensor]
    if not tensor.shape.rank:
        raise ValueError("mask cannot be scalar.")
    places = where_ops.where(tensor)
    return [places[:, axis] for axis in range(tensor.shape.rank)]


def _whole(items: list[Any], x: Tensor) -> list[Any]:
    """Return the items with slices in place of `...` and of omitted axes."""
    if x.shape.rank is None:
        raise ValueError("an index with arrays needs a tensor of known rank: set it with tf.ensure_shape")
    used = sum(item is not None and item is not Ellipsis for item in items)
    gap = next((index for index, item in enumerate(items) if item is Ellipsis), len(items))
    return [*items[:gap], *[slice(None)] * (x.shape.rank - used), *items[gap + 1 :]]


def _gathered(x: Tensor, arrays: list[Tensor], axes: list[int]) -> Any:
    """Index some axes by arrays. The arrays' own axes come first if the indexed axes are not adjacent."""
    sizes = shape_ops.shape(x, dtypes.int64)
    found = [cast(array, dtypes.int64) for array in arrays]
    found = [
        where_ops.where(each < 0, each + sizes[axis], each) for each, axis in zip(found, axes, strict=True)
    ]
    if len(axes) == 1:
        return gather_ops.gather(x, found[0], axis=axes[0])
    places = concat_split.stack(broadcast_arrays(*found), -1)
    result = gather_ops.gather_nd(moveaxis(x, axes, list(range(len(axes)))), places)
    if axes[-1] - axes[0] + 1 != len(axes):
        return result
    own = range((places.shape.rank or 1) - 1)
    return moveaxis(result, list(own), [axes[0] + axis for axis in own])
