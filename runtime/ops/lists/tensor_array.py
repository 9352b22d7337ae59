"""Operations of TensorArray: a persistent list of tensors as one value of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import FRESH_LIST, FRESH_RESULT, KEEPS_LENGTH, PYTHON_INDEX, READS_LIST, SIZE_QUERY
from ...ir.value_types import ListType, TensorType
from ...kernels.joins import stacked
from ...kernels.persistent_array import Growing, PersistentArray
from ..framework.attribute_parsers import Dims, DType
from ..framework.op import Array, Input, Name, op


@op(traits=FRESH_LIST)
def array_new(size: Input, dtype: DType, element_shape: Dims, dynamic: bool, name: Name = None) -> ListType:
    """Create a TensorArray of `size` unwritten elements; it grows if it is `dynamic`."""
    return ListType(TensorType(dtype, element_shape))


@array_new.kernel
def _(size: Any, dtype: Any, element_shape: Any, dynamic: bool) -> PersistentArray:
    return Growing([None] * int(size)) if dynamic else PersistentArray([None] * int(size))


def _merged(array: Any, shape: shapes.Dims) -> ListType:
    element = array.spec.element
    try:
        return ListType(element.with_shape(shapes.merge(element.shape, shape)))
    except ValueError:
        raise ValueError(
            f"TensorArray: could not write a value of shape {shapes.show(shape)}, because the shape of the other "
            f"elements is {shapes.show(element.shape)}"
        ) from None


def _write_in_place(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def write(array: Any, index: Any, value: Any, infer_shape: bool) -> Any:
        items = array.items()
        if 0 <= index < len(items):
            items[index] = value
            return array
        return kernel(array, index, value, infer_shape=infer_shape)

    return write


@op(traits=KEEPS_LENGTH | PYTHON_INDEX, in_place=_write_in_place)
def array_write(
    array: Array, index: Input, value: Input, infer_shape: bool = True, name: Name = None
) -> ListType:
    """Write `value` at `index`; with `infer_shape`, all elements must have its shape."""
    _check_index(index)
    if value.dtype is not array.spec.element.dtype:
        raise TypeError(
            f"TensorArray dtype is {array.spec.element.dtype.name} but Op is trying to write dtype {value.dtype.name}"
        )
    merged = _merged(array, value.shape)
    return merged if infer_shape else ListType(array.spec.element)


def _check_index(index: TensorType) -> None:
    if not (index.dtype.is_integer or index.dtype.is_bool):
        raise TypeError(f"the index of a TensorArray must be an integer, not {index.dtype.name}")


@array_write.kernel
def _written(array: PersistentArray, index: Any, value: Any, infer_shape: bool = True) -> PersistentArray:
    at, size = int(index), len(array.items())
    if at < 0 or (at >= size and type(array) is not Growing):
        raise errors.InvalidArgumentError(
            f"Tried to write to index {at} but array is not resizeable and size is: {size}"
        )
    return array.written(at, value)


def _filled(items: list[Any], dtype: Any, element_shape: shapes.Dims) -> list[Any]:
    """Return the elements, with zeros for those that were never written."""
    if type(None) not in map(type, items):
        return items
    like = next((item for item in items if item is not None), None)
    shape: Any = np.shape(like) if like is not None else element_shape
    if shape is None or None in shape:
        raise errors.InvalidArgumentError(
            "Tried to read elements that were never written from a TensorArray whose element shape is not known: "
            "pass `element_shape`; or was a result of `write` dropped, which is the array with the element?"
        )
    zero = np.full(shape, b"" if dtype is dtypes.string else 0, dtype.numpy_dtype)
    return [zero if item is None else item for item in items]


def _no_rows(dtype: Any, shape: shapes.Dims) -> Any:
    """Return a tensor of no rows; `shape` is that of each row and must be fully known."""
    if shape is None or None in shape:
        raise errors.InvalidArgumentError(
            f"Tried to join no elements of a TensorArray or list whose element shape {shapes.show(shape)} is not fully "
            "known: pass `element_shape`"
        )
    return np.zeros((0, *shape), dtype.numpy_dtype)


@op(traits=READS_LIST | PYTHON_INDEX)
def array_read(
    array: Array, index: Input, dtype: DType, element_shape: Dims, name: Name = None
) -> TensorType:
    """Return the element at `index`."""
    _check_index(index)
    element: TensorType = array.spec.element
    return element


@array_read.kernel
def _(array: PersistentArray, index: Any, dtype: Any, element_shape: Any) -> Any:
    items = array.items()
    at = int(index)
    if not 0 <= at < len(items):
        raise errors.InvalidArgumentError(f"Tried to read from index {at} but array size is: {len(items)}")
    return items[at] if items[at] is not None else _filled(items, dtype, element_shape)[at]


@op(traits=READS_LIST | SIZE_QUERY)
def array_size(array: Array, name: Name = None) -> TensorType:
    """Return the number of elements, as int32.

    >>> int(array_size(array_new(3, dtypes.int32, (), False)))
    3
    """
    return TensorType(dtypes.int32, ())


array_size.kernel(lambda array: np.int32(len(array.items())))


@op(traits=FRESH_RESULT | READS_LIST)
def array_stack(
    array: Array, dtype: DType, element_shape: Dims, size: int | None = None, name: Name = None
) -> TensorType:
    """Stack all elements along a new first axis; `size` is their number, if known."""
    shape = array.spec.element.shape
    return TensorType(dtype, None if shape is None else (size, *shape))


@array_stack.kernel
def _(array: PersistentArray, dtype: Any, element_shape: Any, size: Any) -> Any:
    items = array.items()
    if not items:
        return _no_rows(dtype, element_shape)
    return _joined(_as_rows, _filled(items, dtype, element_shape))


@op(traits=FRESH_RESULT | READS_LIST)
def array_concat(
    array: Array, dtype: DType, element_shape: Dims, size: int | None = None, name: Name = None
) -> TensorType:
    """Concatenate all elements along their first axis; `size` is their number, if known."""
    shape = array.spec.element.shape
    if not shape:
        return TensorType(dtype, None if shape is None else (None,))
    length = None if size is None or shape[0] is None else size * shape[0]
    return TensorType(dtype, (length, *shape[1:]))


@array_concat.kernel
def _(array: PersistentArray, dtype: Any, element_shape: Any, size: Any) -> Any:
    items = array.items()
    if not items:
        return _no_rows(dtype, element_shape and element_shape[1:])
    return _joined(np.concatenate, _filled(items, dtype, element_shape))


def _as_rows(items: list[Any]) -> Any:
    """Stack the elements; a string element may be an array of rank 0 or bytes."""
    first = items[0]
    if isinstance(first, (np.ndarray, np.generic)):
        return stacked(items, 0)
    return np.stack([np.asarray(item, object) for item in items])


def _joined(join: Any, items: list[Any]) -> Any:
    try:
        return join(items)
    except ValueError:
        found = sorted({np.shape(item) for item in items})
        raise errors.InvalidArgumentError(f"TensorArray has elements of different shapes: {found}") from None


@op(traits=FRESH_RESULT | READS_LIST)
def array_gather(
    array: Array, indices: Input, dtype: DType, element_shape: Dims, name: Name = None
) -> TensorType:
    """Stack the elements at the given indices along a new first axis."""
    shape = array.spec.element.shape
    count = None if indices.shape is None else indices.shape[0]
    return TensorType(dtype, None if shape is None else (count, *shape))


@array_gather.kernel
def _(array: PersistentArray, indices: Any, dtype: Any, element_shape: Any) -> Any:
    if not len(indices):
        return _no_rows(dtype, element_shape)
    items = _filled(array.items(), dtype, element_shape)
    for position, at in enumerate(indices):
        if not 0 <= at < len(items):
            raise errors.InvalidArgumentError(f"indices[{position}] = {at} is not in [0, {len(items)})")
    return _joined(_as_rows, [items[at] for at in indices])


@op(traits=FRESH_LIST | KEEPS_LENGTH)
def array_unstack(array: Array, value: Input, name: Name = None) -> ListType:
    """Return the TensorArray whose elements are the rows of `value`."""
    if value.shape is not None and not value.shape:
        raise ValueError("TensorArray.unstack needs a tensor with at least one axis")
    return _merged(array, None if value.shape is None else value.shape[1:])


@array_unstack.kernel
def _(array: PersistentArray, value: Any) -> PersistentArray:
    size = len(array.items())
    if len(value) > size and type(array) is not Growing:
        raise errors.InvalidArgumentError(
            f"Tried to unstack {len(value)} elements but array is not resizeable and size is: {size}"
        )
    rest = array.items()[len(value) :]
    return type(array)([*value, *rest])


@op(traits=FRESH_LIST | KEEPS_LENGTH)
def array_scatter(array: Array, indices: Input, value: Input, name: Name = None) -> ListType:
    """Write the rows of `value` at `indices`.

    >>> xs = array_scatter(array_new(3, dtypes.int32, (), False), [2, 0], [7, 8])
    >>> array_stack(xs, dtypes.int32, ()).numpy().tolist()
    [8, 0, 7]
    """
    if value.shape is not None and not value.shape:
        raise ValueError("TensorArray.scatter needs a tensor with at least one axis")
    if indices.shape is not None and len(indices.shape) != 1:
        raise ValueError(f"the indices of TensorArray.scatter must be a vector, not {indices.spec}")
    if not indices.dtype.is_integer:
        raise TypeError(f"the indices of TensorArray.scatter must be integers, not {indices.dtype.name}")
    return _merged(array, None if value.shape is None else value.shape[1:])


@array_scatter.kernel
def _(array: PersistentArray, indices: Any, value: Any) -> PersistentArray:
    if len(indices) != len(value):
        raise errors.InvalidArgumentError(
            f"Tried to scatter {len(value)} elements to {len(indices)} indices: there must be as many"
        )
    items: PersistentArray = type(array)([*array.items()])
    for index, row in zip(indices, value, strict=True):
        items = _written(items, index, row)
    return items


@op
def array_split(array: Array, value: Input, lengths: Input, name: Name = None) -> ListType:
    """Split `value` into parts of the given lengths along its first axis, as the elements of the TensorArray."""
    if value.shape is not None and not value.shape:
        raise ValueError("TensorArray.split needs a tensor with at least one axis")
    if not lengths.dtype.is_integer:
        raise TypeError(f"the lengths of parts must be integers, not {lengths.dtype.name}")
    _merged(array, None if value.shape is None else (None, *value.shape[1:]))
    return ListType(array.spec.element)


@array_split.kernel
def _(array: PersistentArray, value: Any, lengths: Any) -> PersistentArray:
    ends = np.cumsum(lengths)
    used, size = int(ends[-1]) if len(ends) else 0, len(array.items())
    if used != len(value):
        raise errors.InvalidArgumentError(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{used} and value's shape is: {list(np.shape(value))}"
        )
    if len(ends) != size and type(array) is not Growing:
        raise errors.InvalidArgumentError(
            f"TensorArray's size is not equal to the size of lengths ({size} vs. {len(ends)}), and the TensorArray is "
            "not marked as dynamically resizeable."
        )
    return type(array)([value[end - length : end] for end, length in zip(ends, lengths, strict=True)])
