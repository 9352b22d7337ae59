"""How often values occur.

bincount([1, 3, 1])     0 2 0 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..ir.specs import Spec
from .attributes import DType
from .declare import Ints, Name, op

Array = Any


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How often each of the integers 0, 1, … up to the largest occurs in `arr`.

    Args:
        weights: not supported.
        minlength: count up to this number (exclusive) at least.
        maxlength: ignore this number and those above.
        dtype: of the result.

    >>> bincount([1, 3, 1], minlength=6).numpy().tolist()
    [0, 2, 0, 1, 0, 0]
    """
    if weights is not None:
        raise NotImplementedError("bincount without weights only: use tf.scatter_nd to add up weights")
    top = -1 if maxlength is None else maxlength
    return occurrences(arr, 0 if minlength is None else minlength, top, dtype, name)


@op
def occurrences(arr: Ints, minlength: Ints, maxlength: Ints, dtype: DType, name: Name = None) -> Spec:
    """How often 0, 1, … occur, for at least `minlength` and at most `maxlength` numbers (-1: no limit).

    >>> occurrences([1, 3, 1], 0, 2, int)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([0, 2], dtype=int32)>
    """
    for bound in (minlength, maxlength):
        if bound.shape not in (None, ()):
            raise ValueError(f"minlength and maxlength must be scalars, not of shape {bound.shape}")
    return Spec(dtype, (None,))


@occurrences.kernel
def _(arr: Array, minlength: Array, maxlength: Array, dtype: dtypes.DType) -> Array:
    flat = np.ravel(arr)
    if flat.size and flat.min() < 0:
        raise errors.InvalidArgumentError("Input arr must be non-negative!")
    counts = np.bincount(flat, minlength=int(minlength))
    return (counts if maxlength < 0 else counts[: int(maxlength)]).astype(dtype.numpy)
