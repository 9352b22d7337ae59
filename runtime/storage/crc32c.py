"""CRC-32C (Castagnoli), and the form of it that TensorFlow stores in files.

>>> hex(crc32c(b"123456789"))
'0xe3069283'

Long content is laid out as rows of equal length whose checksums NumPy computes side by side, two bytes a step:

    row 0: b b b b …  ┐  a step per column        then neighbors are joined: the checksum of the left one is
    row 1: b b b b …  ┘  for all rows at once      advanced by the zeros that the length of the right one takes
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

Array = Any
_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_SHORT = 512  # bytes up to which a Python loop is faster
_LONG = 1 << 26  # bytes at a time, since the rows are a copy


@functools.cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = (number >> 1) ^ (_POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


def crc32c(content: bytes | memoryview, crc: int = 0) -> int:
    """Return the checksum of `content`, or of what has the checksum `crc` followed by `content`."""
    if len(content) > _LONG:
        for start in range(0, len(content), _LONG):
            crc = crc32c(content[start : start + _LONG], crc)
        return crc
    if len(content) > _SHORT:
        return _of_rows(content, crc ^ _ONES) ^ _ONES
    table = _table()
    crc ^= _ONES
    for byte in content:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ONES


def masked(crc: int) -> int:
    """Return a checksum rotated and shifted: one of data that contain their own checksum would be weak."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & _ONES


def masked_crc32c(content: bytes | memoryview) -> int:
    """Return the masked checksum of `content`."""
    return masked(crc32c(content))


def _of_rows(content: bytes | memoryview, state: int) -> int:
    """Return the state after some content of at least four bytes."""
    data = np.frombuffer(content, np.uint8)
    power = max(1, (len(data).bit_length() - 2) // 2)
    rows = -(-len(data) >> power)
    padded = np.zeros((rows, 1 << power), np.uint8)  # leading zeros do not change a state of zero
    padded.reshape(-1)[-len(data) :] = data
    padded.reshape(-1)[-len(data) :][:4] ^= np.array([state], "<u4").view(np.uint8)
    pairs, states = _pairs(), np.zeros(rows, np.uint32)
    for column in np.ascontiguousarray(padded.view("<u2").T):
        states = pairs[(states ^ column) & 0xFFFF] ^ (states >> 16)
    while len(states) > 1:
        if len(states) % 2:
            states = np.concatenate([np.zeros(1, np.uint32), states])
        states = _advanced(states[::2], power) ^ states[1::2]
        power += 1
    return int(states[0])


@functools.cache
def _pairs() -> Array:
    """Return the table of a step of two bytes."""
    table, state = np.array(_table(), np.uint32), np.arange(1 << 16, dtype=np.uint32)
    for _ in range(2):
        state = table[state & 0xFF] ^ (state >> 8)
    return state


@functools.cache
def _zeros(power: int) -> Array:
    """Return the tables, one for each byte of a state, that advance it by `1 << power` zero bytes."""
    if power:
        return _advanced(_zeros(power - 1), power - 1)
    states = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], np.uint32)
    return np.array(_table(), np.uint32)[states & 0xFF] ^ (states >> 8)


def _advanced(states: Array, power: int) -> Array:
    first, second, third, fourth = _zeros(power)
    low = first[states & 0xFF] ^ second[states >> 8 & 0xFF]
    return low ^ third[states >> 16 & 0xFF] ^ fourth[states >> 24]
