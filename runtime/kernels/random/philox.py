"""Counter-based random bits: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011).

    block(key, counter) = four words of 32 bits        the same key and counter always give the same words

The counter is the only state, so any block can be computed at any time, and many at once. A `Stream` is a
key with the counter of its next block.

    one block      Python integers
    some           big integers with a lane per block: see `philox_bigint`
    many           arrays of uint64, in chunks that stay in the cache

>>> [hex(word) for word in words((0, 0), (0, 0, 0, 0))]
['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import philox_bigint

_LOW = 0xFFFFFFFF
_MANY = 4096  # blocks per chunk
STEPS = tuple((i * 0x9E3779B9 & _LOW, i * 0xBB67AE85 & _LOW) for i in range(10))
"""The increments of the key for each of the ten Philox rounds."""

_FACTOR_0, _FACTOR_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_MASK, _HALF = np.uint64(_LOW), np.uint64(32)

Rounds = Sequence[tuple[int, int]]


def rounds_of(key: tuple[int, int]) -> Rounds:
    """Return the keys of the ten Philox rounds."""
    k0, k1 = key
    return [((k0 + a) & _LOW, (k1 + b) & _LOW) for a, b in STEPS]


def words(key: tuple[int, int], counter: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the four words of a block, or of many: the counter's words are integers, or arrays of uint64."""
    return words_by(rounds_of(key), *counter)


def words_by(rounds: Rounds, c0: Any, c1: Any, c2: Any, c3: Any) -> tuple[Any, Any, Any, Any]:
    """Return the four words of a block, or of many, given the round keys."""
    for k0, k1 in rounds:
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & _LOW, p0 >> 32 ^ c3 ^ k1, p0 & _LOW
    return c0, c1, c2, c3


class Stream:
    """The blocks of one key, from a counter on."""

    __slots__ = ("counter", "key", "rounds")

    def __init__(self, seed: int, seed2: int) -> None:
        self.key = (seed & _LOW, seed >> 32 & _LOW)
        self.counter = (seed2 & (1 << 64) - 1) << 64
        self.rounds = rounds_of(self.key)

    def reserve(self, count: int) -> int:
        """Return the counter of the next block, and advance the stream by `count` blocks."""
        first = self.counter
        self.counter = (first + count) & (1 << 128) - 1
        return first

    def block(self, counter: int) -> tuple[int, int, int, int]:
        """Return the words of the block at a counter."""
        return words_by(
            self.rounds, counter & _LOW, counter >> 32 & _LOW, counter >> 64 & _LOW, counter >> 96 & _LOW
        )

    def bits(self, first: int, count: int, step: int = 1) -> np.ndarray[Any, Any]:
        """Return `count` blocks at the counters first, first + step, …: an array of uint32 with four columns."""
        if count == 1:
            return np.array([self.block(first)], np.uint32)
        if 0 < count <= philox_bigint.MOST and (first & (1 << 64) - 1) + count * step < 1 << 64:
            return self._some(first, count, step)
        found = np.empty((count, 4), np.uint32)
        for start in range(0, count, _MANY):
            self._many(first, start, step, found[start : start + _MANY])
        return found

    def _some(self, first: int, count: int, step: int) -> np.ndarray[Any, Any]:
        ones = philox_bigint.ones(count)
        c0, c1 = philox_bigint.halves(
            (first & (1 << 64) - 1) * ones + philox_bigint.places(count) * step, count
        )
        rounds = [(k0 * ones, k1 * ones) for k0, k1 in self.rounds]
        words = philox_bigint.mixed(
            rounds, (c0, c1, (first >> 64 & _LOW) * ones, (first >> 96) * ones), count
        )
        return philox_bigint.rows(words, count)

    def _many(self, first: int, start: int, step: int, found: np.ndarray[Any, Any]) -> None:
        """Fill rows with the words of blocks; the first block is `start` steps after `first`."""
        low, high = first & (1 << 64) - 1, first >> 64
        counter = np.arange(start, start + len(found), dtype=np.uint64)
        counter *= np.uint64(step)
        counter += np.uint64(low)
        above = (counter < np.uint64(low)) + np.uint64(high)
        rounds = [(np.uint64(k0), np.uint64(k1)) for k0, k1 in self.rounds]
        words = [counter & _MASK, counter >> _HALF, above & _MASK, above >> _HALF]
        mix(rounds, words)
        for column, word in enumerate(words):
            found[:, column] = word


def mix(rounds: Sequence[tuple[Any, Any]], words: Sequence[np.ndarray[Any, Any]]) -> None:
    """Apply all Philox rounds in place to four arrays of words; the round keys are uint64 numbers or arrays."""
    c0, c1, c2, c3 = words
    p0, p1 = np.empty_like(c0), np.empty_like(c0)
    for k0, k1 in rounds:
        np.multiply(c0, _FACTOR_0, out=p0)
        np.multiply(c2, _FACTOR_1, out=p1)
        for product, key, above, below in ((p1, k0, c0, c1), (p0, k1, c2, c3)):
            np.right_shift(product, _HALF, out=above)
            np.bitwise_xor(above, below, out=above)
            np.bitwise_xor(above, key, out=above)
            np.bitwise_and(product, _MASK, out=below)
