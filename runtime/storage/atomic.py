"""Files that are there completely or not at all.

    with replacing("weights.bin") as stream:     ==>   .weights.bin.k3j9.tmp  is written, flushed to the disk,
        stream.write(content)                          and renamed to  weights.bin

A reader sees the old content or the new one. When anything fails, the old file stays as it was.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content becomes that of `path` at the end of the block; folders are made as needed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a", "greeting")
    ...     with replacing(file) as stream:
    ...         _ = stream.write(b"hello")
    ...     file.read_bytes(), os.listdir(file.parent)
    (b'hello', ['greeting'])
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder last, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    """The permissions that new files do not get; temporary files get none for others."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
