"""The checksum of long content, which is computed in rows, is that of its bytes one by one."""

import random

import pytest
from agc.runtime.storage import crc32c as module
from agc.runtime.storage.crc32c import crc32c


@pytest.mark.parametrize("size", [513, 514, 515, 516, 1000, 1023, 1024, 1025, 4097, 30_001])
def test_long_content_has_the_checksum_of_its_bytes(size):
    content = random.Random(size).randbytes(size)
    one_by_one = 0
    for start in range(0, size, 100):
        one_by_one = crc32c(content[start : start + 100], one_by_one)
    assert crc32c(content) == one_by_one
    assert crc32c(memoryview(content)[7:], crc32c(content[:7])) == one_by_one


def test_very_long_content_is_taken_in_pieces(monkeypatch):
    content = random.Random(0).randbytes(5000)
    whole = crc32c(content)
    monkeypatch.setattr(module, "_LONG", 999)
    assert crc32c(content) == whole
