"""Caches on disk: converted modules and object files, which the next process need not make again.

    $AGC_CACHE_DIR, or $XDG_CACHE_HOME/agc, or the platform's folder for such things
        cpython-311/train-3f1c….agc        a store: converted modules
        native/9f86d0….agc                 another one: object files

What is read here runs. So it must be the user's own: folders are made with mode 0700 and files with 0600, whatever the
umask. A folder or file that another user owns or can write, or that is a link, counts as none. An entry begins with a
digest of its name and content, so that a damaged or renamed one is ignored, and is written next to its place and
renamed, so that a reader meets the old one or the new one. Only files with the suffix of the cache are evicted, since
a folder that AGC_CACHE_DIR names may hold others. A disk that cannot be written to is no error, nor is one that gives
all files the same mode. AGC_CACHE=0 in the environment leaves the disk alone.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator

try:
    from _blake2 import blake2b  # that of hashlib, whose import takes long, since it loads OpenSSL
except ImportError:
    from hashlib import blake2b

_DIGEST = 32  # bytes
_SUFFIX = ".agc"
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_FOLDER = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0)
_HAS_OWNERS = hasattr(os, "geteuid") and os.open in os.supports_dir_fd


def root() -> str | None:
    """Return the folder of all caches; None for nowhere.

    >>> is_off = os.environ.get("AGC_CACHE") == "0"
    >>> (root() is None) == is_off
    True
    """
    if os.environ.get("AGC_CACHE") == "0":
        return None
    named = os.environ.get("AGC_CACHE_DIR")
    if named:
        return os.path.abspath(named)
    home = os.path.expanduser("~")
    if not os.path.isabs(home):  # there is no home
        return None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # its specification has relative paths ignored
            base = os.path.join(home, ".cache")
    return os.path.join(base, "agc")


class Store:
    """The entries of one kind, in one folder of the cache.

    Args:
        name: of the folder.
        files, size: how many entries there may be, and how many bytes, roughly; those used longest ago go first.
    """

    def __init__(self, name: str, files: int, size: int) -> None:
        self.name = name
        self.files = files
        self.size = size
        self._room: dict[
            str, tuple[int, int]
        ] = {}  # files and bytes that fit into a folder, as far as is known

    def read(self, entry: str, *context: bytes) -> bytes | None:
        """Return the data of an entry that was written with the same context; None if no entry is trusted."""
        with contextlib.suppress(OSError), self._opened() as folder:
            handle = os.open(folder.at(entry + _SUFFIX), _FILE, dir_fd=folder.handle)
            with open(handle, "rb") as file:
                if not _is_own(os.fstat(handle), stat.S_ISREG):
                    return None
                content = file.read()
                data = content[_DIGEST:]
                if content[:_DIGEST] != digest(entry.encode(), *context, data):
                    return None
                if os.utime in os.supports_fd:
                    with contextlib.suppress(OSError):  # a disk that cannot be written to
                        os.utime(handle)
                return data
        return None

    def write(self, entry: str, data: bytes, *context: bytes) -> None:
        """Keep data; the digest is of the name, the context and the data."""
        draft = f"{entry}.{os.urandom(8).hex()}.tmp{_SUFFIX}"
        with contextlib.suppress(OSError), self._opened(make=True) as folder:
            try:
                handle = os.open(folder.at(draft), _NEW, 0o600, dir_fd=folder.handle)
                with open(handle, "wb") as file:
                    if _HAS_OWNERS:
                        with contextlib.suppress(OSError):  # a disk with fixed modes
                            os.fchmod(handle, 0o600)  # a umask may have taken even that
                    file.write(digest(entry.encode(), *context, data) + data)
                place = folder.at(entry + _SUFFIX)
                os.replace(folder.at(draft), place, src_dir_fd=folder.handle, dst_dir_fd=folder.handle)
            except BaseException:  # the process may exit, or the user may interrupt it
                with contextlib.suppress(OSError):
                    os.unlink(folder.at(draft), dir_fd=folder.handle)
                raise
            files, size = self._room.get(folder.path) or self._room_of_unseen()
            room = files - 1, size - len(data) - _DIGEST
            self._room[folder.path] = room if min(room) >= 0 else self._prune(folder)

    @contextlib.contextmanager
    def _opened(self, make: bool = False) -> Iterator[_Folder]:
        """Return the store's folder; OSError where there is none that is the user's alone."""
        top = root()
        if top is None:
            raise FileNotFoundError("caches are off")
        folder = _Folder(top, make)
        try:
            folder.enter(self.name, make)
            yield folder
        finally:
            folder.close()

    def _room_of_unseen(self) -> tuple[int, int]:
        """Return how many files and bytes a process may write before it looks at a folder for the first time.

        One process in eight looks at once, since that takes a tenth of a second in a full folder. So the folder
        outgrows its limits by an eighth at most, on average.
        """
        return (0, 0) if os.urandom(1)[0] % 8 == 0 else (self.files // 64, self.size // 64)

    def _prune(self, folder: _Folder) -> tuple[int, int]:
        """Drop the entries used longest ago when there are too many, with drafts that killed writers have left.

        Return how many files and bytes fit in. That takes a look at each file, so not all writes do it.
        """
        found = []
        names = os.listdir(folder.path if folder.handle is None else folder.handle)
        for name in filter(lambda name: name.endswith(_SUFFIX), names):
            with contextlib.suppress(OSError):
                status = os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, name))
        count, total = len(found), sum(size for _, size, _ in found)
        is_full = count > self.files or total > self.size
        files, space = (each * 3 // 4 if is_full else each for each in (self.files, self.size))
        for _, size, name in sorted(found):
            if count <= files and total <= space:
                break
            with contextlib.suppress(OSError):
                os.unlink(folder.at(name), dir_fd=folder.handle)
            count, total = count - 1, total - size
        return self.files - count, self.size - total


class _Folder:
    """An open folder that is the user's own. Files are found relative to it, so no one can exchange it for another.

    Systems without owners or without such files (Windows) find them by their paths.
    """

    def __init__(self, path: str, make: bool) -> None:
        self.path = path
        self.handle: int | None = None
        if make:
            _make(path)
        if _HAS_OWNERS:
            self.handle = os.open(path, _FOLDER)
            self._demand_own()

    def enter(self, name: str, make: bool) -> None:
        """Go on to a folder inside."""
        if make:
            with contextlib.suppress(OSError):  # it exists, or the disk has fixed modes
                os.mkdir(self.at(name), 0o700, dir_fd=self.handle)
                if self.handle is not None:
                    os.chmod(name, 0o700, dir_fd=self.handle)
        self.path = os.path.join(self.path, name)
        if self.handle is not None:
            outer = self.handle
            self.handle = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=outer)
            os.close(outer)
            self._demand_own()

    def at(self, name: str) -> str:
        """Return the path that finds a file in the folder, together with `handle`."""
        return os.path.join(self.path, name) if self.handle is None else name

    def _demand_own(self) -> None:
        assert self.handle is not None
        if not _is_own(os.fstat(self.handle), stat.S_ISDIR):
            self.close()
            raise PermissionError(f"{self.path} is another user's, or others can write to it")

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def _make(path: str) -> None:
    """Make a folder, and those that it is in, for this user alone."""
    if not os.path.isdir(path):
        parent = os.path.dirname(path)
        if parent != path:
            _make(parent)
        with contextlib.suppress(OSError):  # it exists, or the disk has fixed modes
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)


def _is_own(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Return whether only this user can change a file or folder of this kind."""
    if not is_kind(status.st_mode):
        return False
    return not _HAS_OWNERS or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def sources(*folders: str) -> bytes:
    """Return a digest of the paths, sizes and times of all Python files in folders, which changes when a file does."""
    files = sorted(file for folder in folders for file in _files(folder))
    return digest(repr(files).encode())


def _files(top: str) -> Iterator[tuple[str, int, int]]:
    """Yield the Python files below a folder; nothing if it is inside of an archive."""
    if not os.path.isdir(top):
        return
    for entry in os.scandir(top):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            status = entry.stat()
            yield entry.path, status.st_size, status.st_mtime_ns


def digest(*parts: bytes) -> bytes:
    """Return a digest of the parts, and of where each of them ends."""
    digest = blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()
