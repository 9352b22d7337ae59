"""Atomic writing of files: a file appears completely or not at all.

    with replacing("weights.bin") as stream:     ==>   .weights.bin.3f2a….tmp  is written, flushed to the disk,
        stream.write(content)                          and renamed to  weights.bin

A reader sees the old content or the new one. When anything fails, the old file is unchanged. A draft is locked while
its writer lives, so that leftovers of killed writers are recognized (`locks.remove_leftovers` with `drafts_of`).
Devices and pipes are never replaced: a file in the place of /dev/null would break the system.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from .locks import exclusive, lock_open, remove_leftovers

_OF_DISKS = frozenset({
    errno.EACCES, errno.EFBIG, errno.EIO, errno.ENAMETOOLONG, errno.ENOSPC, errno.EPERM, errno.EROFS,
    getattr(errno, "EDQUOT", errno.ENOSPC),
})  # fmt: skip


class Draft:
    """A temporary file in the folder of `path`, until it is published or discarded."""

    def __init__(self, path: Path) -> None:
        _refuse_special(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self._path = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
            self.stream: IO[bytes] = open(self._path, "xb")  # noqa: SIM115  # closed by what ends the draft
            handle = os.dup(self.stream.fileno())
            self._lock = lock_open(handle)
            if self._lock is None:
                os.close(handle)
            elif self._path.exists():
                return
            self.discard()  # removed as a leftover before it was locked

    def complete(self) -> None:
        """Flush all data to the disk: what can fail for lack of space has been done then."""
        if not self.stream.closed:
            self.stream.flush()
            os.fsync(self.stream.fileno())
            self.stream.close()

    def publish(self, path: Path) -> None:
        """Make the written data the content of `path`, in one step."""
        self.complete()
        os.replace(self._path, path)
        flush_folder(path.parent)

    def discard(self) -> None:
        """Delete the draft, unless it is published."""
        with contextlib.suppress(OSError):  # a full disk: buffered data no longer matters
            self.stream.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        if self._lock is not None:
            self._lock.close()


def _refuse_special(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "it exists, and is not a regular file", os.fspath(path))


@contextlib.contextmanager
def drafted(path: Path) -> Iterator[Draft]:
    """Yield a draft of `path`, discarded at the end of the block unless it is published; folders are made.

    An OSError of the disk names `path`.
    """
    try:
        draft = Draft(path)
        try:
            yield draft
        finally:
            draft.discard()
    except OSError as error:
        if error.errno in _OF_DISKS and (
            error.filename is None or drafts_of(path.name).search(error.filename)
        ):
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a stream whose content becomes that of `path` at the end of the block; folders are made as needed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a", "greeting")
    ...     with replacing(file) as stream:
    ...         _ = stream.write(b"hello")
    ...     file.read_bytes(), os.listdir(file.parent)
    (b'hello', ['greeting'])
    """
    with drafted(path) as draft:
        yield draft.stream
        draft.publish(path)


def write_files(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write the files of a folder by their paths: first all drafts, then all names, so that a full disk changes none.

    The first is named last, as readers look for it, and deleted first: files of two models are never read as one.
    """
    with contextlib.ExitStack() as stack:
        drafts = {}
        for name in reversed(list(content)):
            drafts[name] = stack.enter_context(drafted(folder / name))
            drafts[name].stream.write(content[name])
            drafts[name].complete()
        if len(content) > 1:  # of two writers, the last one wins with all files
            stack.enter_context(exclusive(folder))
            (folder / next(iter(content))).unlink(missing_ok=True)
        for name, draft in drafts.items():
            path = folder / name
            draft.publish(path)
            remove_leftovers(path.parent, drafts_of(path.name))


def drafts_of(name: str) -> re.Pattern[str]:
    """Return the pattern of the names of a file's drafts.

    >>> bool(drafts_of("a.txt").fullmatch(".a.txt.0123456789abcdef.tmp"))
    True
    """
    return re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.tmp")


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
