"""Many blocks of Philox in Python's integers: a word of each block has a lane of 64 bits, where products have room.

    c0 = 5 << 64 | 3        the first words of two blocks, 3 and 5
    c0 * 0xD2511F53         both products

Up to a hundred blocks this takes less time than arrays, each of whose operations costs as much as a few blocks.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

LOW = 0xFFFFFFFF
MOST = 128
"""For more blocks arrays are quicker."""

Words = tuple[int, int, int, int]
Array = np.ndarray[Any, Any]


@functools.lru_cache(maxsize=MOST)
def ones(count: int) -> int:
    """The number 1 in each of so many lanes.

    >>> hex(ones(2))
    '0x10000000000000001'
    """
    return sum(1 << 64 * i for i in range(count))


@functools.lru_cache(maxsize=MOST)
def places(count: int) -> int:
    """In each lane its number, from 0 on."""
    return sum(i << 64 * i for i in range(count))


def of_array(numbers: Array) -> int:
    """The elements of a vector of uint64, each in a lane."""
    return int.from_bytes(numbers.astype("<u8", copy=False).tobytes(), "little")


def halves(lanes: int, count: int) -> tuple[int, int]:
    """The low and the high words of what is in the lanes."""
    mask = ones(count) * LOW
    return lanes & mask, lanes >> 32 & mask


def mixed(rounds: Iterable[tuple[int, int]], words: Words, count: int) -> Words:
    """The words of blocks after all rounds; the keys of the rounds are in lanes as well."""
    mask = ones(count) * LOW
    c0, c1, c2, c3 = words
    for k0, k1 in rounds:
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1 = (p1 >> 32 & mask) ^ c1 ^ k0, p1 & mask
        c2, c3 = (p0 >> 32 & mask) ^ c3 ^ k1, p0 & mask
    return c0, c1, c2, c3


def rows(words: Words, count: int) -> Array:
    """The words as an array of uint32 with four columns, and a row for each block.

    >>> rows((3, 1, 4, 1), 1).tolist()
    [[3, 1, 4, 1]]
    """
    found = np.empty((count, 2), "<u8")
    for column, (low, high) in enumerate((words[:2], words[2:])):
        found[:, column] = np.frombuffer((low | high << 32).to_bytes(8 * count, "little"), "<u8")
    return found.view("<u4")
