"""Reading of files that an index names: only regular files inside its folder.

open_inside(folder, "functions/0-f.json")        a stream
"../secret", "/etc/passwd", "a\\0", links        DataLossError: an untrusted folder must not lead outside
FIFOs, devices, sockets                          DataLossError, because opening could block forever
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from ..errors import DataLossError, NotFoundError, PermissionDeniedError

_SEPARATORS = "/\0\\:" if os.name == "nt" else "/\0"
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_FOLDERS = bool(_NO_LINK) and os.open in os.supports_dir_fd


def is_plain(name: object) -> bool:
    """Return whether `name` is a file name within a folder, and no path on any system.

    >>> [is_plain(name) for name in ("a.txt", "..", "a/b", "", "a\\0", 3)]
    [True, False, False, False, False, False]
    """
    if not isinstance(name, str) or name in ("", ".", "..") or not set(name).isdisjoint(_SEPARATORS):
        return False
    try:
        return len(os.fsencode(name)) <= 255
    except ValueError:
        return False


def read(path: Path) -> bytes:
    """Return the content of a file that the program names itself: links are followed, but devices are refused."""
    try:
        handle = os.open(path, _FILE)
    except PermissionError:
        raise PermissionDeniedError(f"{path}; Permission denied") from None
    except (OSError, ValueError):  # also a name that no file can have
        raise NotFoundError(f"there is no file {path}") from None
    with _stream(handle, str(path)) as stream:
        return stream.read()


def open_inside(folder: Path, name: str) -> IO[bytes]:
    """Return a stream of the file `name`, with parts separated by `/`, inside of `folder`.

    Raises NotFoundError when there is no such file, DataLossError when the name or a link leads outside.
    """
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(map(is_plain, parts)):
        raise DataLossError(f"{folder} names a file {name!r} that is not its own")
    path = folder.joinpath(*parts)
    try:
        handle = _opened(folder, parts) if _BY_FOLDERS else _checked(folder, parts)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.ENXIO, errno.EISDIR):
            raise
        raise DataLossError(
            f"{path} is a link, leads through one, or is not a file: links out of a folder are not followed; "
            "copy the file into the folder"
        ) from None
    return _stream(handle, str(path))


def _opened(folder: Path, parts: list[str]) -> int:
    """Open folder by folder, so that none can be replaced by a link meanwhile."""
    here = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER | _NO_LINK, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(parts[-1], _FILE | _NO_LINK, dir_fd=here)
    finally:
        os.close(here)


def _checked(folder: Path, parts: list[str]) -> int:
    """Open the file on systems that cannot open a file relative to a folder."""
    path = folder
    for part in parts:
        path /= part
        if path.is_symlink():
            raise OSError(errno.ELOOP, "a link", str(path))
    return os.open(path, _FILE)


def _stream(handle: int, path: str) -> IO[bytes]:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataLossError(f"{path} is not a regular file")
    return os.fdopen(handle, "rb")
