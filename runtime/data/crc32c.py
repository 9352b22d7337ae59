"""CRC-32C (Castagnoli), masked as in TFRecord files.

>>> hex(crc32c(b"123456789"))
'0xe3069283'
"""

from __future__ import annotations

import functools

_POLYNOMIAL = 0x82F63B78


@functools.cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = (number >> 1) ^ (_POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


def crc32c(content: bytes) -> int:
    """Return the checksum of `content`."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in content:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc32c(content: bytes) -> int:
    """Return the checksum, rotated and shifted: a checksum of data that contain their own checksum would be weak."""
    crc = crc32c(content)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
