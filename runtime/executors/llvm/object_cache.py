"""The object cache: object files on disk, so that other processes need not compile the same module again."""

from __future__ import annotations

from agc.autograph.disk_cache import Store, root

_STORE = Store("native", files=100_000, size=64 << 20)


def is_on() -> bool:
    """Return whether there is a folder for entries."""
    return root() is not None


def read(key: str) -> bytes | None:
    """Return the object file stored under `key`, or None if there is no valid one."""
    return _STORE.read(key)


def write(key: str, data: bytes) -> None:
    """Store an object file under `key`. Failures to write are ignored."""
    _STORE.write(key, data)
