"""The module `tf.io.gfile`: files and directories, with the runtime's exceptions.

>>> import tempfile
>>> path = join(tempfile.mkdtemp(), "notes.txt")
>>> with GFile(path, "w") as file:
...     file.write("hello")
>>> GFile(path).read(), exists(path), stat(path).length
('hello', True, 5)
"""

from __future__ import annotations

import errno
import glob as patterns
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from .. import errors
from ..core.export import export
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
_EXHAUSTED = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, getattr(errno, "EDQUOT", errno.ENOSPC)})
_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _name(path: Path) -> str:
    return os.fsdecode(path)


def calling(function: Callable[[], T], path: Path) -> T:
    """Return the result of `function`; convert an OSError to the runtime's exception, which names `path`."""
    try:
        return function()
    except OSError as error:
        kind = next((mine for theirs, mine in _KINDS if isinstance(error, theirs)), errors.UnknownError)
        if error.errno in _EXHAUSTED:
            kind = errors.ResourceExhaustedError
        raise kind(f"{_name(path)}; {error.strerror or error}") from None


class GFile:
    """A file for reading or writing, opened at its first use.

    Args:
        name: its path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with a "b" for bytes; text is UTF-8.

    Raises InvalidArgumentError for another mode, NotFoundError when there is no file to read, PermissionDeniedError
    for reading a file opened for writing only, and the reverse.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with GFile(f"{folder}/a.txt", "w") as file:
    ...         file.write("one line")
    ...     print(GFile(f"{folder}/a.txt").read(), exists(f"{folder}/b.txt"))
    one line False
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
        """The mode in which the file is open."""
        return self._mode

    def _opened(self) -> Any:
        if self._file is None:
            is_binary = "b" in self._mode
            encoding = None if is_binary else self._encoding
            newline = None if is_binary else ""
            path, mode = _name(self._name), self._mode
            self._file = calling(lambda: open(path, mode, encoding=encoding, newline=newline), path)  # noqa: SIM115
        return self._file

    def _for_reading(self) -> Any:
        if not self._reads:
            raise errors.PermissionDeniedError("File isn't open for reading")
        return self._opened()

    def read(self, n: int = -1) -> Any:
        """Return the next `n` bytes or characters; by default all that are left."""
        return calling(lambda: self._for_reading().read(n), self._name)

    def readline(self) -> Any:
        """Return the next line with its end; an empty string at the end of the file."""
        return calling(lambda: self._for_reading().readline(), self._name)

    def readlines(self) -> list[Any]:
        """Return all lines that are left."""
        return list(calling(lambda: self._for_reading().readlines(), self._name))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return calling(lambda: next(self._for_reading()), self._name)

    def write(self, file_content: Any) -> None:
        """Write text, or bytes in a binary mode (text is encoded as UTF-8).

        Raises PermissionDeniedError for a file that is open for reading.
        """
        if not self._writes:
            raise errors.PermissionDeniedError("File isn't open for writing")
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode(self._encoding)
        elif "b" not in self._mode and isinstance(file_content, bytes):
            file_content = file_content.decode(self._encoding)
        calling(lambda: self._opened().write(file_content), self._name)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Set the position in the file."""
        calling(lambda: self._for_reading().seek(offset, whence), self._name)

    def tell(self) -> int:
        """Return the position in the file."""
        return int(calling(lambda: self._opened().tell(), self._name))

    def size(self) -> int:
        """Return the file's size in bytes."""
        if self._writes:
            self.flush()
        return stat(self._name).length

    def seekable(self) -> bool:
        """Return True: `seek` always works."""
        return True

    def flush(self) -> None:
        """Write buffered data to the system."""
        if self._file is not None:
            calling(self._file.flush, self._name)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        file, self._file = self._file, None
        if file is not None:
            calling(file.close, self._name)

    def __enter__(self) -> GFile:
        if self._writes:
            self._opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class FileStatistics(NamedTuple):
    """The results of `stat` for a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Path) -> bool:
    """Return whether a file or directory exists.

    >>> exists("no/such/file")
    False
    """
    return os.path.exists(_name(path))


def isdir(path: Path) -> bool:
    """Return whether the path is a directory.

    >>> isdir(".")
    True
    """
    return os.path.isdir(_name(path))


def listdir(path: Path) -> list[str]:
    """Return the names in a directory; NotFoundError when there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makedirs(folder + "/a/b")
    ...     listdir(folder)
    ['a']
    """
    if not isdir(path):
        raise errors.NotFoundError(f"Could not find directory {_name(path)}")
    return os.listdir(_name(path))


def mkdir(path: Path) -> None:
    """Make a directory; do nothing when it exists. NotFoundError without its parent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mkdir(folder + "/a")
    ...     isdir(folder + "/a")
    True
    """
    if not isdir(path):
        calling(lambda: os.mkdir(_name(path)), path)


def makedirs(path: Path) -> None:
    """Make a directory and its parents.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makedirs(folder + "/a/b")
    ...     isdir(folder + "/a/b")
    True
    """
    calling(lambda: os.makedirs(_name(path), exist_ok=True), path)


def remove(path: Path) -> None:
    """Delete a file; FailedPreconditionError for a directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     GFile(folder + "/a", "w").write("text")
    ...     remove(folder + "/a")
    ...     exists(folder + "/a")
    False
    """
    calling(lambda: os.remove(_name(path)), path)


def rmtree(path: Path) -> None:
    """Delete a directory with its content; NotFoundError when there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makedirs(folder + "/a/b")
    ...     rmtree(folder + "/a")
    ...     listdir(folder)
    []
    """
    if not exists(path):
        raise errors.NotFoundError(f"{_name(path)} not found")
    calling(lambda: shutil.rmtree(_name(path)), path)


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError when the target exists, unless `overwrite`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     GFile(folder + "/a", "w").write("text")
    ...     copy(folder + "/a", folder + "/b")
    ...     exists(folder + "/b")
    True
    """
    stat(src)
    _check_free(dst, overwrite)
    calling(lambda: shutil.copyfile(_name(src), _name(dst)), dst)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Rename a file or directory; AlreadyExistsError when the target exists, unless `overwrite`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mkdir(folder + "/a")
    ...     rename(folder + "/a", folder + "/b")
    ...     listdir(folder)
    ['b']
    """
    _check_free(dst, overwrite)
    calling(lambda: os.replace(_name(src), _name(dst)), src)


def _check_free(path: Path, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise errors.AlreadyExistsError("file already exists")


def glob(pattern: Any) -> list[str]:
    """Return the files that match a pattern, or one of a list of patterns.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(f"{folder}/a.txt", "")
    >>> [path.removeprefix(folder) for path in tf.io.gfile.glob(f"{folder}/*.txt")]
    ['/a.txt']
    """
    given = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [found for each in given for found in sorted(patterns.glob(_name(each)))]


def stat(path: Path) -> FileStatistics:
    """Return the size, modification time and kind of a file; NotFoundError when there is none.

    >>> stat(".").is_directory
    True
    """
    found = calling(lambda: os.stat(_name(path)), path)
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


def walk(top: Path, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, subdirectory names, file names) for a directory and all directories inside of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     makedirs(folder + "/a")
    ...     [inner for _, inner, _ in walk(folder)]
    [['a'], []]
    """
    for folder, directories, files in os.walk(_name(top), topdown, onerror):
        directories.sort()
        yield folder, directories, sorted(files)


def join(path: Path, *paths: Path) -> str:
    """Join parts of a path.

    >>> join("folder", "file.txt")
    'folder/file.txt'
    """
    return os.path.join(_name(path), *map(_name, paths))


def get_registered_schemes() -> list[str]:
    """Return the kinds of paths: only those of the file system.

    >>> get_registered_schemes()
    ['', 'file']
    """
    return ["", "file"]


__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip

export("io.gfile")(sys.modules[__name__])
_explain(__name__, "io.gfile")
