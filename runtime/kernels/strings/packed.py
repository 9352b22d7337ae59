"""Byte strings as one array of bytes, so that NumPy computes with all of them at once.

[b"ab", b"c"]     ──► packed ──►     bytes of b"abc", lengths [2, 1]     ──► cut ──►     [b"ab", b"c"]

An optional extension converts them; Python's own loops take several times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from . import _native_texts as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any


def lengths(texts: Array) -> Array:
    """Return the lengths of a vector of byte strings.

    >>> lengths(np.array([b"ab", b"c"], object)).tolist()
    [2, 1]
    """
    if native is not None:
        return native.lengths(np.ascontiguousarray(texts))
    return np.fromiter(map(len, texts.tolist()), np.int64, len(texts))


def packed(texts: Array) -> Array:
    """Return the bytes of all strings of a vector, one string after another.

    >>> packed(np.array([b"ab", b"c"], object)).tolist()
    [97, 98, 99]
    """
    if native is not None:
        return native.packed(np.ascontiguousarray(texts))
    return np.frombuffer(b"".join(texts.tolist()), np.uint8)


def cut(whole: Array, begins: Array, ends: Array) -> Array:
    """Return the parts `whole[begins[i]:ends[i]]` of an array of bytes as a vector of strings.

    >>> cut(np.frombuffer(b"abc", np.uint8), np.array([0, 2]), np.array([2, 3])).tolist()
    [b'ab', b'c']
    """
    if native is not None:
        return native.cut(whole, begins, ends)
    text = whole.tobytes()
    parts = (text[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))
    return np.fromiter(parts, object, len(begins))


def decimals(texts: Array, is_floating: bool, is_signed: bool) -> Array | None:
    """Return the numbers that strings show, as float64 or int64; None unless all are short and decimal.

    >>> numbers = decimals(np.array([b"7", b"-12"], object), False, True)
    >>> numbers is None or numbers.tolist() == [7, -12]
    True
    """
    return None if native is None else native.numbers(np.ascontiguousarray(texts), is_floating, is_signed)
