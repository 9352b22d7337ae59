"""The shape, size and rank of a tensor, as tensors: constants if they are static."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor
from ...ir.builder import current
from ...ir.traits import ANY_SHAPE, CHEAP, FRESH_RESULT, SIZE_QUERY, TOTAL
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import DType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Name, op

Array = Any


@export("shape")
@cached_dispatch
@dispatching_composites("shape")
def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the shape of `input` as a vector; a constant if it is static.

    >>> shape([[1, 2, 3]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 3], dtype=int32)>
    """
    tensor, kind = convert_to_tensor(input), dtypes.as_dtype(out_type or dtypes.int32)
    sizes = tensor.shape.sizes
    if shapes.is_static(sizes) and current() is not None:
        return EagerTensor(_sizes(sizes, kind))
    return shape_of(tensor, kind, name)


@op(name="shape", traits=TOTAL | ANY_SHAPE | CHEAP | FRESH_RESULT | SIZE_QUERY)
def shape_of(input: Input, out_type: DType = dtypes.int32, name: Name = None) -> TensorType:
    """Return the shape of `input` as a vector.

    >>> shape_of(5.0)
    <tf.Tensor: shape=(0,), dtype=int32, numpy=array([], dtype=int32)>
    """
    return TensorType(out_type, (None if input.shape is None else len(input.shape),))


@shape_of.elements
def _(input: Array, out_type: dtypes.DType) -> shapes.Dims:
    return input.shape  # type: ignore[no-any-return]


shape_of.kernel(lambda input, out_type: _sizes(np.shape(input), out_type))


def _sizes(sizes: Any, dtype: dtypes.DType) -> Array:
    """Return sizes as an array; InvalidArgumentError if the dtype cannot hold them."""
    try:
        return np.array(sizes, dtype.numpy_dtype)
    except OverflowError:
        message = f"{dtype.name} cannot hold {sizes}: pass out_type=tf.int64"
        raise errors.InvalidArgumentError(message) from None


@export("size")
@cached_dispatch
@dispatching_composites("size")
def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the number of elements of `input`; a constant if it is static.

    >>> size([[1, 2, 3]])
    <tf.Tensor: shape=(), dtype=int32, numpy=3>
    """
    tensor, kind = convert_to_tensor(input), dtypes.as_dtype(out_type or dtypes.int32)
    count = tensor.shape.num_elements()
    if count is not None and current() is not None:
        return EagerTensor(_sizes(count, kind))
    return size_of(tensor, kind, name)


@op(name="size", traits=TOTAL | ANY_SHAPE | CHEAP | FRESH_RESULT | SIZE_QUERY)
def size_of(input: Input, out_type: DType = dtypes.int32, name: Name = None) -> TensorType:
    """Return the number of elements of `input`.

    >>> size_of([1, 2])
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    return TensorType(out_type, ())


size_of.kernel(lambda input, out_type: _sizes(np.size(input), out_type)[()])


@export("rank")
@dispatching_composites("rank")
def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of dimensions of `input`; a constant if it is static.

    >>> rank([[1, 2, 3]])
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    tensor = convert_to_tensor(input)
    count = tensor.shape.rank
    return EagerTensor(np.array(count, np.int32)) if count is not None else rank_of(tensor, name)


@op(name="rank", traits=TOTAL | ANY_SHAPE | CHEAP | FRESH_RESULT | SIZE_QUERY)
def rank_of(input: Input, name: Name = None) -> TensorType:
    """Return the number of dimensions of `input`.

    >>> rank_of(5.0)
    <tf.Tensor: shape=(), dtype=int32, numpy=0>
    """
    return TensorType(dtypes.int32, ())


rank_of.kernel(lambda input: np.int32(np.ndim(input)))
