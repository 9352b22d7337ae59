"""Create tensors: constants and filled tensors.

`constant` returns an eager tensor even while a graph is being built. A graph that uses it holds its value as
a constant operand.

    y = add x, 1.0                                    # from `y = x + tf.constant(1.0)`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import EagerTensor
from ...ir.builder import current, eagerly
from ...ir.traits import ANY_SHAPE, CHEAP, ELEMENTWISE, FRESH_RESULT, TOTAL
from ...ir.value_types import TensorType
from ..framework import static_values
from ..framework.attribute_parsers import DType, OptionalDType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, op
from ..framework.static_values import checked_dims, dims
from .reshape import sum_to

Array = Any


@export("constant")
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Return a tensor with this value; with `shape`, reshaped, or filled from a single value.

    >>> constant([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    >>> constant(0.5, shape=(2,))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.5, 0.5], dtype=float32)>
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is not None and is_tensor_like(value) and value.dtype is not wanted:
        raise TypeError(
            f"Expected tensor {value} with dtype {dtypes.as_dtype(dtype)!r}, but got dtype {value.dtype!r}."
        )
    tensor = convert_to_tensor(value, wanted)
    builder = current()
    if builder is not None and builder.keeps_constants and isinstance(tensor, EagerTensor):
        with eagerly():
            known = constant(tensor, dtype, shape)
        return builder.constant(known, name)
    if shape is None or not isinstance(tensor, EagerTensor):
        return tensor
    array, sizes = tensor._array, shapes.as_dims(shape)
    assert sizes is not None
    count = shapes.num_elements(sizes)
    if array.size == 1 or array.size == count:
        return EagerTensor(
            array.reshape(sizes) if array.size == count else np.full(sizes, array.item(), array.dtype)
        )
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value}) has "
        f"{array.size} elements, but got `shape` {sizes} with {count} elements)."
    )


@export("zeros")
@op(traits=TOTAL | CHEAP | FRESH_RESULT)
def zeros(shape: Ints, dtype: DType = dtypes.float32, name: Name = None) -> TensorType:
    """Return zeros (False, or empty strings) in this shape.

    >>> zeros([2], int)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([0, 0], dtype=int32)>
    """
    return TensorType(dtype, dims(shape))


zeros.kernel(lambda shape, dtype: _filled(checked_dims(shape), dtype, 0))


@export("ones")
@op(traits=TOTAL | CHEAP | FRESH_RESULT)
def ones(shape: Ints, dtype: DType = dtypes.float32, name: Name = None) -> TensorType:
    """Return ones in this shape.

    >>> ones([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 1.], dtype=float32)>
    """
    return TensorType(_numeric(dtype), dims(shape))


ones.kernel(lambda shape, dtype: _filled(checked_dims(shape), dtype, 1))


@export("zeros_like")
@op(
    traits=ELEMENTWISE | TOTAL | ANY_SHAPE | CHEAP,
    fills=0,
    out={"biufc": ("np.copyto({o}, {zero})",)},
    reuses=(),
    element_operands=1,
)
def zeros_like(input: Input, dtype: OptionalDType = None, name: Name = None) -> TensorType:
    """Return zeros in the shape of `input`, and of its dtype unless another is given.

    >>> zeros_like([1.5, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    return TensorType(dtype or input.dtype, input.shape)


zeros_like.kernel(lambda input, dtype: _filled(np.shape(input), dtype or dtypes.of_array(input), 0))
zeros_like.no_gradient("it is constant")


@export("ones_like")
@op(
    traits=ELEMENTWISE | TOTAL | ANY_SHAPE | CHEAP,
    fills=1,
    out={"biufc": ("np.copyto({o}, {one})",)},
    reuses=(),
    element_operands=1,
)
def ones_like(input: Input, dtype: OptionalDType = None, name: Name = None) -> TensorType:
    """Return ones in the shape of `input`, and of its dtype unless another is given.

    >>> ones_like([3, 4])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 1], dtype=int32)>
    """
    return TensorType(_numeric(dtype or input.dtype), input.shape)


ones_like.kernel(lambda input, dtype: _filled(np.shape(input), dtype or dtypes.of_array(input), 1))
ones_like.no_gradient("it is constant")


def _numeric(dtype: dtypes.DType) -> dtypes.DType:
    if dtype is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return dtype


def _filled(sizes: tuple[int, ...], dtype: dtypes.DType, value: int) -> Array:
    if dtype is dtypes.string:
        return np.full(sizes, b"", object)
    return (np.ones if value else np.zeros)(sizes, dtype.numpy_dtype)


@export("fill")
@op(traits=TOTAL | CHEAP | FRESH_RESULT)
def fill(dims: Ints, value: Input, name: Name = None) -> TensorType:
    """Repeat the scalar `value` in the shape `dims`.

    >>> fill([2, 3], 7)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[7, 7, 7],
           [7, 7, 7]], dtype=int32)>
    """
    if value.shape not in (None, ()):
        raise ValueError(f"value must be a scalar, but its shape is {shapes.show(value.shape)}")
    return TensorType(value.dtype, static_values.dims(dims))


fill.kernel(lambda dims, value: np.full(checked_dims(dims), value, value.dtype))
fill.gradient(lambda dy, y, dims, value: (None, sum_to(dy, ())))


@export("linalg.eye", "eye")
@cached_dispatch
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Return the identity matrix, or a stack of them in the shape `batch_shape`.

    >>> eye(2)
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[1., 0.],
           [0., 1.]], dtype=float32)>
    """
    columns = num_rows if num_columns is None else num_columns
    batch = () if batch_shape is None else batch_shape
    return identity_matrix(num_rows, columns, batch, dtype, name)


@op
def identity_matrix(
    rows: Ints, columns: Ints, batch_shape: Ints, dtype: DType, name: Name = None
) -> TensorType:
    """Return matrices with ones on the diagonal, in the shape `batch_shape`.

    >>> identity_matrix(1, 2, [], int)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 0]], dtype=int32)>
    """
    batch = dims(batch_shape)
    sizes = static_values.size(rows, "num_rows"), static_values.size(columns, "num_columns")
    return TensorType(dtype, None if batch is None else (*batch, *sizes))


@identity_matrix.kernel
def _(rows: Array, columns: Array, batch_shape: Array, dtype: dtypes.DType) -> Array:
    matrix = np.eye(int(rows), int(columns), dtype=dtype.numpy_dtype)
    return np.broadcast_to(matrix, (*checked_dims(batch_shape), *matrix.shape))
