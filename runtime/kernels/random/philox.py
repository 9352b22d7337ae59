"""Counter-based random bits: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011).

    block(key, counter) = four words of 32 bits        the same key and counter always give the same words

The counter is the only state, so any block can be computed at any time, and many at once. A `Stream` is a
key with the counter of its next block.

    the extension `_native_draws`     C, if it has been built
    few blocks                        Python integers
    many blocks                       arrays of uint64, in chunks that stay in the cache

>>> [hex(word) for word in words(0, (0, 0, 0, 0))]
['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
"""

from __future__ import annotations

from typing import Any

import numpy as np

native: Any
try:
    from . import _native_draws as native  # type: ignore[attr-defined, no-redef, unused-ignore]
except ImportError:  # the package has been installed without a C compiler
    native = None

_LOW = 0xFFFFFFFF
_ALL = (1 << 64) - 1
_FEW = 16  # blocks that take less time one by one than as arrays
_MANY = 4096  # blocks per chunk

Array = np.ndarray[Any, Any]


def words(key: int, counter: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the four words of a block, or of many: the counter's words are integers, or arrays of uint64."""
    c0, c1, c2, c3 = counter
    k0, k1 = key & _LOW, key >> 32
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & _LOW, p0 >> 32 ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + 0x9E3779B9) & _LOW, (k1 + 0xBB67AE85) & _LOW
    return c0, c1, c2, c3


class Stream:
    """The blocks of one key, from a counter on."""

    __slots__ = ("counter", "key")

    def __init__(self, seed: int, seed2: int) -> None:
        self.key = seed & _ALL
        self.counter = (seed2 & _ALL) << 64

    def reserve(self, count: int) -> int:
        """Return the counter of the next block, and advance the stream by `count` blocks."""
        first = self.counter
        self.counter = (first + count) & (1 << 128) - 1
        return first

    def block(self, counter: int) -> tuple[int, int, int, int]:
        """Return the words of the block at a counter."""
        return words(self.key, _words_of(counter & _ALL, counter >> 64 & _ALL))

    def blocks(self, offsets: Array) -> Array:
        """Return the blocks at these offsets (uint64) from the next one: an array of uint32 with four columns."""
        found = np.empty((len(offsets), 4), np.uint32)
        base, above = self.counter & _ALL, self.counter >> 64
        if native is not None:
            native.words_at(found, self.key, base, above, np.ascontiguousarray(offsets))
        else:
            low = np.uint64(base) + offsets
            high = np.uint64(above) + (low < np.uint64(base)).astype(np.uint64)
            found.T[:] = words(self.key, _words_of(low, high))
        return found

    def bits(self, first: int, count: int, step: int = 1) -> Array:
        """Return `count` blocks at the counters first, first + step, …: an array of uint32 with four columns."""
        found = np.empty((count, 4), np.uint32)
        if native is not None:
            native.words(found, self.key, first, first >> 64, step)
        elif count <= _FEW:
            for i in range(count):
                found[i] = self.block(first + i * step)
        else:
            for start in range(0, count, _MANY):
                chunk = found[start : start + _MANY]
                low = np.arange(start, start + len(chunk), dtype=np.uint64) * np.uint64(step)
                low += np.uint64(first & _ALL)
                high = (low < np.uint64(first & _ALL)) + np.uint64(first >> 64 & _ALL)
                chunk.T[:] = words(self.key, _words_of(low, high))
        return found


def _words_of(low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
    """Return the words of counters with these halves."""
    return low & _LOW, low >> 32, high & _LOW, high >> 32
