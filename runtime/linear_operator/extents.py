"""Shapes of operators, written once, and computed from static shapes or while the program runs.

def _extent(self, sizes):                                   # sizes: STATIC or DYNAMIC
    n = sizes.size(self.diag, -1)
    return sizes.join(sizes.batch(self.diag, 1), n, n)      # [..., n]  ==>  [..., n, n]
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

from .. import dtypes
from ..core.shapes import TensorShape
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.shape_arithmetic import broadcast_dynamic_shape, broadcast_static_shape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.static_values import of_tensor
from ..ops.math.cast import cast


class Static:
    """Shapes are TensorShapes, sizes integers, or None where they are unknown."""

    def shape(self, x: Any) -> Any:
        """Return the shape of a tensor, a variable or an operator."""
        return TensorShape(x.shape)

    def vector(self, shape: Any) -> Any:
        """Return the shape that is given by integers, or by a vector of them."""
        return TensorShape(shape if isinstance(shape, tuple) else of_tensor(shape))

    def batch(self, x: Any, ndims: int) -> Any:
        """Return the shape without its last `ndims` axes."""
        return self.shape(x)[:-ndims]

    def size(self, x: Any, axis: int) -> Any:
        """Return the size of an axis."""
        return self.shape(x)[axis]

    def number(self, size: Any) -> Any:
        """Return a size that is given by an integer or a scalar tensor."""
        return size if isinstance(size, int) else None

    def broadcast(self, *batches: Any) -> Any:
        """Return the shape to which all broadcast."""
        return functools.reduce(broadcast_static_shape, batches)

    def join(self, batch: Any, *sizes: Any) -> Any:
        """Return the shape of a batch of matrices or vectors of these sizes."""
        return batch.concatenate(sizes)

    def total(self, *sizes: Any) -> Any:
        return None if None in sizes else sum(sizes)

    def product(self, *sizes: Any) -> Any:
        return None if None in sizes else math.prod(sizes)


class Dynamic(Static):
    """Shapes are vectors of integers, sizes are scalars."""

    def shape(self, x: Any) -> Any:
        return x.shape_tensor() if hasattr(x, "shape_tensor") else shape_of(x)

    def vector(self, shape: Any) -> Any:
        return cast(shape, dtypes.int32)

    def number(self, size: Any) -> Any:
        return cast(size, dtypes.int32)

    def broadcast(self, *batches: Any) -> Any:
        return functools.reduce(broadcast_dynamic_shape, batches)

    def join(self, batch: Any, *sizes: Any) -> Any:
        return concat([batch, stack(list(sizes))], 0) if sizes else batch

    def total(self, *sizes: Any) -> Any:
        return sum(sizes)

    def product(self, *sizes: Any) -> Any:
        return functools.reduce(operator.mul, sizes)


STATIC, DYNAMIC = Static(), Dynamic()
