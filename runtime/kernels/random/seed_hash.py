"""The streams of stateless seeds: one Philox block scrambles a seed, so that nearby seeds share no numbers.

    seed (7, 3) → a key and a counter → a stream with its first block at the counter

Operations with many seeds at a time use `blocks`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import philox_bigint
from .philox import STEPS, Stream, mix, rounds_of, words_by

Array = np.ndarray[Any, Any]

SCRAMBLING = (0x3EC8F720, 0x02461E29)
"""The key that scrambles seeds. Any key would do; this one gives TensorFlow's numbers."""

_ROUNDS = rounds_of(SCRAMBLING)
_LOW = np.uint64(philox_bigint.LOW)
_ALL = (1 << 64) - 1


def stream(first: int, second: int) -> Stream:
    """Return the stream of a seed of two numbers; only their lowest 64 bits count."""
    first, second = first & _ALL, second & _ALL
    low = philox_bigint.LOW
    k0, k1, c0, c1 = words_by(_ROUNDS, first & low, first >> 32, second & low, second >> 32)
    return Stream(k0 | k1 << 32, c0 | c1 << 32)


def blocks(seed: tuple[int, int], step: tuple[int, int], count: int, each: int) -> Array:
    """Return the first `each` blocks of `count` seeds that differ by `step`: an array of uint32 [count, each, 4].

    >>> known = stream(7, 4).bits(stream(7, 4).counter, 2)
    >>> bool((blocks((7, 3), (0, 1), 3, 2)[1] == known).all())
    True
    """
    k0, k1, c0, c1 = _scrambled(seed, step, count)
    if each == 1:
        return philox_bigint.rows(_in_lanes(k0, k1, (0, 0, c0, c1), count), count).reshape(count, 1, 4)
    streams = philox_bigint.rows((k0, k1, c0, c1), count).astype(np.uint64)
    if count * each > philox_bigint.MOST:
        return _in_arrays(streams, each)
    k0, k1, c0, c1 = (philox_bigint.of_array(np.repeat(column, each)) for column in streams.T)
    numbers = philox_bigint.of_array(np.tile(np.arange(each, dtype=np.uint64), count))
    found = philox_bigint.rows(_in_lanes(k0, k1, (numbers, 0, c0, c1), count * each), count * each)
    return found.reshape(count, each, 4)


def _in_arrays(streams: Array, each: int) -> Array:
    """Return the first blocks of streams; each row has a key and a counter."""
    shape = len(streams), each
    k0, k1, c0, c1 = (column[:, None] for column in streams.T)
    words = [
        np.broadcast_to(word, shape).copy()
        for word in (np.arange(each, dtype=np.uint64), np.uint64(0), c0, c1)
    ]
    mix([((k0 + np.uint64(a)) & _LOW, (k1 + np.uint64(b)) & _LOW) for a, b in STEPS], words)
    return np.stack(words, axis=-1).astype(np.uint32)


def _scrambled(seed: tuple[int, int], step: tuple[int, int], count: int) -> philox_bigint.Words:
    """Return the keys and counters of the seeds' streams, each word in the lanes of one big integer."""
    numbers = np.arange(count, dtype=np.uint64)
    (low0, high0), (low1, high1) = (
        philox_bigint.halves(
            philox_bigint.of_array(numbers * np.uint64(by & _ALL) + np.uint64(start & _ALL)), count
        )
        for start, by in zip(seed, step, strict=True)
    )
    return philox_bigint.mixed(_scrambling(count), (low0, high0, low1, high1), count)


@functools.lru_cache(maxsize=8)
def _scrambling(count: int) -> tuple[tuple[int, int], ...]:
    ones = philox_bigint.ones(count)
    return tuple((k0 * ones, k1 * ones) for k0, k1 in _ROUNDS)


def _in_lanes(k0: int, k1: int, words: philox_bigint.Words, count: int) -> philox_bigint.Words:
    """Return the words of one block for each key."""
    ones = philox_bigint.ones(count)
    mask = ones * philox_bigint.LOW

    def rounds() -> Iterator[tuple[int, int]]:
        for a, b in STEPS:
            yield k0 + a * ones & mask, k1 + b * ones & mask

    return philox_bigint.mixed(rounds(), words, count)
