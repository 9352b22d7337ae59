"""Locks of files and folders, which end with the process that holds them.

    with exclusive(folder):             one writer at a time, of all processes and threads
    lock(path)  ==>  Lock or None       None while another process holds it: its writer is alive

The system releases a lock (`flock`) when the process ends, however it ends. So a lock that can be taken proves that
its writer is gone. On systems without such locks (Windows, some network file systems) `Lock.is_real` is False: then
nothing is exclusive, and nothing counts as the leftover of a killed writer.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import UnavailableError

if sys.platform == "win32":  # Windows cannot delete or rename an open file, either
    fcntl = None
else:
    import fcntl

_PATIENCE = 60.0  # seconds that a writer waits; each holds a folder only briefly
_POLL = 0.005


class Lock:
    """A lock that is held until `close`, or until the object is deleted."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle
        self.is_real = handle is not None

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    __del__ = close

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def lock(path: Path, shared: bool = False, wait: float = 0.0) -> Lock | None:
    """Lock a file or folder; None when another still holds it after `wait` seconds. Links are not followed.

    Raises OSError when there is no such file, or it cannot be opened.
    """
    if fcntl is None:
        return Lock(None)
    until = time.monotonic() + wait
    while True:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        found = lock_open(handle, shared)
        if found is None:
            os.close(handle)
            if time.monotonic() >= until:
                return None
            time.sleep(_POLL)
        elif not found.is_real or _is_at(handle, path):
            return found
        else:  # deleted before it was locked
            found.close()


def lock_open(handle: int, shared: bool = False) -> Lock | None:
    """Lock an open file, and close it with the lock. If another holds the lock, return None and keep the file open."""
    if fcntl is None:
        os.close(handle)
        return Lock(None)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except OSError:  # a file system without locks
        os.close(handle)
        return Lock(None)
    return Lock(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Return whether an open file still has this path."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    return False


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[Lock]:
    """Hold the lock of a folder; UnavailableError when others hold it for a minute."""
    held = lock(Path(os.path.realpath(folder)), wait=_PATIENCE)
    if held is None:
        raise UnavailableError(
            f"another process has been writing in {str(folder)!r} for {_PATIENCE:.0f} seconds: "
            "save to another folder, or stop that process"
        )
    with held:
        yield held


def remove_leftovers(folder: Path, names: re.Pattern[str]) -> None:
    """Delete the files of `folder` whose full names match, and whose writers are gone."""
    for entry in list(os.scandir(folder)):
        if names.fullmatch(entry.name) is None:
            continue
        with contextlib.suppress(OSError):
            held = lock(Path(entry.path)) if entry.is_file(follow_symlinks=False) else None
            if held is not None:
                with held:
                    if held.is_real:
                        os.unlink(entry.path)
