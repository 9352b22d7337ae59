"""Sort and search: sort, argsort, top_k, searchsorted.

Sorting is stable: equal elements keep their order, in descending order too. NumPy sorts integers of 64 bits by vector
instructions, several times as fast as it finds a stable order. So the elements and their positions, of 32 bits each,
are sorted as one integer:

    [7.0, 3.0, 7.0]  ──►  [7.0|0, 3.0|1, 7.0|2]  ──sort──►  [3.0|1, 7.0|0, 7.0|2]  ──►  [1, 0, 2]
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.graph import Constant
from ...ir.value_types import TensorType
from ...kernels.orders import FEW, places_in_rows, stable_order, take_along_last
from ..framework.attribute_parsers import READERS, Axis, DType
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.static_values import integer
from .gather_ops import put_along, take_along
from .shape_ops import shape as shape_of

Array = Any
Direction = str


def read_direction(value: Any) -> str:
    """Read the attribute `direction`: "ASCENDING" or "DESCENDING"."""
    if value not in ("ASCENDING", "DESCENDING"):
        allowed = "one of ASCENDING, DESCENDING"
        raise ValueError(f"Argument `direction` should be {allowed}. Received: direction={value}")
    return str(value)


READERS["Direction"] = read_direction


@export("sort")
@op
def sort(values: Input, axis: Axis = -1, direction: Direction = "ASCENDING", name: Name = None) -> TensorType:
    """Sort `values` along `axis`; the direction is "ASCENDING" or "DESCENDING".

    >>> sort([3, 1, 2], direction="DESCENDING")
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 2, 1], dtype=int32)>
    """
    return TensorType(values.dtype, _sortable(values, axis))


@sort.kernel
def _(values: Array, axis: int, direction: str) -> Array:
    is_descending = direction == "DESCENDING"
    if values.dtype.kind in "iub":  # equal integers look the same: any algorithm is stable
        ordered = np.sort(values, axis)
        return np.flip(ordered, axis) if is_descending else ordered
    if values.dtype.kind == "f" and (values.size <= FEW or values.dtype.itemsize > 4):
        if is_descending:
            return np.flip(np.sort(np.flip(values, axis), axis, "stable"), axis)
        return np.sort(values, axis, "stable")
    return np.take_along_axis(values, stable_order(values, axis, is_descending), axis)


@sort.gradient
def _(dy: Any, y: Any, values: Any, axis: int, direction: str) -> Any:
    return take_along(dy, argsort(argsort(values, axis, direction), axis), axis)


@export("argsort")
@op
def argsort(
    values: Input,
    axis: Axis = -1,
    direction: Direction = "ASCENDING",
    stable: bool = False,
    name: Name = None,
) -> TensorType:
    """Return the indices that sort `values` along `axis`. The order is always stable.

    >>> argsort([3, 1, 2])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 0], dtype=int32)>
    """
    return TensorType(dtypes.int32, _sortable(values, axis))


@argsort.kernel
def _(values: Array, axis: int, direction: str, stable: bool) -> Array:
    return stable_order(values, axis, direction == "DESCENDING").astype(np.int32)


def _sortable(values: Any, axis: int) -> shapes.Dims:
    if values.shape is not None:
        shapes.normal_axis(axis, len(values.shape))
    return values.shape  # type: ignore[no-any-return]


class TopKV2(NamedTuple):
    """The result of `top_k`."""

    values: Tensor
    indices: Tensor


@export("math.top_k", "nn.top_k")
def top_k(
    input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None
) -> TopKV2:
    """Return the `k` largest elements along the last axis, the largest first, and their indices.

    They are sorted even if `sorted` is False.

    >>> top_k([1, 5, 3], k=2).indices
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    return TopKV2(*largest(input, k, index_type, name))


@op(name="top_k")
def largest(
    input: Input, k: Ints, index_type: DType = dtypes.int32, name: Name = None
) -> tuple[TensorType, TensorType]:
    """Return the `k` largest elements along the last axis, and their indices.

    >>> largest([1, 5, 3], 1)[0]
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([5], dtype=int32)>
    """
    count = integer(k)
    if input.shape is None:
        return TensorType(input.dtype, None), TensorType(index_type, None)
    if not input.shape:
        raise ValueError(f"input must be >= 1-D, got shape {shapes.show(input.shape)}")
    if count is not None:
        _check_columns(count, input.shape[-1])
    shape = (*input.shape[:-1], count)
    return TensorType(input.dtype, shape), TensorType(index_type, shape)


def _check_columns(count: int, columns: int | None) -> None:
    if count < 0:
        raise ValueError(f"Need k >= 0, got {count}")
    if columns is not None and columns < count:
        raise ValueError(f"input must have at least k columns. Had {columns}, needed {count}")


@largest.kernel
def _(input: Array, k: Array, index_type: dtypes.DType) -> tuple[Array, Array]:
    count = int(k)
    _check_columns(count, input.shape[-1])
    indices = stable_order(input, -1, is_descending=True, count=count)
    return take_along_last(input, indices), indices.astype(index_type.numpy_dtype)


@largest.specialize
def _(inputs: list[Any], index_type: dtypes.DType) -> Any:
    """Return the kernel for few elements in one shape, which `stable_order` leaves to NumPy."""
    x, k = inputs
    if type(k) is not Constant or not shapes.is_static(x.shape) or not 0 < math.prod(x.shape) <= FEW:
        return None
    count, last, kind = int(k.value), x.shape[-1] - 1, index_type.numpy_dtype
    if count == 0:
        return None
    rows = np.arange(0, math.prod(x.shape), x.shape[-1]).reshape(*x.shape[:-1], 1)

    def kernel(x: Array, k: Array) -> tuple[Array, Array]:
        indices = last - x[..., ::-1].argsort(-1, "stable")[..., : -count - 1 : -1]
        return x.reshape(-1).take(indices + rows), indices.astype(kind)

    return kernel


largest.gradient(lambda dy, y, input, k, index_type: (put_along(dy[0], y[1], shape_of(input), -1), None))


@export("searchsorted")
@op
def searchsorted(
    sorted_sequence: Same, values: Same, side: str = "left", out_type: DType = dtypes.int32, name: Name = None
) -> TensorType:
    """Return the insertion index of each value in the sorted last axis: before ("left") or after ("right") equal ones.

    The axes of `values` before the last are those of `sorted_sequence`, unless this is a vector.

    >>> searchsorted([1, 3, 5], [0, 3, 9])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 3], dtype=int32)>
    """
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    if sorted_sequence.shape == () or (
        None not in (sorted_sequence.shape, values.shape) and len(values.shape) < len(sorted_sequence.shape)
    ):
        raise ValueError(
            f"searchsorted: values of shape {values.shape} do not fit sequences of shape {sorted_sequence.shape}"
        )
    _check_rows(sorted_sequence.shape, values.shape)
    return TensorType(out_type, values.shape)


def _check_rows(sequences: shapes.Dims, values: shapes.Dims) -> None:
    """Raise ValueError if there are not as many rows of values as sequences, and several of these."""
    if sequences is None or values is None or len(sequences) == 1:
        return
    one, other = shapes.num_elements(sequences[:-1]), shapes.num_elements(values[:-1])
    if None not in (one, other) and one != other:
        raise ValueError(
            f"Leading dim_size of both tensors must match: {one} sequences, {other} rows of values"
        )


@searchsorted.kernel
def _(sorted_sequence: Array, values: Array, side: Any, out_type: dtypes.DType) -> Array:
    if sorted_sequence.ndim == 1:
        return (
            _places(sorted_sequence, values.reshape(-1), side)
            .astype(out_type.numpy_dtype)
            .reshape(values.shape)
        )
    _check_rows(sorted_sequence.shape, values.shape)
    rows, wanted = (x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) for x in (sorted_sequence, values))
    return places_in_rows(rows, wanted, side).astype(out_type.numpy_dtype).reshape(values.shape)


def _places(row: Array, values: Array, side: Any) -> Array:
    """Return the insertion indices of a vector. NumPy finds those of many values sooner if they are sorted."""
    if len(values) < _MANY or values.dtype.itemsize > 4:
        return np.searchsorted(row, values, side)
    order, places = stable_order(values), np.empty(len(values), np.int64)
    places[order] = np.searchsorted(row, values[order], side)
    return places


_MANY = 1 << 12
