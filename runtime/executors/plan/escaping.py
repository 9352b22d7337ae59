"""Turn names and attributes of a graph into source text, and check the names in the compiled code.

    a name        identifier("x; import os")      x__import_os
    a value       literal((0, None))              (0, None)
    the rest      check_names(code, known)        only the emitters' own names occur in the compiled source

A graph may come from an untrusted file, so its names and attributes are untrusted text. No other text of a
graph becomes source.
"""

from __future__ import annotations

import functools
import keyword
import math
from collections.abc import Container
from types import CodeType
from typing import Any

import numpy as np

from ... import dtypes
from ...errors import InternalError
from ...ir.names import plain

BUILT_IN = {each.__name__: each for each in (abs, bool, float, int, len, max, min, range)}
"""The builtins that generated source may use."""

_MOST_BITS = 1 << 12  # `repr` refuses longer integers
_LITERALS = frozenset({type(None), bool, str, bytes})


@functools.lru_cache(1024)
def identifier(wish: str) -> str:
    """Return an identifier for a name, normalized by NFKC as Python does with identifiers."""
    name = plain(wish).replace("/", "_")
    if not name.isascii():
        import unicodedata  # a shared library that other names do not need

        name = unicodedata.normalize("NFKC", name)
    return name if name.isidentifier() else "value"


def checked_identifier(name: str) -> str:
    """Return the name itself. Raises InternalError if it is not an identifier."""
    if type(name) is str and name.isidentifier() and not keyword.iskeyword(name):
        return name
    raise InternalError(f"{name!r} is not a valid name in generated source")


def is_literal(value: Any) -> bool:
    """Return whether Python evaluates `repr(value)` to the same value; subclasses do not count."""
    kind = type(value)
    if kind is tuple:
        return all(map(is_literal, value))
    if kind is int:
        return bool(value.bit_length() <= _MOST_BITS)
    return kind in _LITERALS or (kind is float and math.isfinite(value))


def literal(value: Any) -> str:
    """Return `repr(value)`. Raises InternalError for a value that is no literal."""
    if is_literal(value):
        return repr(value)
    raise InternalError(f"{type(value).__name__} has no literal for generated source")


def check_names(code: CodeType, known: Container[str]) -> None:
    """Raise InternalError if the code uses a global name or an attribute that no emitter writes.

    This is a second line of defense: code with text of a graph that got past the emitters does not run.
    """
    for name in code.co_names:
        if name not in known and name not in BUILT_IN and name not in _attributes():
            raise InternalError(f"generated source may not use the name {name!r}")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            check_names(constant, known)


@functools.cache
def _attributes() -> frozenset[str]:
    """Return the attributes that emitters write: of arrays and variables, NumPy's ufuncs and dtypes."""
    of_numpy = {name for name, each in vars(np).items() if isinstance(each, np.ufunc)}
    of_numpy |= {dtype.numpy_dtype.name for dtype in dtypes.ALL}
    return frozenset({
        "T", "_array", "copy", "copyto", "empty", "item", "matmul", "reduce", "view",
    }) | of_numpy  # fmt: skip
