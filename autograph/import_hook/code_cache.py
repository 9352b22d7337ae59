"""Converted modules on disk, so that a program's second start converts nothing.

    cpython-311/train-3f1c….agc        one entry of the cache (`disk_cache`) for each file, Python and set of flags

An entry is good for one text, one version of agc and the answers that the conversion got about what is installed.
Anything else, a damaged entry included, counts as no entry, and is written again.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType

from ..disk_cache import Store, digest

LIMIT = 4000  # entries of one version of Python
_BYTES = 1 << 30

IsLibrary = Callable[[str], bool]


class Entry:
    """The place for the converted code of one module."""

    def __init__(self, text: str, filename: str) -> None:
        self.name = _name_of(filename)
        self._store = Store(sys.implementation.cache_tag or "python", LIMIT, _BYTES)
        self._text = text.encode(errors="surrogatepass")

    def read(self, is_library: IsLibrary) -> CodeType | None:
        """The code, if what is on disk is what a conversion would give."""
        body = self._store.read(self.name, _version(), self._text)
        if body is None:
            return None
        answers, code = marshal.loads(body)
        as_before = all(is_library(name) is answer for name, answer in answers.items())
        return code if as_before else None

    def write(self, code: CodeType, answers: Mapping[str, bool]) -> None:
        """Keep the code, with what the conversion was told about the modules that the text names."""
        self._store.write(self.name, marshal.dumps((dict(answers), code)), _version(), self._text)


def _name_of(filename: str) -> str:
    stem = os.path.splitext(os.path.basename(filename))[0]
    # -O leaves asserts out, -X no_debug_ranges leaves columns out.
    flags = (sys.flags.optimize, "no_debug_ranges" in sys._xoptions or "PYTHONNODEBUGRANGES" in os.environ)
    return f"{stem[:80]}-{digest(repr((filename, flags)).encode()).hex()[:20]}.agc"


@functools.cache
def _version() -> bytes:
    """What changes whenever the compiler, or the Python below it, does."""
    here = os.path.dirname(os.path.abspath(__file__))
    files = sorted((path, stat.st_size, stat.st_mtime_ns) for path, stat in _files(here))
    return digest(repr((sys.version, sys.hexversion, files)).encode())


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """The modules below a folder; nothing when it is inside an archive."""
    if not os.path.isdir(top):
        return
    for entry in os.scandir(top):
        if entry.is_dir():
            yield from _files(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path, entry.stat()
