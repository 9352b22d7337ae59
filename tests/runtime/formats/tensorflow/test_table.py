"""Tables of byte strings: many blocks, shared prefixes, and damage."""

import pytest
from agc.runtime.formats.tensorflow import table
from agc.runtime.formats.tensorflow.table import read_table, write_table


def test_a_table_of_many_blocks_is_read_again(monkeypatch):
    monkeypatch.setattr(table, "_BLOCK", 500)
    entries = {
        f"layer_{number % 7}/{number}".encode(): bytes([number % 256]) * (number % 50)
        for number in range(300)
    }
    content = write_table(entries)
    assert read_table(content) == entries
    assert list(read_table(content)) == sorted(entries)
    shortest = sum(len(key) + len(value) for key, value in entries.items())
    assert len(content) < shortest + 10 * len(entries)


def test_an_empty_table_is_read_again():
    assert read_table(write_table({})) == {}


def test_a_changed_byte_is_found():
    content = write_table({b"a": b"1" * 20, b"ab": b"2"})
    for place in (0, 10, 30):
        changed = bytearray(content)
        changed[place] ^= 1
        with pytest.raises(ValueError, match="checksum of the block from 0"):
            read_table(bytes(changed))


def test_a_block_outside_of_the_file_is_refused():
    content = write_table({b"a": b"1"})
    with pytest.raises(ValueError, match="outside of the file"):
        read_table(content[10:])
    with pytest.raises(ValueError, match="does not end like a table"):
        read_table(content[:-1])
