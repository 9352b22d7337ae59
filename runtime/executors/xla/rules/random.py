"""Rules of random numbers: the same numbers as the other executors draw, from the same streams.

    seed (a, b)                  scrambled by one Philox block ──► key, counter
    state (low, high, key)       the counter and the key themselves
    counter + i                  four words of 32 bits for each block i ──► uniform numbers ──► normal numbers

uniform numbers and integers are equal to the last bit; normal ones to the last bits of logarithms and sines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .... import dtypes
from ....kernels.random.distributions import BLOCKS_PER_ELEMENT
from ....kernels.random.seed_hash import SCRAMBLING
from ....ops.random.rng_state import blocks_after
from ..rule_registry import lowers

Array = Any

_FACTORS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)
_DIGITS = {dtypes.float16: 10, dtypes.bfloat16: 7, dtypes.float32: 23, dtypes.float64: 52}
_SMALLEST = 1.0e-7  # lower bound for the argument of the logarithm


_FEW = 256
"""Up to this number of blocks, rounds are a loop: it compiles much faster than ten rounds one after the other."""


def _words(key: tuple[Array, Array], counter: tuple[Array, Array, Array, Array]) -> Sequence[Array]:
    """Return the words of the blocks with these counters of four words, all of them uint32."""
    state = (*key, *counter)
    count = np.size(counter[0])
    if isinstance(count, int) and count <= _FEW:
        return lax.fori_loop(0, 10, lambda _, state: _round(*state), state)[2:]
    for _ in range(10):
        state = _round(*state)
    return state[2:]


def _round(k0: Array, k1: Array, c0: Array, c1: Array, c2: Array, c3: Array) -> tuple[Array, ...]:
    """Return the key and the words after a round."""
    (low0, high0), (low1, high1) = (
        _halves(word.astype(np.uint64) * np.uint64(factor))
        for word, factor in zip((c0, c2), _FACTORS, strict=True)
    )
    mixed = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0)
    return k0 + np.uint32(_STEPS[0]), k1 + np.uint32(_STEPS[1]), *mixed


def _halves(value: Array) -> tuple[Array, Array]:
    """Return the lower and the upper word of 64 bits."""
    return value.astype(np.uint32), (value >> np.uint64(32)).astype(np.uint32)


def _joined(low: Array, high: Array) -> Array:
    """Return two words as one of 64 bits."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


class _Blocks(NamedTuple):
    """A stream of blocks: its key, and the lower and upper half of its first counter, as uint64."""

    key: Array
    low: Array
    high: Array

    def words(self, numbers: Array) -> Array:
        """Return the words of the blocks with these numbers, in an additional last axis."""
        low = self.low + numbers.astype(np.uint64)
        high = self.high + (low < self.low).astype(np.uint64)
        return jnp.stack(_words(_halves(self.key), (*_halves(low), *_halves(high))), -1)

    def drawn(self, count: int, dtype: dtypes.DType) -> Array:
        """Return the words for `count` numbers; numbers of 64 bits take two words, joined."""
        needed = count * (2 if dtype.size == 8 else 1)
        bits = self.words(jnp.arange(-(-needed // 4), dtype=np.uint64)).reshape(-1)
        return _joined(bits[0::2], bits[1::2]) if dtype.size == 8 else bits


def blocks_of(seed: Array) -> _Blocks:
    """Return the stream of a seed: two numbers, or a state of three."""
    parts = jnp.asarray(seed).astype(np.int64).astype(np.uint64)
    if parts.shape[0] == 3:
        return _Blocks(parts[2], parts[0], parts[1])
    scrambling = (jnp.uint32(SCRAMBLING[0]), jnp.uint32(SCRAMBLING[1]))
    k0, k1, c0, c1 = _words(scrambling, (*_halves(parts[0]), *_halves(parts[1])))
    return _Blocks(_joined(k0, k1), jnp.uint64(0), _joined(c0, c1))


def _uniform(words: Array, dtype: dtypes.DType) -> Array:
    """Return numbers in [0, 1): one from each word, or from two words for float64."""
    kind: Any = np.float64 if dtype is dtypes.float64 else np.float32
    if dtype is dtypes.float64:
        words = words << np.uint64(32) | words >> np.uint64(32)
    digits = _DIGITS[dtype]
    return (words & words.dtype.type((1 << digits) - 1)).astype(kind) * kind(2.0**-digits)


@lowers("stateless_random_uniform")
def _(site: Any, shape: Array, seed: Array) -> Array:
    dtype, count = site.attrs["dtype"], math.prod(site.shape)
    numbers = _uniform(blocks_of(seed).drawn(count, dtype), dtype)
    return numbers[:count].astype(site.dtype).reshape(site.shape)


@lowers("stateless_random_integers")
def _(site: Any, shape: Array, seed: Array, minval: Array, maxval: Array) -> Array:
    dtype, count = site.operation.outputs[0].dtype, math.prod(site.shape)
    low, high = (jnp.asarray(x).astype(np.int64) for x in (minval, maxval))
    site.demand(low < high)
    drawn = blocks_of(seed).drawn(count, dtype)
    choices = jnp.maximum((high - low).astype(drawn.dtype), np.ones((), drawn.dtype))
    number = drawn % choices + low.astype(drawn.dtype)
    return number[:count].astype(site.dtype).reshape(site.shape)


@lowers("full_integers")
def _(site: Any, shape: Array, seed: Array) -> Array:
    count = math.prod(site.shape)
    drawn = blocks_of(seed).drawn(count, site.attrs["dtype"])
    return drawn[:count].astype(site.dtype).reshape(site.shape)


def _normal(words: Array, dtype: dtypes.DType) -> Array:
    """Return as many normal numbers as uniform ones along the last axis, rounded after each step."""
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    kind = wide.numpy_dtype
    units = _uniform(words, wide).astype(np.float64)
    first, second = units[..., 0::2], units[..., 1::2]
    logarithm = jnp.log(jnp.maximum(first, float(kind.type(_SMALLEST)))).astype(kind)
    radius = jnp.sqrt(kind.type(-2) * logarithm)
    angle = (2 * math.pi * second).astype(kind).astype(np.float64)
    pairs = [function(angle).astype(kind) * radius for function in (jnp.sin, jnp.cos)]
    return jnp.stack(pairs, -1).reshape(units.shape)


@lowers("stateless_random_normal")
def _(site: Any, shape: Array, seed: Array) -> Array:
    count, dtype = math.prod(site.shape), site.attrs["dtype"]
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    even = -(-count // 2) * 2
    numbers = _normal(blocks_of(seed).drawn(-(-even // 4) * 4, wide), wide)
    return numbers[:count].astype(site.dtype).reshape(site.shape)


@lowers("stateless_random_truncated_normal")
def _(site: Any, shape: Array, seed: Array) -> Array:
    count, dtype = math.prod(site.shape), site.attrs["dtype"]
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    numbers = _truncated(blocks_of(seed), count, wide)
    return numbers[:count].astype(site.dtype).reshape(site.shape)


def _truncated(blocks: _Blocks, count: int, wide: dtypes.DType) -> Array:
    """Return normal numbers in (-2, 2): groups of a block's size, each of which draws blocks until it is full."""
    size = 2 if wide is dtypes.float64 else 4
    groups = -(-count // size)
    firsts = jnp.arange(groups, dtype=np.uint64) * np.uint64(size * BLOCKS_PER_ELEMENT // 4)
    rows = jnp.arange(groups)[:, None]

    def step(state: Any) -> Any:
        used, kept, found = state
        words = blocks.words(firsts + used)
        if size == 2:
            words = _joined(words[..., 0::2], words[..., 1::2])
        drawn = _normal(words, wide)
        fits = jnp.abs(drawn) < 2
        places = jnp.where(fits, kept[:, None] + jnp.cumsum(fits, 1) - 1, size)
        found = found.at[rows, places].set(drawn, mode="drop")
        return used + np.uint64(1), kept + fits.sum(1), found

    start = (jnp.uint64(0), jnp.zeros(groups, np.int64), jnp.zeros((groups, size), wide.numpy_dtype))
    return lax.while_loop(lambda state: (state[1] < size).any(), step, start)[2].reshape(-1)


@lowers("stream_after_drawing")
def _(site: Any, state: Array, drawn: Array) -> Array:
    return _moved(state, blocks_after(site.attrs["drawing"], drawn.shape))


@lowers("stream_after")
def _(site: Any, state: Array, count: Array) -> Array:
    return _moved(state, jnp.prod(jnp.asarray(count).astype(np.int64)) * site.attrs["each"])


def _moved(state: Array, blocks: Any) -> Array:
    """Return the state of a stream after some blocks: its counter has 128 bits."""
    low, high, key = jnp.asarray(state).astype(np.uint64)
    moved = low + jnp.asarray(blocks).astype(np.uint64)
    carried = high + (moved < low).astype(np.uint64)
    return jnp.stack([moved, carried, key]).astype(np.int64)


@lowers("seeded_shuffle")
def _(site: Any, value: Array, seed: Array) -> Array:
    """Exchange each row with one at or after it, as Fisher and Yates do."""
    count = value.shape[0]
    needed = max(count - 1, 0)
    words = blocks_of(seed).words(jnp.arange(-(-needed // 4), dtype=np.uint64)).reshape(-1)

    def exchanged(i: Array, order: Array) -> Array:
        j = i + (words[i] % (count - i).astype(np.uint32)).astype(np.int64)
        return order.at[i].set(order[j]).at[j].set(order[i])

    order = lax.fori_loop(0, needed, exchanged, jnp.arange(count)) if needed else jnp.arange(count)
    return jnp.take(jnp.asarray(value), order, 0, mode="clip")


@lowers("seeded_categorical")
def _(site: Any, logits: Array, num_samples: Array, seed: Array) -> Array:
    rows, count = site.shape
    units = _uniform(blocks_of(seed).drawn(rows * count, dtypes.float64), dtypes.float64)
    wide = jnp.asarray(logits).astype(np.float64)
    weights = jnp.exp(wide - jnp.max(wide, 1, keepdims=True))
    heights = jnp.cumsum(jnp.where(jnp.isfinite(wide), weights, 0.0), 1)
    tops = units[: rows * count].reshape(rows, count) * heights[:, -1:]
    return jax.vmap(lambda row, top: jnp.searchsorted(row, top, "right"))(heights, tops)
