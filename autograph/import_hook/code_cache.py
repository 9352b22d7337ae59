"""Disk cache of converted modules, so that a second start of a program converts nothing.

    cpython-311/train-3f1c….agc        one entry of the cache (`disk_cache`) for each file, Python and set of flags

An entry is valid for one source, one version of agc, and the same answers about installed packages. Any other entry,
and a damaged one, is ignored and rewritten.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Callable, Mapping
from types import CodeType

from ..disk_cache import Store, digest, sources

LIMIT = 4000  # entries of one version of Python
_BYTES = 1 << 30

IsLibrary = Callable[[str], bool]


class Entry:
    """The cache entry for the converted code of one module."""

    def __init__(self, text: str, filename: str) -> None:
        self.name = _name_of(filename)
        self._store = Store(sys.implementation.cache_tag or "python", LIMIT, _BYTES)
        self._text = text.encode(errors="surrogatepass")

    def read(self, is_library: IsLibrary) -> CodeType | None:
        """Return the cached code, if it is still valid."""
        body = self._store.read(self.name, _version(), self._text)
        if body is None:
            return None
        answers, code = marshal.loads(body)
        as_before = all(is_library(name) is answer for name, answer in answers.items())
        return code if as_before else None

    def write(self, code: CodeType, answers: Mapping[str, bool]) -> None:
        """Store the code, with the answers about the modules that the source imports."""
        self._store.write(self.name, marshal.dumps((dict(answers), code)), _version(), self._text)


def _name_of(filename: str) -> str:
    stem = os.path.splitext(os.path.basename(filename))[0]
    # -O omits asserts, -X no_debug_ranges omits columns.
    flags = (sys.flags.optimize, "no_debug_ranges" in sys._xoptions or "PYTHONNODEBUGRANGES" in os.environ)
    return f"{stem[:80]}-{digest(repr((filename, flags)).encode()).hex()[:20]}.agc"


@functools.cache
def _version() -> bytes:
    """Return a digest that changes whenever the compiler or the Python version does."""
    here = os.path.dirname(os.path.abspath(__file__))
    return digest(repr((sys.version, sys.hexversion)).encode(), sources(here))
