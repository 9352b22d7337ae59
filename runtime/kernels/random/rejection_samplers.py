"""Rejection samplers: gamma, Poisson and binomial variates, and truncated normal numbers between any bounds.

Such a variate needs an unknown number of draws. Each has its own part of the stream, 256 blocks after the previous
one's, so the draws of one do not change the others. All are drawn at once, and rejected ones are drawn again. The
algorithms are those that TensorFlow names, in the same order of draws, so the numbers are equal to TensorFlow's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ..special_functions.gamma import log_gamma
from ..thread_pool import run_all
from . import distributions
from .philox import Stream

Array = Any

_FEW_BLOCKS = 42
"""The number of blocks of a binomial variate with a small mean: ten standard deviations."""


class Streams:
    """Streams that begin 256 blocks after each other. Each yields numbers in pairs, the second of the pair first."""

    def __init__(
        self, stream: Stream, first: int, count: int, distance: Any = distributions.BLOCKS_PER_ELEMENT
    ) -> None:
        self._stream = stream
        self._used = np.arange(first, first + count, dtype=np.uint64) * np.asarray(distance, np.uint64)
        self._pairs = {kind: np.zeros((count, 2)) for kind in ("uniform", "normal")}
        self._left = {kind: np.zeros(count, np.int64) for kind in ("uniform", "normal")}

    def uniform(self, which: Array) -> Array:
        """Return a number in [0, 1) from each of the streams with the indices `which`."""
        return self._draw("uniform", which, distributions.uniform)

    def normal(self, which: Array) -> Array:
        """Return a normal number from each of the streams with the indices `which`."""
        return self._draw("normal", which, distributions.normal)

    def _draw(self, kind: str, which: Array, make: Callable[[Array, dtypes.DType], Array]) -> Array:
        left, pairs = self._left[kind], self._pairs[kind]
        empty = which[left[which] == 0]
        if len(empty):
            pairs[empty] = make(self._blocks(empty), dtypes.float64).reshape(-1, 2)
            left[empty] = 2
        left[which] -= 1
        return pairs[which, left[which]]

    def _blocks(self, which: Array) -> Array:
        """Return the words of the next block of each of these streams."""
        found = self._stream.blocks(self._used[which])
        self._used[which] += np.uint64(1)
        return found.reshape(-1)


_TILE = 1 << 15
"""The number of variates whose state stays in the cache."""


def _rows(draw: Callable[..., Array], stream: Stream, samples: int, *parameters: Array) -> Array:
    """Return a row of variates for each parameter; `draw(stream, first, *parameters)` returns those of one tile.

    Threads share the tiles.
    """
    flat = [np.repeat(np.asarray(given, np.float64).reshape(-1), samples) for given in parameters]
    result = np.empty(len(flat[0]))

    def compute(first: int) -> None:
        tile = slice(first, first + _TILE)
        result[tile] = draw(stream, first, *(given[tile] for given in flat))

    run_all(*(functools.partial(compute, first) for first in range(0, len(result), _TILE)))
    return result.reshape(np.size(parameters[0]), samples)


def gamma(stream: Stream, alpha: Array, samples: int) -> Array:
    """Return a row of gamma variates for each of `alpha`.

    Marsaglia and Tsang, "A simple method for generating gamma variables" (ACM TOMS 26, 2000).

    A variate for `alpha` below 1 is computed from one for `alpha + 1`; for 1 it is -log(1 - u) of a uniform u.
    """
    return _rows(_gamma, stream, samples, alpha)


def _gamma(stream: Stream, first: int, shapes: Array) -> Array:
    streams, result = Streams(stream, first, len(shapes)), np.full(len(shapes), np.nan)
    ones = np.flatnonzero(shapes == 1)
    result[ones] = -np.log1p(-streams.uniform(ones))
    d = shapes + np.where(shapes < 1, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    active = np.flatnonzero((shapes != 1) & (shapes > 0) & np.isfinite(shapes))
    while len(active):
        x = streams.normal(active)
        v = 1 + c[active] * x
        possible = np.flatnonzero(v > 0)
        tried, x, v = active[possible], x[possible], v[possible] ** 3
        u = streams.uniform(tried)
        bound = 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        fits = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < bound)
        taken = tried[fits]
        result[taken] = d[taken] * v[fits]
        small = taken[shapes[taken] < 1]
        result[small] *= streams.uniform(small) ** (1 / shapes[small])
        active = np.delete(active, possible[fits])
    return result


def poisson(stream: Stream, rate: Array, samples: int) -> Array:
    """Return a row of Poisson variates for each rate: Knuth's products below 10, Hörmann's rejection (1993) above."""
    return _rows(_poisson, stream, samples, rate)


def _poisson(stream: Stream, first: int, rates: Array) -> Array:
    streams, result = Streams(stream, first, len(rates)), np.full(len(rates), np.nan)
    _poisson_by_products(streams, rates, result, np.flatnonzero((rates >= 0) & (rates < 10)))
    _poisson_by_rejection(streams, rates, result, np.flatnonzero((rates >= 10) & np.isfinite(rates)))
    return result


def _poisson_by_products(streams: Streams, rates: Array, result: Array, active: Array) -> None:
    product, count, bound = np.ones(len(rates)), np.zeros(len(rates)), np.exp(-rates)
    while len(active):
        product[active] *= streams.uniform(active)
        done = product[active] <= bound[active]
        result[active[done]] = count[active[done]]
        active = active[~done]
        count[active] += 1


def _poisson_by_rejection(streams: Streams, rates: Array, result: Array, active: Array) -> None:
    b = 0.931 + 2.53 * np.sqrt(rates)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while len(active):
        u = streams.uniform(active) - 0.5
        v = streams.uniform(active)
        at, bt, rate = a[active], b[active], rates[active]
        inner = 0.5 - np.abs(u)
        k = np.floor((2 * at / inner + bt) * u + rate + 0.43)
        done = (inner >= 0.07) & (v <= 0.9277 - 3.6224 / (bt - 2))
        unsure = np.flatnonzero(~done & (k >= 0) & ((inner >= 0.013) | (v <= inner)))
        at, bt, rate, inner, v, least = (x[unsure] for x in (at, bt, rate, inner, v, k))
        s = np.log(v * inverse[active[unsure]] / (at / (inner * inner) + bt))
        done[unsure] = s <= -rate + least * np.log(rate) - log_gamma(least + 1)
        result[active[done]] = k[done]
        active = active[~done]


def binomial(stream: Stream, counts: Array, probs: Array, samples: int) -> Array:
    """Return a row of binomial variates for each count and probability.

    The methods are sums of geometric variates, or BTRS (Hörmann 1993).
    """
    return _rows(_binomial, stream, samples, counts, probs)


def _binomial(stream: Stream, first: int, count: Array, prob: Array) -> Array:
    low = np.where(prob <= 0.5, prob, 1 - prob)
    few = count * low < 10
    streams = Streams(stream, first, len(count), np.where(few, _FEW_BLOCKS, distributions.BLOCKS_PER_ELEMENT))
    result = np.full(len(count), np.nan)
    fine = (count >= 0) & np.isfinite(count) & (prob >= 0) & (prob <= 1)
    result[fine & ((low == 0) | (count == 0))] = 0
    usual = fine & (low > 0) & (count > 0)
    _binomial_by_gaps(streams, count, low, result, np.flatnonzero(usual & few))
    _binomial_by_rejection(streams, count, low, result, np.flatnonzero(usual & ~few))
    return np.where(prob <= 0.5, result, count - result)


def _binomial_by_gaps(streams: Streams, count: Array, prob: Array, result: Array, active: Array) -> None:
    total, found = np.zeros(len(count)), np.zeros(len(count))
    while len(active):
        total[active] += np.ceil(np.log(streams.uniform(active)) / np.log1p(-prob[active]))
        done = total[active] > count[active]
        result[active[done]] = found[active[done]]
        active = active[~done]
        found[active] += 1


_TAILS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip
"""The remainder of Stirling's formula for the logarithm of 0!, 1!, … 9!."""


def _tail(k: Array) -> Array:
    squared = (k + 1) * (k + 1)
    far = (1 / 12 - (1 / 360 - 1 / 1260 / squared) / squared) / (k + 1)
    return np.where(k <= 9, _TAILS[np.clip(k, 0, 9).astype(np.int64)], far)


def _binomial_by_rejection(
    streams: Streams, counts: Array, probs: Array, result: Array, active: Array
) -> None:
    while len(active):
        n, p = counts[active], probs[active]
        deviation = np.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        u = streams.uniform(active)
        v = streams.uniform(active)
        u = u - 0.5
        inner = 0.5 - np.abs(u)
        k = np.floor((2 * a / inner + b) * u + n * p + 0.5)
        done = (inner >= 0.07) & (v <= 0.92 - 4.2 / b)
        unsure = np.flatnonzero(~done & (k >= 0) & (k <= n))
        done[unsure] = _is_likely(*(x[unsure] for x in (k, n, p, v, a, b, deviation, inner)))
        result[active[done]] = k[done]
        active = active[~done]


def _is_likely(
    k: Array, n: Array, p: Array, v: Array, a: Array, b: Array, deviation: Array, inner: Array
) -> Array:
    """Return which candidates are accepted by the logarithm of their probability."""
    ratio, middle = p / (1 - p), np.floor((n + 1) * p)
    alpha = (2.83 + 5.1 / b) * deviation
    bound = (
        (middle + 0.5) * np.log((middle + 1) / (ratio * (n - middle + 1)))
        + (n + 1) * np.log((n - middle + 1) / (n - k + 1))
        + (k + 0.5) * np.log(ratio * (n - k + 1) / (k + 1))
        + _tail(middle) + _tail(n - middle) - _tail(k) - _tail(n - k)
    )  # fmt: skip
    return np.log(v * alpha / (a / (inner * inner) + b)) <= bound


def between(
    stream: Stream, parameters: tuple[Array, Array, Array, Array], samples: int, dtype: dtypes.DType
) -> Array:
    """Return a row of normal variates between the bounds for each mean, deviation, lower and upper bound.

    Robert, "Simulation of truncated normal variables" (Statistics and Computing 5, 1995): normal, uniform or
    exponential candidates, depending on the bounds. Raises ValueError for an empty range or invalid parameters.
    """
    wide = dtype if dtype is dtypes.float64 else dtypes.float32
    rows = np.empty((len(parameters[0]), samples), dtype.numpy_dtype)
    for row, given in zip(rows, zip(*parameters, strict=True), strict=True):
        row[:] = _between(stream, tuple(map(wide.as_numpy_dtype, given)), samples, wide)
    return rows


def _between(stream: Stream, parameters: tuple[Any, ...], samples: int, dtype: dtypes.DType) -> Array:
    mean, deviation, low, high = parameters
    if not (deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
        raise ValueError(
            f"Invalid parameters: mean {mean}, stddev {deviation}, minval {low}, maxval {high}: stddev must be "
            "positive, minval below maxval and one of them finite"
        )
    if (np.isinf(low) and low < 0) or high < mean:
        low, high, deviation = high, low, -deviation
    low, high = (low - mean) / deviation, (high - mean) / deviation
    kind = type(mean)
    root = np.sqrt(low * low + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + low * (low - root) / kind(4)) / (low + root)
    blocks = 1
    if (low < -1.3 and high >= 0) or (high > 1.3 and low <= 0):
        candidates = _normal_candidates
    elif high - low < cutoff:
        candidates, blocks = _uniform_candidates, 2
    else:
        candidates = _exponential_candidates

    def tried(bits: Array) -> tuple[Array, Array]:
        return candidates(bits, low, high, dtype)

    return _accepted(stream, tried, blocks, samples) * deviation + mean


_MOST_GROUPS = 1 << 16
"""The maximum number of blocks, or pairs of blocks, drawn at once when few candidates are accepted."""


def _accepted(
    stream: Stream, tried: Callable[[Array], tuple[Array, Array]], blocks: int, samples: int
) -> Array:
    """Return the first accepted candidates; the stream continues after the group of blocks of the last one.

    `tried` takes groups of blocks, and returns rows of candidates and a mask of the accepted ones.
    """
    found, missing, groups = [], samples, samples // 2 + 2
    while missing > 0:
        values, fits = tried(stream.bits(stream.counter, groups * blocks).reshape(groups, blocks, 4))
        counts = np.cumsum(fits.sum(axis=1))
        used = min(int(np.searchsorted(counts, missing)) + 1, groups)
        stream.reserve(used * blocks)
        found.append(values[:used][fits[:used]][:missing])
        missing -= len(found[-1])
        groups = min(groups * 2, _MOST_GROUPS)
    return np.concatenate(found) if found else np.empty(0)


def _normal_candidates(bits: Array, low: Any, high: Any, dtype: dtypes.DType) -> tuple[Array, Array]:
    values = distributions.normal(bits.reshape(-1), dtype).reshape(len(bits), -1)
    return values, (low <= values) & (values <= high)


def _uniform_candidates(bits: Array, low: Any, high: Any, dtype: dtypes.DType) -> tuple[Array, Array]:
    kind = type(low)
    units = distributions.uniform(bits.reshape(-1), dtype).reshape(len(bits), 2, -1)
    top = kind(0) if low < 0 else low * low
    z = units[:, 0] * (high - low) + low
    return z, units[:, 1] <= np.exp((top - z * z) / kind(2))


def _exponential_candidates(bits: Array, low: Any, high: Any, dtype: dtypes.DType) -> tuple[Array, Array]:
    kind = type(low)
    alpha = (low + np.sqrt(low * low + kind(4))) / kind(2)
    units = distributions.uniform(bits.reshape(-1), dtype).reshape(len(bits), -1, 2)
    z = -np.log(units[..., 0]) / alpha + low
    x = alpha - z if low < alpha else np.full_like(z, low - alpha)
    return z, (units[..., 1] <= np.exp(-x * x / kind(2))) & (z < high)
