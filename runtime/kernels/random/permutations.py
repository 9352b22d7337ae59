"""Random permutations: orders of all numbers of a range, and images of single numbers under a cipher."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import philox
from .philox import Stream

Array = Any

_SIMON = 0x7369F885192C0EF5
"""The constants of the cipher's key schedule."""

_SMALLEST = np.uint64(8)
"""The smallest half of a block of the cipher, in bits."""

_PATIENCE = 40
"""The number of applications of the cipher after which cycle walking to a small range uses a table."""


def shuffled(stream: Stream, count: int) -> Array:
    """Return the numbers below `count` in a random order (Fisher and Yates); takes a word for each but the last."""
    blocks = -(-max(count - 1, 0) // 4)
    drawn = stream.bits(stream.reserve(blocks), blocks)
    if philox.native is not None:
        order = np.arange(count, dtype=np.int64)
        philox.native.shuffle(order, drawn)
        return order
    numbers = list(range(count))
    for i, word in enumerate(drawn.reshape(-1)[: max(count - 1, 0)].tolist()):
        j = i + word % (count - i)
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return np.array(numbers, np.int64)


def permuted(index: Array, keys: Array, top: Array, rounds: int) -> Array:
    """Return the images of `index` under a permutation of 0, 1, … `top`, given by a key of three words.

    The permutation is a block cipher (after Simon, Beaulieu and others, 2013) with cycle walking: it is applied again
    to results above `top`.
    """
    size = np.ceil(np.log2(np.maximum(top, 1).astype(np.float64))).astype(np.uint64)
    half = np.maximum(size + size % np.uint64(2), 2 * _SMALLEST) // np.uint64(2)
    drawn = round_keys(keys.astype(np.int64).view(np.uint64).T, half, rounds)
    result, last = index.astype(np.uint64), top.astype(np.uint64)
    active = np.arange(len(result))
    rounds_left = _PATIENCE
    while len(active):
        result[active] = enciphered(result[active], drawn[:, active], half[active])
        active = active[result[active] > last[active]]
        rounds_left -= 1
        if not rounds_left:  # the range is much smaller than the smallest cipher
            small = half[active] == _SMALLEST
            for columns in _with_one_key(active[small], drawn):
                result[columns] = _walked(result[columns], drawn[:, columns[0]], last[columns])
            active = active[~small]
    return result.astype(np.int64)


def _with_one_key(columns: Array, keys: Array) -> Iterable[Array]:
    """Yield the positions grouped by their columns of keys."""
    groups: dict[bytes, list[int]] = {}
    for column in columns.tolist():
        groups.setdefault(keys[:, column].tobytes(), []).append(column)
    return map(np.array, groups.values())


def _walked(numbers: Array, keys: Array, last: Array) -> list[int]:
    """Apply the smallest cipher to each number until it is at most `last`, by a table of the cipher."""
    table = enciphered(np.arange(1 << 16, dtype=np.uint64), keys, _SMALLEST).tolist()
    found = []
    for number, largest in zip(numbers.tolist(), last.tolist(), strict=True):
        while number > largest:
            number = table[number]
        found.append(number)
    return found


def enciphered(index: Array, keys: Array, half: Array) -> Array:
    """Apply the cipher once to numbers of twice `half` bits."""
    mask = _mask(half)
    left, right = index & mask, index >> half & mask
    for round_key in keys:
        turned = _turned(left, 1, half) & _turned(left, 8, half) ^ _turned(left, 2, half)
        left, right = right ^ turned ^ round_key, left
    return right << half | left


def _mask(half: Array) -> Array:
    return (np.uint64(1) << half) - np.uint64(1)


def round_keys(key: Array, half: Array, rounds: int) -> Array:
    """Return the round keys, a row for each round."""
    mask = _mask(half)
    keys, constants = [part & mask for part in key], np.uint64(_SIMON) & mask
    for i in range(3, rounds):
        back = _turned(keys[i - 1], -3, half) ^ _turned(keys[i - 1], -4, half)
        keys.append((np.uint64(0xFFFFFFFC) & mask) ^ (constants & np.uint64(1)) ^ keys[i - 3] ^ back)
        constants = constants >> np.uint64(1)
    return np.stack(keys[:rounds])


def _turned(x: Array, count: int, size: Array) -> Array:
    """Rotate the lowest `size` bits of `x` to the left (to the right for a negative count)."""
    steps = np.mod(count, size.astype(np.int64)).astype(np.uint64)
    return (x << steps | x >> (size - steps)) & _mask(size)
