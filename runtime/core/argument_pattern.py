"""What a call hands over, part by part: taken apart by tracing/argument_flattening.py, looked at by
call/unpack_arguments.py."""

from __future__ import annotations

from typing import Any, NamedTuple


class ArgumentPattern(NamedTuple):
    """An argument, or what is in one."""

    kind: type
    """EagerTensor, np.ndarray, tuple, list, dict; `object` is this one, and `weakref.ref` the one that it has."""
    thing: Any = None
    """The object, or the keys of a dict."""
    number: int = 0
    """Of a tensor or an array: which input of the graph it is."""
    parts: tuple[ArgumentPattern, ...] = ()
