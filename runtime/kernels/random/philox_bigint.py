"""Many Philox blocks in Python integers: each block's word has a 64-bit lane, with room for products.

    c0 = 5 << 64 | 3        the first words of two blocks, 3 and 5
    c0 * 0xD2511F53         both products

Up to about a hundred blocks this is faster than arrays, whose operations each cost as much as a few blocks.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

LOW = 0xFFFFFFFF
MOST = 128
"""The maximum number of blocks; for more, arrays are faster."""

Words = tuple[int, int, int, int]
Array = np.ndarray[Any, Any]


@functools.lru_cache(maxsize=MOST)
def ones(count: int) -> int:
    """Return an integer with 1 in each of `count` lanes.

    >>> hex(ones(2))
    '0x10000000000000001'
    """
    return sum(1 << 64 * i for i in range(count))


@functools.lru_cache(maxsize=MOST)
def places(count: int) -> int:
    """Return an integer with each lane's index in that lane."""
    return sum(i << 64 * i for i in range(count))


def of_array(numbers: Array) -> int:
    """Return an integer with each element of a uint64 vector in a lane."""
    return int.from_bytes(numbers.astype("<u8", copy=False).tobytes(), "little")


def halves(lanes: int, count: int) -> tuple[int, int]:
    """Return the low and the high words of the lanes."""
    mask = ones(count) * LOW
    return lanes & mask, lanes >> 32 & mask


def mixed(rounds: Iterable[tuple[int, int]], words: Words, count: int) -> Words:
    """Return the words of blocks after all rounds; the round keys are in lanes as well."""
    mask = ones(count) * LOW
    c0, c1, c2, c3 = words
    for k0, k1 in rounds:
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1 = (p1 >> 32 & mask) ^ c1 ^ k0, p1 & mask
        c2, c3 = (p0 >> 32 & mask) ^ c3 ^ k1, p0 & mask
    return c0, c1, c2, c3


def rows(words: Words, count: int) -> Array:
    """Return the words as an array of uint32 with four columns, and a row for each block.

    >>> rows((3, 1, 4, 1), 1).tolist()
    [[3, 1, 4, 1]]
    """
    found = np.empty((count, 2), "<u8")
    for column, (low, high) in enumerate((words[:2], words[2:])):
        found[:, column] = np.frombuffer((low | high << 32).to_bytes(8 * count, "little"), "<u8")
    return found.view("<u4")
