"""Creation functions of tf.experimental.numpy: `array`, `zeros`, `arange`, `linspace` …

>>> linspace(0, 1, 3, dtype="float32").numpy().tolist()
[0.0, 0.5, 1.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import is_tensor_like
from ...core.tensor import Tensor
from ...interop.numpy_dispatch.joining import broadcast_arrays, open_mesh
from ...ops.arrays import creation, ranges
from ...ops.arrays import reshape as shaping
from ...ops.arrays.where_ops import where
from ...ops.math.arithmetic import pow as power
from ...ops.math.cast import cast
from ...ops.math.cast import identity as same_values
from ...ops.math.elementwise import log
from .promotion import Rules, asarray, promote, read_dtype, result_type


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Any:
    """Return an array of `ndmin` dimensions or more; `copy` gives another tensor object.

    >>> array([1, 2], ndmin=2)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[1, 2]])>
    """
    found = asarray(val, dtype)
    for _ in range(ndmin - (found.shape.rank or 0)):
        found = shaping.expand_dims(found, 0)
    return same_values(found) if copy and found is val else found


def copy(a: Any) -> Any:
    """Return another array with the same elements.

    >>> x = array([1, 2])
    >>> copy(x) is x
    False
    """
    return array(a)


def asanyarray(a: Any, dtype: Any = None) -> Any:
    """Return an array; a tensor is returned itself.

    >>> x = asanyarray([1, 2])
    >>> asanyarray(x) is x
    True
    """
    return asarray(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """Return an array of rank 1 or more.

    >>> ascontiguousarray(5)
    <tf.Tensor: shape=(1,), dtype=int64, numpy=array([5])>
    """
    return array(a, dtype, copy=False, ndmin=1)


def _sizes(shape: Any) -> Any:
    if is_tensor_like(shape):
        return shaping.reshape(asarray(shape, dtypes.int32), [-1])
    return np.atleast_1d(np.array(shape, int))


def _float(dtype: Any) -> dtypes.DType:
    """Return `dtype`; Python's `float` is float64 even where float32 is preferred, as in TensorFlow."""
    if dtype is float:
        return dtypes.float32 if Rules.mode in ("all", "safe") else dtypes.float64
    return read_dtype(dtype)


def zeros(shape: Any, dtype: Any = float) -> Any:
    """Return zeros.

    >>> zeros((2, 1)).numpy().tolist()
    [[0.0], [0.0]]
    """
    return creation.zeros(_sizes(shape), _float(dtype))


def ones(shape: Any, dtype: Any = float) -> Any:
    """Return ones.

    >>> ones(2, "int32")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 1], dtype=int32)>
    """
    return creation.ones(_sizes(shape), _float(dtype))


def empty(shape: Any, dtype: Any = float) -> Any:
    """Return zeros, since no memory is uninitialized.

    >>> empty(2, "int32")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([0, 0], dtype=int32)>
    """
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return an array of a shape, filled with one value, or with an array that is broadcast.

    >>> full((2, 2), [1, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return shaping.broadcast_to(asarray(fill_value, dtype), _sizes(shape))


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    """Return an array of the shape and dtype of `a`, filled with a value.

    >>> full_like([1, 2], 7.5)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([7, 7])>
    """
    like = asarray(a)
    filler = cast(asarray(fill_value), like.dtype if dtype is None else read_dtype(dtype))
    sizes = (
        creation.zeros_like(like, filler.dtype)
        if shape is None
        else creation.zeros(_sizes(shape), filler.dtype)
    )
    return shaping.broadcast_to(filler, sizes.shape) if sizes.shape.is_fully_defined() else sizes + filler


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros of the shape of `a`.

    >>> zeros_like([1, 2], float)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0., 0.])>
    """
    return creation.zeros_like(asarray(a), None if dtype is None else read_dtype(dtype))


def ones_like(a: Any, dtype: Any = None) -> Any:
    """Return ones of the shape of `a`.

    >>> ones_like([1.5, 2.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1., 1.])>
    """
    return creation.ones_like(asarray(a), None if dtype is None else read_dtype(dtype))


def empty_like(a: Any, dtype: Any = None) -> Any:
    """Return zeros of the shape of `a`.

    >>> empty_like([1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 0])>
    """
    return zeros_like(a, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:  # noqa: N803
    """Return ones on and below the diagonal `k`, zeros above.

    >>> tri(2, 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    rows, columns = ranges.range(N), ranges.range(N if M is None else M)
    return cast(shaping.expand_dims(rows + k, 1) >= columns, _float(float if dtype is None else dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:  # noqa: N803
    """Return ones on the diagonal `k`, zeros elsewhere.

    >>> eye(2, 3, k=1).numpy().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows, columns = ranges.range(N), ranges.range(N if M is None else M)
    return cast(shaping.expand_dims(rows + k, 1) == columns, _float(dtype))


def identity(n: int, dtype: Any = float) -> Tensor:
    """Return the identity matrix.

    >>> identity(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Return the numbers from `start` to `stop`, exclusive.

    >>> arange(1, 2, 0.25).numpy().tolist()
    [1.0, 1.25, 1.5, 1.75]
    """
    start, stop = (0, start) if stop is None else (start, stop)
    wanted = result_type(start, stop, step) if dtype is None else read_dtype(dtype)
    if any(map(is_tensor_like, (start, stop, step))):
        first, last, gap = promote((start, stop, step))
        return cast(ranges.range(first, last, gap), wanted)
    return asarray(np.arange(start, stop, step), wanted)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """Return `num` numbers at equal distances, with or without `stop`; with `retstep` the distance, too.

    >>> linspace(0, 1, 3).numpy().tolist()
    [0.0, 0.5, 1.0]
    """
    wanted = read_dtype(float if dtype is None else dtype)
    first, last = (asarray(bound, wanted) for bound in (start, stop))
    gap = (last - first) / max(1, num - 1 if endpoint else num)
    found = _spread(first, last, gap, num, endpoint, axis)
    return (found, gap) if retstep else found


def _spread(first: Tensor, last: Tensor, gap: Tensor, num: int, endpoint: bool, axis: int) -> Any:
    base = shaping.expand_dims(first + creation.zeros_like(last), axis)
    rank = base.shape.rank or 1
    steps = cast(
        np.arange(num).reshape([-1 if each == axis % rank else 1 for each in range(rank)]), first.dtype
    )
    found = base + steps * shaping.expand_dims(gap + creation.zeros_like(first), axis)
    if endpoint and num > 1:  # the last number is `stop` itself, without an error of rounding
        found = where(steps == num - 1, shaping.expand_dims(last + creation.zeros_like(first), axis), found)
    return found


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Return powers of `base` whose exponents are at equal distances.

    >>> logspace(0, 2, 3).numpy().tolist()
    [1.0, 10.0, 100.0]
    """
    exponents = linspace(start, stop, num, endpoint, dtype=result_type(start, stop, 1.0), axis=axis)
    found = power(asarray(base, exponents.dtype), exponents)
    return found if dtype is None else cast(found, read_dtype(dtype))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Return numbers with equal quotients.

    >>> geomspace(1.0, 4.0, 3).numpy().round(6).tolist()
    [1.0, 2.0, 4.0]
    """
    wanted = result_type(start, stop, 1.0)
    first, last = (asarray(bound, wanted) for bound in (start, stop))
    sign = where(first < 0, -creation.ones_like(first), creation.ones_like(first))
    found = sign * logspace(log(sign * first), log(sign * last), num, endpoint, np.e, axis=axis)
    return found if dtype is None else cast(found, read_dtype(dtype))


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal, once for each dimension.

    >>> [each.numpy().tolist() for each in diag_indices(3)]
    [[0, 1, 2], [0, 1, 2]]
    """
    return (ranges.range(n),) * ndim


def meshgrid(*xi: Any, **kwargs: Any) -> Any:
    """Return the coordinates of a grid, in Cartesian order, or with `indexing="ij"` in matrix order.

    >>> [each.numpy().tolist() for each in meshgrid([1, 2, 3], [10, 20])]
    [[[1, 2, 3], [1, 2, 3]], [[10, 10, 10], [20, 20, 20]]]
    """
    unknown = kwargs.keys() - {"indexing", "sparse", "copy"}
    if unknown:
        raise TypeError(f"meshgrid() got an unexpected keyword argument {min(unknown)!r}")
    if kwargs.get("sparse") or not kwargs.get("copy", True):
        raise ValueError("meshgrid makes whole arrays: sparse=True and copy=False are not supported")
    vectors = [shaping.reshape(asarray(each), [-1]) for each in xi]
    if kwargs.get("indexing", "xy") == "ij":
        return broadcast_arrays(*open_mesh(vectors))
    grids = broadcast_arrays(*open_mesh([*vectors[1::-1], *vectors[2:]]))
    return [*grids[1::-1], *grids[2:]]
