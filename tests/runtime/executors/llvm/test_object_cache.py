"""Object files on disk: found again, replaced when damaged, bounded, and no error where they cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from agc.runtime.executors.llvm import object_cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path))
    return tmp_path / "native"


def test_a_written_entry_is_read_back(folder: Path) -> None:
    assert object_cache.read("key") is None
    object_cache.write("key", b"code")
    assert object_cache.read("key") == b"code"
    assert [path.suffix for path in folder.iterdir()] == [".agc"]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 32 + b"code"])
def test_a_damaged_file_counts_as_none_and_is_replaced(folder: Path, content: bytes) -> None:
    object_cache.write("key", b"code")
    (folder / "key.agc").write_bytes(content)
    assert object_cache.read("key") is None
    object_cache.write("key", b"code")
    assert object_cache.read("key") == b"code"


def test_the_oldest_entries_are_evicted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr(object_cache._STORE, "size", 300)
    for number in range(4):
        object_cache.write(str(number), bytes(68))
        os.utime(folder / f"{number}.agc", (number, number))
    assert object_cache.read("0") is None
    assert object_cache.read("3") == bytes(68)


def test_no_folder_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path / "file" / "below"))
    (tmp_path / "file").write_text("")
    object_cache.write("key", b"code")
    assert object_cache.read("key") is None
