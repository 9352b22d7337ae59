"""Isotonic regression by pooling adjacent violators: the closest monotonic sequence.

3 1 2 5 4, increasing      3 1 2 → their mean 2      5 4 → their mean 4.5      2 2 2 4.5 4.5
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ..arrays.reshape import transpose
from ..framework.op import Input, Name, op
from ..framework.op_families import FLOATS, REAL, Array, require_dtype
from ..math.cast import cast


class IsotonicRegression(NamedTuple):
    """The result of `isotonic_regression`."""

    output: Tensor
    segments: Tensor


@export("nn.isotonic_regression")
def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> IsotonicRegression:
    """Return the monotonic sequences along `axis` closest to `inputs`, and the pool index of each element.

    Adjacent elements are pooled where they violate the order. Adjacent pools with equal means may remain
    separate.

    Args:
        inputs: float; integers up to 16 bits become float32, others float64.

    >>> found, pools = isotonic_regression([3., 1., 2., 5., 4.], decreasing=False)
    >>> found.numpy().tolist(), pools.numpy().tolist()
    ([2.0, 2.0, 2.0, 4.5, 4.5], [0, 0, 1, 2, 2])
    """
    x = convert_to_tensor(inputs)
    require_dtype(x, REAL, "isotonic_regression")
    if x.dtype.is_integer:
        x = cast(x, dtypes.float32 if x.dtype.size <= 2 else dtypes.float64)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("isotonic_regression: the rank of `inputs` must be known")
    dim = shapes.normal_axis(axis, rank)
    order = [*range(dim), *range(dim + 1, rank), dim]
    back = [order.index(i) for i in range(rank)]
    found, pools = pooled_violators(-transpose(x, order) if not decreasing else transpose(x, order))
    return IsotonicRegression(transpose(found if decreasing else -found, back), transpose(pools, back))


@op
def pooled_violators(input: Input, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return the closest decreasing sequences along the last axis, and the pool index of each element.

    >>> pooled_violators([1., 3., 0.])[0].numpy().tolist()
    [2.0, 2.0, 0.0]
    """
    require_dtype(input, FLOATS, "isotonic_regression")
    if input.shape == ():
        raise ValueError("isotonic_regression: a scalar is not a sequence")
    return TensorType(input.dtype, input.shape), TensorType(dtypes.int32, input.shape)


@pooled_violators.kernel
def _(input: Array) -> tuple[Array, Array]:
    sums = input.reshape(-1).astype(np.float64)
    counts, rows = np.ones(len(sums)), np.arange(len(sums)) // max(input.shape[-1], 1)
    while True:  # merge all neighbors in the wrong order; the order of merges does not matter
        is_wrong = (sums[:-1] * counts[1:] < sums[1:] * counts[:-1]) & (rows[:-1] == rows[1:])
        if np.count_nonzero(is_wrong) * _FEW <= len(sums):
            break
        begins = np.flatnonzero(np.concatenate([[True], ~is_wrong]))
        sums, counts, rows = np.add.reduceat(sums, begins), np.add.reduceat(counts, begins), rows[begins]
    if is_wrong.any():
        sums, counts, rows = _merged(sums, counts, rows)
    size = counts.astype(np.int64)
    first = np.searchsorted(rows, rows)
    found, pools = np.repeat(sums / counts, size), np.repeat(np.arange(len(rows)) - first, size)
    return found.reshape(input.shape).astype(input.dtype), pools.reshape(input.shape).astype(np.int32)


_FEW = 16
"""Single merges are faster than a round over all pools if they are fewer than one in this number of pools."""


def _merged(*pools: Array) -> Array:
    """Merge neighbors in the wrong order one after the other, in linear time; `pools` are sums, counts and rows."""
    merged: list[tuple[float, float, int]] = []
    for total, count, row in zip(*(part.tolist() for part in pools), strict=True):
        while merged and merged[-1][2] == row and merged[-1][0] * count < total * merged[-1][1]:
            total, count = total + merged[-1][0], count + merged.pop()[1]
        merged.append((total, count, row))
    sums, counts, rows = zip(*merged, strict=True)
    return np.array(sums), np.array(counts), np.array(rows)


@pooled_violators.gradient
def _(dy: Any, y: Any, input: Any) -> Any:
    return pool_means(dy[0], y[1])


@op
def pool_means(values: Input, pools: Input, name: Name = None) -> TensorType:
    """Replace each element of the last axis by the mean of its pool; pools are runs of equal numbers.

    >>> pool_means([1., 3., 0.], [0, 0, 1]).numpy().tolist()
    [2.0, 2.0, 0.0]
    """
    require_dtype(values, FLOATS, "isotonic_regression")
    require_dtype(pools, frozenset({dtypes.int32}), "isotonic_regression")
    shape = shapes.merge(values.shape, pools.shape)
    if shape == ():
        raise ValueError("isotonic_regression: a scalar is not a sequence")
    return TensorType(values.dtype, shape)


@pool_means.kernel
def _(values: Array, pools: Array) -> Array:
    wide, owners = (
        values.reshape(-1, values.shape[-1]).astype(np.float64),
        pools.reshape(-1, values.shape[-1]),
    )
    places = owners + np.arange(len(wide))[:, np.newaxis] * wide.shape[1]
    sums = np.bincount(places.ravel(), wide.ravel(), wide.size)
    counts = np.bincount(places.ravel(), minlength=wide.size)
    return (sums / np.maximum(counts, 1))[places].reshape(values.shape).astype(values.dtype)


pool_means.gradient(lambda dy, y, values, pools: (pool_means(dy, pools), None))
