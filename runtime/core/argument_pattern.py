"""The flattened form of one call's arguments: built by tracing/argument_flattening.py, read by
call/unpack_arguments.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class ArgumentPattern(NamedTuple):
    """One argument, or one part of a nested argument."""

    kind: type
    """EagerTensor, np.ndarray, tuple, list or dict; `object`: compare by identity; `weakref.ref`: its referent."""
    thing: Any = None
    """The object, or the keys of a dict."""
    number: int = 0
    """For a tensor or an array: the index of the graph's input."""
    parts: tuple[ArgumentPattern, ...] = ()
