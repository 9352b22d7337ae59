"""Reading files that an index names: regular files inside its folder, and nothing else.

open_inside(folder, "functions/0-f.json")        a stream
"../secret", "/etc/passwd", "a\\0", links        DataLossError: a folder that came from elsewhere may not lead out
FIFOs, devices, sockets                          DataLossError, where opening would wait for ever
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
    """Whether this is the name of a file within a folder, which leads nowhere else on any system.

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
    """The content of a file that the program names itself: links are followed, but devices are refused."""
    try:
        handle = os.open(path, _FILE)
    except PermissionError:
        raise PermissionDeniedError(f"{path}; Permission denied") from None
    except (OSError, ValueError):  # a name that no file can have, too
        raise NotFoundError(f"there is no file {path}") from None
    with _stream(handle, str(path)) as stream:
        return stream.read()


def open_inside(folder: Path, name: str) -> IO[bytes]:
    """A stream of the file `name`, parts of which are separated by `/`, inside of `folder`.

    Raises NotFoundError when there is no such file, DataLossError when the name leads out, by a link too.
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
            f"{path} is a link, leads over one, or is no file: links out of a folder are not followed; copy what it "
            "shall hold into it"
        ) from None
    return _stream(handle, str(path))


def _opened(folder: Path, parts: list[str]) -> int:
    """Open folder by folder, so that none can be exchanged for a link meanwhile."""
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
    """The same for systems that cannot open a file relative to a folder."""
    path = folder
    for part in parts:
        path /= part
        if path.is_symlink():
            raise OSError(errno.ELOOP, "a link", str(path))
    return os.open(path, _FILE)


def _stream(handle: int, path: str) -> IO[bytes]:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataLossError(f"{path} is no regular file")
    return os.fdopen(handle, "rb")
