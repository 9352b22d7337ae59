"""Placeholder values for a branch that does not define a value that the other branch defines; they are never read.

a = cond test, x                : float32[?, 2]
  then x
    y = sin x                   : float32[?, 2]       a residual of the gradient
    yield y
  else x
    blank = blank               : float32[?, 2]       of size 0; an executor may choose another size
    yield blank
"""

from __future__ import annotations

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Dims, DType
from ..framework.op import Name, op
from ..framework.op_families import Array


@op
def blank(dtype: DType, like: Dims, name: Name = None) -> TensorType:
    """Return zeros that are never read; unknown dimensions have size 0.

    >>> blank(dtypes.float32, (None, 2)).shape
    TensorShape([0, 2])
    """
    return TensorType(dtype, like)


blank.kernel(lambda dtype, like: of_size_zero(TensorType(dtype, like)))


def of_size_zero(spec: TensorType) -> Array:
    """Return zeros that take no memory; unknown dimensions have size 0."""
    shape = tuple(size or 0 for size in spec.shape or ())
    if spec.dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.broadcast_to(np.zeros((), spec.dtype.numpy_dtype), shape)
