"""The module `tf.io.gfile`: files and directories, with the runtime's exceptions.

>>> import tempfile
>>> path = join(tempfile.mkdtemp(), "notes.txt")
>>> with GFile(path, "w") as file:
...     file.write("hello")
>>> GFile(path).read(), exists(path), stat(path).length
('hello', True, 5)
"""

from __future__ import annotations

import glob as patterns
import os
import shutil
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from .. import errors
from ..core.missing_names import explain as _explain

Path = Any
T = TypeVar("T")

_KINDS: tuple[tuple[type[OSError], type[errors.OpError]], ...] = (
    (FileNotFoundError, errors.NotFoundError),
    (FileExistsError, errors.AlreadyExistsError),
    (PermissionError, errors.PermissionDeniedError),
    (IsADirectoryError, errors.FailedPreconditionError),
    (NotADirectoryError, errors.FailedPreconditionError),
)
_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _name(path: Path) -> str:
    return os.fsdecode(path)


def _calling(function: Callable[[], T], path: Path) -> T:
    """What the function gives; a failure of the system's as one of the runtime's."""
    try:
        return function()
    except OSError as error:
        kind = next((mine for theirs, mine in _KINDS if isinstance(error, theirs)), errors.UnknownError)
        raise kind(f"{_name(path)}; {error.strerror}") from None


class GFile:
    """A file that is open for reading or writing; it is opened when it is first used.

    Args:
        name: its path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with a "b" for bytes; text is UTF-8.

    Raises InvalidArgumentError for another mode, NotFoundError when there is nothing to read, PermissionDeniedError for
    reading what is open for writing only, and the reverse.
    """

    def __init__(self, name: Path, mode: str = "r", encoding: str = "utf-8") -> None:
        self._file: Any = None
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name, self._mode, self._encoding = name, mode, encoding
        self._reads = plain[0] == "r" or "+" in plain
        self._writes = plain != "r"

    @property
    def name(self) -> Path:
        """The path, as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """How the file is open."""
        return self._mode

    def _opened(self) -> Any:
        if self._file is None:
            is_binary = "b" in self._mode
            encoding = None if is_binary else self._encoding
            newline = None if is_binary else ""
            path, mode = _name(self._name), self._mode
            self._file = _calling(lambda: open(path, mode, encoding=encoding, newline=newline), path)  # noqa: SIM115
        return self._file

    def _for_reading(self) -> Any:
        if not self._reads:
            raise errors.PermissionDeniedError("File isn't open for reading")
        return self._opened()

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes or characters; all that are left, by default."""
        return self._for_reading().read(n)

    def readline(self) -> Any:
        """The next line with its end; nothing at the end of the file."""
        return self._for_reading().readline()

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self._for_reading().readlines())

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._for_reading())

    def write(self, file_content: Any) -> None:
        """Write text, or bytes in a binary mode (text as well: its UTF-8)."""
        if not self._writes:
            raise errors.PermissionDeniedError("File isn't open for writing")
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode(self._encoding)
        elif "b" not in self._mode and isinstance(file_content, bytes):
            file_content = file_content.decode(self._encoding)
        self._opened().write(file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go on at this place."""
        self._for_reading().seek(offset, whence)

    def tell(self) -> int:
        """Where reading or writing goes on."""
        return int(self._opened().tell())

    def size(self) -> int:
        """How many bytes the file has."""
        if self._file is not None and self._writes:
            self._file.flush()
        return stat(self._name).length

    def seekable(self) -> bool:
        """Whether `seek` works: it does."""
        return True

    def flush(self) -> None:
        """Give the system what was written."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file; it is opened again by the next use."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        if self._writes:
            self._opened()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class FileStatistics(NamedTuple):
    """What `stat` says of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Path) -> bool:
    """Whether there is a file or directory."""
    return os.path.exists(_name(path))


def isdir(path: Path) -> bool:
    """Whether this is a directory."""
    return os.path.isdir(_name(path))


def listdir(path: Path) -> list[str]:
    """The names in a directory; NotFoundError when there is none."""
    if not isdir(path):
        raise errors.NotFoundError(f"Could not find directory {_name(path)}")
    return os.listdir(_name(path))


def mkdir(path: Path) -> None:
    """Make a directory; nothing is done when it exists, NotFoundError without the one around it."""
    if not isdir(path):
        _calling(lambda: os.mkdir(_name(path)), path)


def makedirs(path: Path) -> None:
    """Make a directory, and those around it."""
    _calling(lambda: os.makedirs(_name(path), exist_ok=True), path)


def remove(path: Path) -> None:
    """Delete a file; FailedPreconditionError for a directory."""
    _calling(lambda: os.remove(_name(path)), path)


def rmtree(path: Path) -> None:
    """Delete a directory with all that is in it; NotFoundError when there is none."""
    if not exists(path):
        raise errors.NotFoundError(f"{_name(path)} not found")
    _calling(lambda: shutil.rmtree(_name(path)), path)


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError when there is one already, unless `overwrite`."""
    stat(src)
    _check_free(dst, overwrite)
    _calling(lambda: shutil.copyfile(_name(src), _name(dst)), dst)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Give a file or directory another name; AlreadyExistsError when that is taken, unless `overwrite`."""
    _check_free(dst, overwrite)
    _calling(lambda: os.replace(_name(src), _name(dst)), src)


def _check_free(path: Path, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise errors.AlreadyExistsError("file already exists")


def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or one of a list of them."""
    given = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [found for each in given for found in sorted(patterns.glob(_name(each)))]


def stat(path: Path) -> FileStatistics:
    """The size of a file, when it was changed, and whether it is a directory; NotFoundError when there is none."""
    found = _calling(lambda: os.stat(_name(path)), path)
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


def walk(top: Path, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, names of directories in it, names of files in it) for a directory and all inside of it."""
    for place, directories, files in os.walk(_name(top), topdown, onerror):
        directories.sort()
        yield place, directories, sorted(files)


def join(path: Path, *paths: Path) -> str:
    """Parts of a path, put together."""
    return os.path.join(_name(path), *map(_name, paths))


def get_registered_schemes() -> list[str]:
    """The kinds of paths that there are: those of the file system."""
    return ["", "file"]


__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

_explain(__name__, "io.gfile")
