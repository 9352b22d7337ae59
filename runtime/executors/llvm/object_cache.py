"""Object files on disk, so that the next process need not compile the same again."""

from __future__ import annotations

from agc.autograph.disk_cache import Store

_STORE = Store("native", files=100_000, size=64 << 20)


def read(key: str) -> bytes | None:
    """The object file that was written under this key; None where there is none to be trusted."""
    return _STORE.read(f"{key}.o")


def write(key: str, data: bytes) -> None:
    """Keep an object file under a key. A disk that cannot be written to is no error."""
    _STORE.write(f"{key}.o", data)
