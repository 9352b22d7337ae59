"""Object files on disk, so that the next process need not compile the same again.

The folder is $AGC_CACHE_DIR/native, or that of the platform for such things; AGC_CACHE=0 leaves the disk alone. A
file is written under another name first and then renamed, so that writers do not meet, and begins with the digest of
what follows, so that a damaged one is known for it. What was not used for longest goes when the folder grows too large.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

LARGEST = 64 << 20
"""Bytes that the folder may hold."""

_DIGEST = 32


def folder() -> Path | None:
    """Where object files are kept; None for nowhere."""
    if os.environ.get("AGC_CACHE") == "0":
        return None
    if os.environ.get("AGC_CACHE_DIR"):
        return Path(os.environ["AGC_CACHE_DIR"]) / "native"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "agc" / "native"


def read(key: str) -> bytes | None:
    """What was written under this key; None where there is nothing, or it is damaged."""
    place = folder()
    if place is None:
        return None
    path = place / f"{key}.o"
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[_DIGEST:]
    if _digest(data) != content[:_DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return data


def write(key: str, data: bytes) -> None:
    """Keep data under a key. A folder that cannot be written to is no error."""
    place = folder()
    if place is None:
        return
    import tempfile  # when something is kept: the runtime is imported without

    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(data) + data)
            os.replace(name, place / f"{key}.o")
        except OSError:
            os.unlink(name)
            raise
        _shrink(place)


def _digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(data).digest()


def _shrink(place: Path) -> None:
    found = []
    for path in place.glob("*.o"):
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= LARGEST:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
