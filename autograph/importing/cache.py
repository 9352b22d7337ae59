"""Converted modules on disk, so that a program's second start converts nothing.

    $AGC_CACHE_DIR or $XDG_CACHE_HOME/agc or ~/.cache/agc
        cpython-311/train-3f1c….agc      one entry for each file, Python and set of flags

An entry is good for one text, one version of agc and the answers that the conversion got about what is
installed. Anything else, a damaged entry included, counts as no entry, and is written again. It is written
beside its place and moved there, so that whoever reads meanwhile sees the old one or the new one. A disk that
cannot be written to is no error; AGC_CACHE=0 in the environment leaves the disk alone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType

SEAL = 32  # bytes
LIMIT = 4000  # entries of one version of Python

IsLibrary = Callable[[str], bool]


class Entry:
    """The place for the converted code of one module."""

    def __init__(self, text: str, filename: str) -> None:
        self.path = os.path.join(folder(), sys.implementation.cache_tag or "python", _name_of(filename))
        self._text = text

    def read(self, is_library: IsLibrary) -> CodeType | None:
        """The code, if what is on disk is what a conversion would give."""
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        seal, body = data[:SEAL], data[SEAL:]
        if seal != self._seal(body):
            return None
        answers, code = marshal.loads(body)
        as_before = all(is_library(name) is answer for name, answer in answers.items())
        return code if as_before else None

    def write(self, code: CodeType, answers: Mapping[str, bool]) -> None:
        """Keep the code, with what the conversion was told about the modules that the text names."""
        body = marshal.dumps((dict(answers), code))
        temporary = f"{self.path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with open(temporary, "xb") as file:
                file.write(self._seal(body) + body)
            os.replace(temporary, self.path)
            _prune(os.path.dirname(self.path))
        except OSError:  # the next start converts again
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def _seal(self, body: bytes) -> bytes:
        """What only an undamaged entry made of this text by this version begins with."""
        return _digest(_version(), self._text.encode(errors="surrogatepass"), body)


def _prune(place: str) -> None:
    """Drop the oldest entries when there are too many: files that are gone leave theirs behind."""
    entries = sorted((entry.stat().st_mtime, entry.path) for entry in os.scandir(place))
    if len(entries) > LIMIT:
        for _, path in entries[: LIMIT // 4]:
            os.unlink(path)


def is_wanted() -> bool:
    """Whether the environment lets converted modules be kept on disk.

    >>> is_wanted() == (os.environ.get("AGC_CACHE") != "0")
    True
    """
    return os.environ.get("AGC_CACHE") != "0"


def folder() -> str:
    """Where the entries are."""
    named = os.environ.get("AGC_CACHE_DIR")
    if named:
        return os.path.abspath(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # Its specification has relative paths ignored.
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "agc")


def _name_of(filename: str) -> str:
    stem = os.path.splitext(os.path.basename(filename))[0]
    # -O leaves asserts out, -X no_debug_ranges leaves columns out.
    flags = (sys.flags.optimize, "no_debug_ranges" in sys._xoptions or "PYTHONNODEBUGRANGES" in os.environ)
    return f"{stem[:80]}-{_digest(repr((filename, flags)).encode()).hex()[:20]}.agc"


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=SEAL)
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


@functools.cache
def _version() -> bytes:
    """What changes whenever the compiler, or the Python below it, does."""
    here = os.path.dirname(os.path.abspath(__file__))
    files = sorted((path, stat.st_size, stat.st_mtime_ns) for path, stat in _files(here))
    return _digest(repr((sys.version, sys.hexversion, files)).encode())


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """The modules below a folder; nothing when it is inside an archive."""
    if not os.path.isdir(top):
        return
    for entry in os.scandir(top):
        if entry.is_dir():
            yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path, entry.stat()
