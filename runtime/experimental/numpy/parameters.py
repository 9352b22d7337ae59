"""Functions of tf.experimental.numpy whose parameters are not those of NumPy's functions.

>>> max([[1, 5], [3, 2]], 0).numpy().tolist()
[3, 5]

The docstrings of those that are made from functions of NumPy's dispatch are in manuals.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core.tensor import Tensor
from ...interop.numpy_dispatch import joining, linalg, manipulation, statistics, ufuncs
from ...ops.arrays import shape_ops, where_ops
from ...ops.math.cast import cast
from ...ops.math.derived_math import nextafter as next_number
from .promotion import asarray, promote, read_dtype, result_type


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
        return function(asarray(a), axis, keepdims=keepdims)

    return reduced


def _total(function: Callable[..., Any]) -> Callable[..., Any]:
    def total(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
        return function(asarray(a, dtype), axis, dtype and read_dtype(dtype), keepdims=keepdims)

    return total


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(a: Any, axis: Any = None, out: None = None, keepdims: Any = None) -> Any:
        return function(asarray(a), axis, keepdims=keepdims)

    return extreme


all, any, std = map(_reduction, (ufuncs.all_, ufuncs.any_, statistics.std))
max, min = map(_reduction, (ufuncs.max_, ufuncs.min_))
amax, amin = map(_extreme, (ufuncs.max_, ufuncs.min_))
sum, prod = map(_total, (ufuncs.sum_, ufuncs.prod))


def count_nonzero(a: Any, axis: Any = None) -> Any:
    """Return the number of elements along the axes that are not zero, as int64.

    >>> count_nonzero([[0, 5], [3, 2]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    return statistics.count_nonzero_(asarray(a), axis)


def argsort(a: Any, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Any:
    """Return the indices that sort the elements along an axis.

    >>> argsort([3, 1, 2]).numpy().tolist()
    [1, 2, 0]
    """
    return statistics.argsort(asarray(a), axis)


def sort(a: Any, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Any:
    """Return the elements sorted along an axis.

    >>> sort([[3, 1], [2, 4]], axis=0).numpy().tolist()
    [[2, 1], [3, 4]]
    """
    return statistics.sort(asarray(a), axis)


def concatenate(arys: Any, axis: int | None = 0) -> Any:
    """Return the arrays joined along an axis.

    >>> concatenate([[1, 2], [0.5]])
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([1. , 2. , 0.5])>
    """
    return manipulation.concatenate(promote(list(arys)), axis)


def reshape(a: Any, newshape: Any, order: str = "C") -> Any:
    """Return the elements in another shape; with the order "F" the first axis changes fastest.

    >>> reshape([1, 2, 3, 4], (2, 2), order="F").numpy().tolist()
    [[1, 3], [2, 4]]
    """
    return manipulation.reshape(asarray(a), newshape, order)


def flatten(a: Any, order: str = "C") -> Any:
    """Return the elements as a vector.

    >>> flatten([[1, 2], [3, 4]], order="F").numpy().tolist()
    [1, 3, 2, 4]
    """
    return manipulation.ravel(asarray(a), order)


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Any:
    """Return the array with further elements around it; the modes are "constant", "reflect" and "symmetric".

    >>> pad([1, 2, 3], 2, "reflect").numpy().tolist()
    [3, 2, 1, 2, 3, 2, 1]
    """
    return manipulation.pad(asarray(array), pad_width, mode, **kwargs)


def take(a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "clip") -> Any:
    """Return the elements at the indices; the mode "wrap" counts indices beyond the end from the front again.

    >>> take([10, 20, 30], [1, 4], mode="wrap").numpy().tolist()
    [20, 20]
    """
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take has the modes 'raise', 'clip' and 'wrap', not {mode!r}")
    x, places = asarray(a), asarray(indices)
    size = cast(shape_ops.size(x) if axis is None else shape_ops.shape(x)[axis], places.dtype)
    if mode == "wrap":
        places = places % size
    elif mode == "clip":
        places = ufuncs.apply(
            np.minimum, (ufuncs.apply(np.maximum, (places, cast(0, places.dtype))), size - 1)
        )
    return manipulation.take(x, places, axis)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of `x` where the condition is true, of `y` elsewhere; without them, the places of true values.

    >>> where([True, False], [1, 2], 0.5).numpy().tolist()
    [1.0, 0.5]
    """
    chosen = cast(asarray(condition), dtypes.bool_)
    if x is None and y is None:
        return statistics.where_(chosen)
    if x is None or y is None:
        raise ValueError("where takes both `x` and `y`, or neither")
    first, second = promote((x, y))
    return where_ops.where(chosen, first, second)


def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """Return the elements limited to the range from `a_min` to `a_max`, of which one may be None.

    >>> clip([-1, 0, 7], 0, 5).numpy().tolist()
    [0, 0, 5]
    """
    if a_min is None and a_max is None:
        raise ValueError("clip needs `a_min` or `a_max`")
    given = [each for each in (a, a_min, a_max) if each is not None]
    x, *limits = promote(given)
    if a_min is not None:
        x = ufuncs.apply(np.maximum, (x, limits.pop(0)))
    return x if a_max is None else ufuncs.apply(np.minimum, (x, limits.pop()))


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    """Return the slices along an axis for which the condition is true; without `axis`, the elements.

    >>> compress([True, False], [[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[1, 2]])>
    """
    return joining.compress(asarray(condition), asarray(a), axis)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """Return the sum of products that `subscripts` describes.

    >>> einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]).numpy().tolist()
    [3, 7]
    """
    return linalg.einsum(subscripts, *promote(operands), **kwargs)


def nextafter(x1: Any, x2: Any) -> Any:
    """Return the next number from `x1` towards `x2`.

    >>> nextafter(1.0, 2.0).numpy().item()
    1.0000000000000002
    """
    return next_number(*promote((x1, x2)))


def matmul(x1: Any, x2: Any) -> Any:
    """Return the product of matrices, or of a matrix and a vector.

    >>> matmul([[1, 2], [3, 4]], [1, 1]).numpy().tolist()
    [3, 7]
    """
    return ufuncs.apply(np.matmul, tuple(promote((x1, x2))))


def shape(a: Any) -> Any:
    """Return the shape; dimensions that are unknown while tracing are None.

    >>> shape([[1, 2, 3]])
    TensorShape([1, 3])
    """
    return asarray(a).shape


def ndim(a: Any) -> Any:
    """Return the number of dimensions.

    >>> ndim([[1, 2, 3]])
    2
    """
    return asarray(a).shape.rank


def size(x: Any, axis: int | None = None) -> Any:
    """Return the number of elements, or the size along an axis.

    >>> int(size([[1, 2, 3]])), size([[1, 2, 3]], axis=0)
    (3, 1)
    """
    return size_of(asarray(x), axis)


def size_of(x: Tensor, axis: int | None = None) -> Any:
    """Return the number of elements as a NumPy number, or as a tensor if it is unknown while tracing."""
    if axis is None and x.shape.is_fully_defined():
        return np.int64(x.shape.num_elements() or 0)
    return manipulation.size(x, axis)


def isscalar(num: Any) -> bool:
    """Return whether `num` is a number, or an array of rank 0.

    >>> isscalar(3), isscalar([3])
    (True, False)
    """
    return num.shape.rank == 0 if isinstance(num, Tensor) else bool(np.isscalar(num))


def promote_types(type1: Any, type2: Any) -> Any:
    """Return the NumPy dtype that two dtypes are promoted to.

    >>> promote_types(int, "float32")
    dtype('float64')
    """
    return result_type(*(read_dtype(each) for each in (type1, type2))).numpy_dtype


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating-point dtype.

    >>> finfo("float16").max.item()
    65504.0
    """
    return np.finfo(read_dtype(dtype).numpy_dtype)
