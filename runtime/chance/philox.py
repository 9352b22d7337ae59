"""Random bits from a counter: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011).

    block(key, counter) = four words of 32 bits        the same key and counter give the same words, always

There is no state but the counter, so any block can be computed at any time, and many at once. A `Stream` is a
key with the counter of its next block.

>>> [hex(word) for word in words((0, 0), (0, 0, 0, 0))]
['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LOW = 0xFFFFFFFF
_FEW = 8  # up to so many blocks, Python's integers are quicker than arrays


def words(key: tuple[int, int], counter: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """The four words of a block, or of many: the counter's words are integers, or arrays of uint64."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & _LOW, (p0 >> 32) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + 0x9E3779B9) & _LOW, (k1 + 0xBB67AE85) & _LOW
    return c0, c1, c2, c3


class Stream:
    """The blocks of one key, from a counter on."""

    __slots__ = ("counter", "key")

    def __init__(self, seed: int, seed2: int) -> None:
        self.key = (seed & _LOW, seed >> 32 & _LOW)
        self.counter = (seed2 & (1 << 64) - 1) << 64

    def reserve(self, count: int) -> int:
        """The counter of the next block; the stream moves on by `count` blocks."""
        first = self.counter
        self.counter = (first + count) & (1 << 128) - 1
        return first

    def bits(self, first: int, count: int, step: int = 1) -> np.ndarray[Any, Any]:
        """`count` blocks at the counters first, first + step, …: an array of uint32 with four columns."""
        if count <= _FEW:
            rows = [words(self.key, _words_of(first + i * step)) for i in range(count)]
            return np.array(rows, np.uint32).reshape(count, 4)
        low, high = first & (1 << 64) - 1, first >> 64
        position = np.uint64(low) + np.arange(count, dtype=np.uint64) * np.uint64(step)
        above = np.uint64(high) + (position < np.uint64(low)).astype(np.uint64)
        mask, shift = np.uint64(_LOW), np.uint64(32)
        counter = (position & mask, position >> shift, above & mask, above >> shift)
        return np.stack(words(self.key, counter), axis=-1).astype(np.uint32)


def _words_of(counter: int) -> tuple[int, int, int, int]:
    return counter & _LOW, counter >> 32 & _LOW, counter >> 64 & _LOW, counter >> 96 & _LOW
