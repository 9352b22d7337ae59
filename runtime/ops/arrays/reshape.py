"""Change the shape: reshape, expand_dims, squeeze, transpose, broadcast_to, ensure_shape.

x: float32[2, ?]     reshape x, [-1]         : float32[?]
                     expand_dims x, axis=0   : float32[1, 2, ?]
                     transpose x, [1, 0]     : float32[?, 2]
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...ir import batching
from ...ir.batching import Batch
from ...ir.graph import Constant
from ...ir.traits import CHEAP, TOTAL
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axes, Dims, NewAxis
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import as_tuple, checked_dims, dims, integers, known_elements, listed
from ..reduce.short_axis_kernels import sum_of
from .ranges import range as number_range
from .shape_ops import rank
from .shape_ops import shape as shape_of

Array = Any


@export("reshape")
@op(traits=TOTAL | CHEAP)
def reshape(tensor: Input, shape: Ints, name: Name = None) -> TensorType:
    """Reshape `tensor`, with its elements in row-major order; one dimension may be -1: the remaining size.

    >>> reshape([1, 2, 3, 4], [2, -1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    """
    wanted = integers(shape)
    if wanted is None:
        return TensorType(tensor.dtype, None)
    _check_sizes(wanted)
    return TensorType(tensor.dtype, _fitted(tensor.shape, wanted))


def _check_sizes(wanted: Sequence[int | None]) -> None:
    holes = [i for i, size in enumerate(wanted) if size == -1]
    if len(holes) > 1:
        raise ValueError(f"Only one input size may be -1, not both {holes[0]} and {holes[1]}")
    for i, size in enumerate(wanted):
        if size is not None and size < -1:
            raise ValueError(f"Size {i} must be non-negative, not {size}")


def _fitted(old: shapes.Dims, wanted: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the new shape, with dimensions inferred from the number of elements."""
    new = [None if size == -1 else size for size in wanted]
    total, given = shapes.num_elements(old), math.prod(size for size in new if size is not None)
    if total is None:
        return tuple(new)
    holes = new.count(None)
    if total != given if not holes else total % given if given else total:
        need = "requires a multiple of" if holes else "has"
        raise ValueError(
            f"Input to reshape is a tensor with {total} values, but the requested shape {need} {given}"
        )
    if holes == 1:
        new[new.index(None)] = total // given if given else _remaining(old, new)
    return tuple(new)


def _remaining(old: shapes.Dims, new: Sequence[int | None]) -> int:
    """Return the size that is -1 in a shape with a size 0: zeros are left out of both products, as in TensorFlow."""
    elements, given = (math.prod(size for size in sizes if size) for sizes in (old or (), new))
    return elements // given


@reshape.kernel
def _(tensor: Array, shape: Array) -> Array:
    sizes = as_tuple(shape)
    if sizes and min(sizes) < -1:
        _check_sizes(sizes)
    try:
        return tensor.reshape(sizes)
    except ValueError:
        _check_sizes(sizes)
        return tensor.reshape(_fitted(tensor.shape, sizes))


@reshape.specialize
def _(inputs: list[Any]) -> Any:
    """Return the method of arrays for a constant shape."""
    tensor, shape = inputs
    if type(shape) is not Constant or not shapes.is_static(tensor.shape):
        return None
    sizes = _fitted(tensor.shape, as_tuple(shape.value))
    return lambda tensor, shape: tensor.reshape(sizes)


reshape.gradient(lambda dy, y, tensor, shape: (reshape(dy, shape_of(tensor)), None))


@reshape.batching
def _(batch: Batch) -> Any:
    tensor, shape = batch.arguments
    known = batch.result_shape
    if shape.has_rows:
        return None
    is_known = known is not None and None not in known
    return batch.call(tensor.tensor, batch.prepend(batch.count, known if is_known else shape.tensor))


@export("expand_dims")
@op(traits=TOTAL | CHEAP, batch=batching.along_axis)
def expand_dims(input: Input, axis: NewAxis, name: Name = None) -> TensorType:
    """Return `input` with a new axis of size 1.

    >>> expand_dims([1, 2], axis=0)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>
    """
    if input.shape is None:
        return TensorType(input.dtype, input.shape)
    rank = len(input.shape)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"Tried to expand dim index {axis} for tensor with {rank} dimensions.")
    dim = axis % (rank + 1)
    return TensorType(input.dtype, (*input.shape[:dim], 1, *input.shape[dim:]))


expand_dims.elements(lambda input, axis: known_elements(input))
expand_dims.kernel(lambda input, axis: np.expand_dims(input, axis))


@expand_dims.specialize
def _(specs: list[TensorType], axis: int) -> Any:
    dim = axis % (len(specs[0].shape or ()) + 1)
    return operator.itemgetter((*[slice(None)] * dim, None))


expand_dims.gradient(lambda dy, y, input, axis: reshape(dy, shape_of(input)))


@export("squeeze")
@op(traits=TOTAL | CHEAP)
def squeeze(input: Input, axis: Axes = None, name: Name = None) -> TensorType:
    """Return `input` without its axes of size 1, or without those in `axis`.

    >>> squeeze([[[1], [2]]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    shape = input.shape
    if shape is None or (not axis and None in shape):
        return TensorType(input.dtype, None)
    if not axis:
        return TensorType(input.dtype, tuple(size for size in shape if size != 1))
    assert not isinstance(axis, int)  # its reader returns tuples
    gone = {shapes.normal_axis(each, len(shape)) for each in axis}
    for dim in sorted(gone):
        if shape[dim] not in (1, None):
            raise ValueError(f"Can not squeeze dim[{dim}], expected a dimension of 1, got {shape[dim]}")
    return TensorType(input.dtype, tuple(size for i, size in enumerate(shape) if i not in gone))


squeeze.elements(lambda input, axis: known_elements(input))
squeeze.kernel(lambda input, axis: input.squeeze(axis or None))
squeeze.gradient(lambda dy, y, input, axis: reshape(dy, shape_of(input)))


@squeeze.batching
def _(batch: Batch) -> Any:
    tensor, axes = batch.arguments[0].tensor, batch.attrs["axis"]
    if axes is None:
        if not tensor.shape.is_fully_defined() and (tensor.shape.rank is None or None in tensor.shape[1:]):
            return None
        axes = [axis for axis, size in enumerate(tensor.shape[1:]) if size == 1]
    return batch.call(tensor, axis=tuple(map(batching.next_axis, axes))) if axes else tensor


@export("transpose")
@cached_dispatch
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Any:
    """Return `a` with its axes in the order of `perm`, by default in reverse order.

    >>> transpose([[1, 2, 3]])
    <tf.Tensor: shape=(3, 1), dtype=int32, numpy=
    array([[1],
           [2],
           [3]], dtype=int32)>
    """
    tensor = convert_to_tensor(a)
    if perm is None:
        count = tensor.shape.rank
        perm = number_range(rank(tensor) - 1, -1, -1) if count is None else list(reversed(range(count)))
    return permute_axes(tensor, perm, conjugate, name)


@op(name="transpose", traits=TOTAL | CHEAP)
def permute_axes(a: Input, perm: Ints, conjugate: bool = False, name: Name = None) -> TensorType:
    """Return `a` with its axes in the order of `perm`.

    >>> permute_axes([[1, 2, 3]], [1, 0]).shape
    TensorShape([3, 1])
    """
    order = integers(perm)
    if a.shape is None or order is None:
        return TensorType(a.dtype, None if order is None else (None,) * len(order))
    count = len(a.shape)
    if len(order) != count:
        raise ValueError(
            f"transpose expects a vector of size {count}. But input(1) is a vector of size {len(order)}"
        )
    if None in order:
        return TensorType(a.dtype, (None,) * count)
    order_ = [shapes.normal_axis(dim, count) for dim in order if dim is not None]
    missing = next((i for i in range(count) if i not in order_), None)
    if missing is not None:
        raise ValueError(f"{missing} is missing from {{{','.join(map(str, order))}}}.")
    return TensorType(a.dtype, tuple(a.shape[dim] for dim in order_))


@permute_axes.kernel
def _(a: Array, perm: Array, conjugate: bool) -> Array:
    turned = a.transpose(as_tuple(perm))
    return np.conj(turned) if conjugate and turned.dtype.kind == "c" else turned


@permute_axes.specialize
def _(inputs: list[Any], conjugate: bool) -> Any:
    """Return the method of arrays for a constant permutation."""
    if type(inputs[1]) is not Constant or conjugate:
        return None
    order = as_tuple(inputs[1].value)
    return lambda a, perm: a.transpose(order)


@permute_axes.gradient
def _(dy: Any, y: Any, a: Any, perm: Any, conjugate: bool) -> Any:
    return permute_axes(dy, inverse_permutation(perm), conjugate), None


@permute_axes.batching
def _(batch: Batch) -> Any:
    tensor, perm = batch.arguments
    return None if perm.has_rows else batch.call(tensor.tensor, batch.prepend(0, perm.tensor + 1))


@op
def inverse_permutation(perm: Ints, name: Name = None) -> TensorType:
    """Return the inverse of the permutation `perm`; negative numbers count from the end.

    >>> inverse_permutation([2, 0, 1])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 0], dtype=int32)>
    """
    if perm.shape is not None and len(perm.shape) != 1:
        raise ValueError(f"a permutation is a vector, not of shape {shapes.show(perm.shape)}")
    return TensorType(perm.dtype, perm.shape or (None,))


inverse_permutation.kernel(lambda perm: np.argsort(_from_start(perm)).astype(perm.dtype))


def _from_start(perm: Any) -> Array:
    return np.asarray(perm) % max(len(perm), 1)


@export("broadcast_to")
@op(traits=TOTAL | CHEAP)
def broadcast_to(input: Input, shape: Ints, name: Name = None) -> TensorType:
    """Broadcast `input` to this shape: repeat axes of size 1 and add leading axes.

    >>> broadcast_to([1, 2], [2, 2])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [1, 2]], dtype=int32)>
    """
    wanted = dims(shape)
    old = input.shape
    if wanted is not None and old is not None:
        if len(old) > len(wanted):
            raise ValueError(
                f"Rank of input ({len(old)}) must be no greater than rank of output shape ({len(wanted)})."
            )
        pairs = zip(old, wanted[len(wanted) - len(old) :], strict=True)
        if not all(size in (1, None, new) or new is None for size, new in pairs):
            raise ValueError(f"Incompatible shapes: {listed(old)} vs. {listed(wanted)}")
    return TensorType(input.dtype, wanted)


broadcast_to.kernel(lambda input, shape: np.broadcast_to(input, checked_dims(shape)))
broadcast_to.gradient(lambda dy, y, input, shape: (fitted(dy, input), None))


@broadcast_to.batching
def _(batch: Batch) -> Any:
    tensor, shape = batch.arguments
    sizes = batch.result_shape
    if shape.has_rows or tensor.rank is None or sizes is None:
        return None
    return batch.call(batch.aligned(tensor, len(sizes)), batch.prepend(batch.count, shape.tensor))


def fitted(dy: Any, x: Any) -> Any:
    """Return the cotangent of `x` from that of a tensor that `x` was broadcast to: sum over the broadcast axes."""
    dims = dy.shape.sizes
    if dims == x.shape.sizes and shapes.is_static(dims):
        return dy
    return sum_to(dy, shape_of(x))


@op
def sum_to(tensor: Input, shape: Ints, name: Name = None) -> TensorType:
    """Sum along the axes that a tensor of this shape is broadcast along: the transpose of `broadcast_to`.

    >>> sum_to([[1, 2], [3, 4]], [2, 1]).numpy().tolist(), sum_to([[1, 2], [3, 4]], []).numpy().tolist()
    ([[3], [7]], 10)
    """
    if tensor.dtype in (dtypes.string, dtypes.bool_):
        raise TypeError(f"sum_to adds numbers, not {tensor.dtype.name}")
    wanted = dims(shape)
    if wanted is not None and tensor.shape is not None:
        if len(wanted) > len(tensor.shape):
            raise ValueError(f"no tensor of shape {listed(wanted)} is broadcast to {listed(tensor.shape)}")
        pairs = zip(wanted, tensor.shape[len(tensor.shape) - len(wanted) :], strict=True)
        if not all(size in (1, None, whole) or whole is None for size, whole in pairs):
            raise ValueError(f"no tensor of shape {listed(wanted)} is broadcast to {listed(tensor.shape)}")
    return TensorType(tensor.dtype, wanted)


@sum_to.kernel
def _(tensor: Array, shape: Array) -> Array:
    wanted = checked_dims(shape)
    extra = np.ndim(tensor) - len(wanted)
    axes = tuple(
        i for i, size in enumerate(np.shape(tensor)) if i < extra or (wanted[i - extra] == 1 and size != 1)
    )
    return sum_of(tensor, axes, keepdims=False).reshape(wanted) if axes else tensor


sum_to.gradient(lambda dy, y, tensor, shape: (broadcast_to(dy, shape_of(tensor)), None))


@export("ensure_shape")
@op
def ensure_shape(x: Input, shape: Dims, name: Name = None) -> TensorType:
    """Return `x`, checked to have this shape; None matches any size.

    >>> ensure_shape([[1, 2]], [None, 2])
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>
    """
    _check_shape(x.shape, shape)
    return TensorType(x.dtype, shapes.merge(x.shape, shape))


def _check_shape(actual: shapes.Dims, expected: shapes.Dims) -> None:
    if not shapes.compatible(actual, expected):
        found, wanted = listed(actual or ()), listed(expected or ())
        raise ValueError(f"Shape of tensor input {found} is not compatible with expected shape {wanted}.")


@ensure_shape.kernel
def _(x: Array, shape: shapes.Dims) -> Array:
    _check_shape(x.shape, shape)
    return x


ensure_shape.gradient(lambda dy, y, x, shape: dy)
