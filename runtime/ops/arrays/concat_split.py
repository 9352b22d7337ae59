"""Concatenate, stack, unstack and split tensors.

Importing this module also registers the conversion of lists and tuples that contain tensors: they are
stacked.

>>> one = convert_to_tensor(1)
>>> convert_to_tensor([one, 2])
<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes, nest
from ...core import shapes
from ...core.conversion import (
    convert_to_tensor,
    holds_tensor,
    integers_to_tensor,
    is_tensor_like,
    register_conversion,
    to_array,
)
from ...core.export import export
from ...core.tensor import EagerTensor
from ...ir import batching
from ...ir.builder import current, eagerly
from ...ir.traits import CHEAP, FRESH_RESULT, TOTAL
from ...ir.value_types import TensorType
from ...kernels.joins import concatenated, joining, stacked, stacking
from ..framework.attribute_parsers import Axis, Results
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Inputs, Ints, Name, op
from ..framework.static_values import as_tuple, integers, known_elements, listed, with_axis
from ..math.cast import cast
from .creation import zeros_like
from .shape_ops import shape as shape_of

Array = Any


@export("concat")
@cached_dispatch
def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """Concatenate tensors along an existing axis.

    >>> concat([[1, 2], [3]], axis=0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    if hasattr(type(values), "concatenated"):  # a list of traced length, see tensor_list.py
        return values.concatenated(axis)
    return join(values, axis, name=name)


@op(name="concat", traits=TOTAL | CHEAP, batch=batching.joined_along_axis)
def join(values: Inputs, axis: Axis, name: Name = None) -> TensorType:
    """Concatenate tensors along an existing axis.

    >>> join([[1, 2], [3]], axis=0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    if not values:
        raise ValueError("ConcatOp : Expected at least one tensor in `values`")
    known = [value.shape for value in values if value.shape is not None]
    if not known:
        return TensorType(values[0].dtype, None)
    rank = len(known[0])
    dim = _concat_axis(known, axis, rank)
    result: shapes.Dims = None
    for i, shape in enumerate(known):
        for other in range(rank):
            if other != dim and not shapes.compatible((known[0][other],), (shape[other],)):
                raise ValueError(
                    f"ConcatOp : Dimension {other} in both shapes must be equal: "
                    f"shape[0] = {listed(known[0])} vs. shape[{i}] = {listed(shape)}"
                )
        result = shapes.merge(result, with_axis(shape, dim, None))
    sizes = [value.shape and value.shape[dim] for value in values]
    assert result is not None
    return TensorType(values[0].dtype, with_axis(result, dim, None if None in sizes else sum(sizes)))


def _concat_axis(known: Sequence[Any], axis: int, rank: int) -> int:
    if rank == 0:
        raise ValueError("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    for i, shape in enumerate(known):
        if len(shape) != rank:
            raise ValueError(
                f"ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {listed(known[0])} vs. shape[{i}] = {listed(shape)}"
            )
    if not -rank <= axis < rank:
        raise ValueError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}"
        )
    return axis % rank


join.elements(lambda values, axis: _joined_elements(values))


def _joined_elements(values: list[Array]) -> shapes.Dims:
    parts = [known_elements(value) for value in values]
    if None in parts:
        return None
    return tuple(element for part in parts if part is not None for element in part)


join.kernel(lambda values, axis: concatenated(values, axis))
join.specialize(lambda values, axis: joining(axis))


@join.gradient
def _(dy: Any, y: Any, values: list[Any], axis: int) -> Any:
    if len(values) == 1:
        return [dy]
    sizes = pack([shape_of(value)[axis] for value in values])
    return split_sizes(dy, sizes, len(values), axis)


@export("stack")
@cached_dispatch
@dispatching_composites("stack")
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Stack tensors of one shape along a new axis.

    >>> stack([[1, 2], [3, 4]], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 3],
           [2, 4]], dtype=int32)>
    """
    if isinstance(values, (list, tuple)) and holds_tensor(values):
        rank = next((len(value.shape) for value in values if is_tensor_like(value) and value.shape), None)
        if rank is not None:
            _axis(axis, rank + 1)
        return pack(values, axis, name)
    whole = convert_to_tensor(values)
    if axis == 0:
        return whole
    return pack(unstack(whole), axis, name)


@op(name="stack", traits=TOTAL | FRESH_RESULT, batch=batching.joined_along_axis)
def pack(values: Inputs, axis: Axis = 0, name: Name = None) -> TensorType:
    """Stack tensors of one shape along a new axis.

    >>> pack([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    if not values:
        raise ValueError("stack needs at least one tensor in `values`")
    shape: shapes.Dims = None
    for i, value in enumerate(values):
        if not shapes.compatible(shape, value.shape):
            raise ValueError(
                f"Shapes of all inputs must match: values[0].shape = {listed(values[0].shape)} != "
                f"values[{i}].shape = {listed(value.shape)}"
            )
        shape = shapes.merge(shape, value.shape)
    if shape is None:
        return TensorType(values[0].dtype, None)
    dim = _axis(axis, len(shape) + 1)
    return TensorType(values[0].dtype, (*shape[:dim], len(values), *shape[dim:]))


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return axis % rank


@pack.elements
def _(values: list[Array], axis: int) -> shapes.Dims:
    is_row_major = all(value.shape == () for value in values) or axis == 0
    return _joined_elements(values) if is_row_major else None


pack.kernel(lambda values, axis: stacked(values, axis))
pack.specialize(lambda values, axis: stacking(axis))


@pack.gradient
def _(dy: Any, y: Any, values: list[Any], axis: int) -> Any:
    return unpack(dy, len(values), axis)


def stack_nest(values: Any, dtype: dtypes.DType | None) -> Any:
    """Convert a list that contains tensors to `dtype`; without it, all must have the dtype of the first.

    >>> stack_nest([convert_to_tensor(1), 2], dtypes.float32).numpy().tolist()
    [1.0, 2.0]
    """
    if not holds_tensor(values):
        return EagerTensor(to_array(list(values), dtype))
    casts = dtype is not None
    if dtype is None:
        dtype = next(leaf.dtype for leaf in nest.flatten(values) if is_tensor_like(leaf))
    if current() is None:
        return _packed(values, dtype, casts)
    if dtype.is_integer and all(isinstance(leaf, (int, EagerTensor)) for leaf in nest.flatten(values)):
        with eagerly():  # shapes stay static; no gradient depends on integers
            return _packed(values, dtype, casts)
    return _packed(values, dtype, casts)


def _packed(values: Any, dtype: dtypes.DType, casts: bool) -> Any:
    return pack([_element(value, dtype, casts) for value in values])


def _element(value: Any, dtype: dtypes.DType, casts: bool) -> Any:
    """Return an element of a list as a tensor; a cast that drops a fraction or an imaginary part is refused."""
    if type(value) is EagerTensor or is_tensor_like(value):
        own = value.dtype
        if not casts or own is dtype:
            return value
        drops = (own.kind in "fc" and dtype.kind not in "fc") or own.is_complex > dtype.is_complex
        if drops or dtypes.string in (own, dtype):
            return convert_to_tensor(convert_to_tensor(value), dtype)  # raises ValueError
        return cast(value, dtype)
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return _packed(value, dtype, casts)
    return convert_to_tensor(value, dtype)


register_conversion(list, stack_nest)


@export("unstack")
@cached_dispatch
def unstack(value: Any, num: int | None = None, axis: int = 0, name: str | None = None) -> Any:
    """Return the slices of `value` along `axis`; their number must be static, from the shape or from `num`.

    >>> first, second = unstack([[1, 2], [3, 4]])
    >>> second
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 4], dtype=int32)>
    """
    tensor = convert_to_tensor(value)
    shape = tensor.shape.sizes
    if num is None:
        known = None if shape is None else shape[_axis(axis, len(shape))]
        if known is None:
            raise ValueError(f"Cannot infer argument `num` from shape {shapes.show(shape)}")
        num = known
    return unpack(tensor, num, axis, name)


@op(name="unstack", batch=batching.along_axis)
def unpack(value: Input, num: Results, axis: Axis = 0, name: Name = None) -> tuple[TensorType, ...]:
    """Return the `num` slices of `value` along `axis`.

    >>> unpack([1, 2], 2)[0]
    <tf.Tensor: shape=(), dtype=int32, numpy=1>
    """
    if value.shape is None:
        return (TensorType(value.dtype, None),) * num
    dim = _axis(axis, len(value.shape))
    if value.shape[dim] not in (None, num):
        raise ValueError(f"Input shape axis {dim} must equal {num}, got shape {listed(value.shape)}")
    return (TensorType(value.dtype, (*value.shape[:dim], *value.shape[dim + 1 :])),) * num


@unpack.kernel
def _(value: Array, num: int, axis: int) -> list[Array]:
    rows = value if axis == 0 else np.moveaxis(value, axis, 0)
    if len(rows) != num:
        raise ValueError(f"Input shape axis {axis} must equal {num}, got shape {listed(value.shape)}")
    return [*rows] if rows.ndim > 1 else [rows[i, ...] for i in range(num)]


unpack.elements(lambda value, num, axis: known_elements(value))
unpack.gradient(lambda dy, y, value, num, axis: pack(_all(dy, y), axis))


def _all(dy: list[Any], y: list[Any]) -> list[Any]:
    """Return the cotangents of several results, with zeros for unused results."""
    return [zeros_like(part) if grad is None else grad for grad, part in zip(dy, y, strict=True)]


@export("split")
@cached_dispatch
@dispatching_composites("split")
def split(
    value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str | None = None
) -> Any:
    """Split `value` along `axis` into equal parts, or into parts of given sizes; one size may be -1: the rest.

    >>> left, right = split([1, 2, 3, 4, 5], [2, -1])
    >>> right
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 4, 5], dtype=int32)>
    """
    if isinstance(num_or_size_splits, (int, np.integer)):
        return split_evenly(value, num_or_size_splits, axis, name)
    sizes = integers_to_tensor(num_or_size_splits)
    if sizes.shape.rank == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split.")
    count = sizes.shape[:1].num_elements() if num is None else num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {sizes.shape}")
    return split_sizes(value, sizes, count, axis, name)


@op(name="split", batch=batching.along_axis)
def split_evenly(value: Input, num: Results, axis: Axis = 0, name: Name = None) -> tuple[TensorType, ...]:
    """Split `value` along `axis` into `num` equal parts.

    >>> split_evenly([1, 2, 3, 4], 2)[1]
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 4], dtype=int32)>
    """
    if value.shape is None:
        return (TensorType(value.dtype, None),) * num
    dim = shapes.normal_axis(axis, len(value.shape))
    size = value.shape[dim]
    if size is not None:
        _check_even(size, num, dim)
    return (
        TensorType(value.dtype, with_axis(value.shape, dim, None if size is None else size // num)),
    ) * num


def _check_even(size: int, num: int, axis: int) -> None:
    if size % num:
        raise ValueError(
            f"Number of ways to split should evenly divide the split dimension, "
            f"but got split_dim {axis} (size = {size}) and num_split {num}"
        )


@split_evenly.kernel
def _(value: Array, num: int, axis: int) -> list[Array]:
    size = value.shape[axis]
    _check_even(size, num, axis)
    return _cut(value, [size // num] * num, axis)


def _cut(value: Array, sizes: Sequence[int], axis: int) -> list[Array]:
    """Return parts of these sizes, in a quarter of the time of `np.split`."""
    before = (slice(None),) * (axis % value.ndim)
    ends = itertools.accumulate(sizes)
    return [value[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)]


split_evenly.elements(lambda value, num, axis: known_elements(value))
split_evenly.gradient(lambda dy, y, value, num, axis: join(_all(dy, y), axis))


@op
def split_sizes(
    value: Input, size_splits: Ints, num: Results, axis: Axis = 0, name: Name = None
) -> tuple[TensorType, ...]:
    """Split `value` along `axis` into `num` parts of these sizes.

    >>> split_sizes([1, 2, 3, 4], [1, 3], 2)[1]
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([2, 3, 4], dtype=int32)>
    """
    sizes = integers(size_splits)
    if sizes is None:
        sizes = (None,) * num
    _check_parts(sizes, num)
    if value.shape is None:
        return (TensorType(value.dtype, None),) * num
    dim = shapes.normal_axis(axis, len(value.shape))
    if None not in sizes and value.shape[dim] is not None:
        sizes = _part_sizes(sizes, value.shape[dim])  # type: ignore[arg-type]
    return tuple(
        TensorType(value.dtype, with_axis(value.shape, dim, None if size == -1 else size)) for size in sizes
    )


def _check_parts(sizes: Sequence[int | None], num: int) -> None:
    if len(sizes) != num:
        raise ValueError(f"size_splits must have {num} elements, one for each part, but it has {len(sizes)}")
    if sizes.count(-1) > 1:
        raise ValueError(f"size_splits may have one -1, for the rest, but it is {list(sizes)}")


def _part_sizes(sizes: tuple[int, ...], total: int) -> tuple[int, ...]:
    """Return the sizes with -1 replaced by the remaining size."""
    if min(sizes, default=0) < -1:
        raise ValueError(f"size_splits must be at least 0, or -1 for what is left, not {list(sizes)}")
    rest = total - sum(size for size in sizes if size != -1)
    if rest < 0 or (rest and -1 not in sizes):
        raise ValueError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, "
            "or be less than the size of the input along split_dim if not fully specified.  "
            f"Got: {total - rest}"
        )
    return tuple(rest if size == -1 else size for size in sizes)


@split_sizes.kernel
def _(value: Array, size_splits: Array, num: int, axis: int) -> list[Array]:
    asked = as_tuple(size_splits)
    _check_parts(asked, num)
    sizes = _part_sizes(asked, value.shape[axis])
    return _cut(value, sizes, axis)


split_sizes.gradient(lambda dy, y, value, size_splits, num, axis: (join(_all(dy, y), axis), None))
