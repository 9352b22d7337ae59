"""What stands where one branch has a value and the other has nothing: nobody reads it.

a = cond test, x                : float32[?, 2]
  then x
    y = sin x                   : float32[?, 2]       which the way back reads
    yield y
  else x
    blank = blank               : float32[?, 2]       of size 0, and of any size that helps an executor
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
    """Zeros that nobody reads; of size 0 along dimensions that are not known.

    >>> blank(dtypes.float32, (None, 2)).shape
    TensorShape([0, 2])
    """
    return TensorType(dtype, like)


@blank.kernel
def _(dtype: dtypes.DType, like: Dims) -> Array:
    return of_size_zero(TensorType(dtype, like))


def of_size_zero(spec: TensorType) -> Array:
    """Zeros that take no memory; of size 0 along dimensions that are not known."""
    shape = tuple(size or 0 for size in spec.shape or ())
    if spec.dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.broadcast_to(np.zeros((), spec.dtype.numpy), shape)
