"""Patterns of a call's arguments, which guards match. They are built by tracing/argument_patterns.py."""

from __future__ import annotations

from typing import Any, NamedTuple


class ArgumentPattern(NamedTuple):
    """One argument, or one part of a nested argument."""

    kind: type
    """EagerTensor, np.ndarray, tuple, list or dict; `object`; or `weakref.ref`, an object held weakly."""
    thing: Any = None
    """The object, its weak reference, or the keys of a dict."""
    number: int = 0
    """For a tensor or an array: the index of the graph's input."""
    parts: tuple[ArgumentPattern, ...] = ()
