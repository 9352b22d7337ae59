"""Disk cache of converted code, so that a second start of a program converts nothing.

    cpython-311/train-3f1c….agc        one entry (of `disk_cache`) for each module or function, and set of flags

An entry is valid for one source, one version of agc, and the same answers about what names refer to. Any other entry,
and a damaged one, is ignored and rewritten.
"""

from __future__ import annotations

import functools
import marshal
import os
import re
import sys
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from .disk_cache import Store, digest, root, sources

# A large library has thousands of functions, and an entry for each takes about 5 KB.
_STORE = Store(sys.implementation.cache_tag or "python", files=20_000, size=1 << 30)

Answer = Callable[[Any], bool]


def is_on() -> bool:
    """Return whether converted code is stored on disk."""
    return root() is not None


class Entry:
    """The cache entry for the converted code of one module, or of the part of it that `part` identifies.

    `context` is what the code depends on besides the text.
    """

    def __init__(self, text: str, filename: str, part: Any = None, context: bytes = b"") -> None:
        self.name = _name_of(filename, part)
        self._context = text.encode(errors="surrogatepass"), context

    def read(self, answer: Answer) -> CodeType | None:
        """Return the cached code, if it is still valid: `answer` returns the current answer to a question."""
        body = _STORE.read(self.name, _version(), *self._context)
        if body is None:
            return None
        answers, code = marshal.loads(body)
        as_before = all(answer(question) is before for question, before in answers.items())
        return code if as_before else None

    def write(self, code: CodeType, answers: Mapping[Any, bool]) -> None:
        """Store the code, with the answers to the questions of the conversion."""
        _STORE.write(self.name, marshal.dumps((dict(answers), code)), _version(), *self._context)


def _name_of(filename: str, part: Any) -> str:
    stem = os.path.splitext(os.path.basename(filename))[0]
    # -O omits asserts, -X no_debug_ranges omits columns.
    flags = (sys.flags.optimize, "no_debug_ranges" in sys._xoptions or "PYTHONNODEBUGRANGES" in os.environ)
    readable = re.sub(r"\W", "_", stem, flags=re.ASCII)[:80]  # a name that all disks can have
    return f"{readable}-{digest(repr((filename, flags, part)).encode()).hex()[:20]}"


@functools.cache
def _version() -> bytes:
    """Return a digest that changes whenever the compiler or the Python version does."""
    here = os.path.dirname(os.path.abspath(__file__))
    return digest(repr((sys.version, sys.hexversion)).encode(), sources(here))
