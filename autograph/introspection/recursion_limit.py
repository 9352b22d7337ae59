"""The recursion limit: raised while some contexts are active, and the program's own choice otherwise.

    raised_recursion_limit(to 8000)     1000 → 8000          sys.setrecursionlimit(5000), by the program
        …                               8000                 5000
                                        8000 → 1000          5000       the program's choice stays

CPython has one limit for all threads, so the last context that ends restores it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_wanted: list[int] = []  # a limit for each active context
_program = 0  # the limit that the program has chosen
_current = 0  # the limit that was set here last


@contextmanager
def raised_recursion_limit(limit_for: Callable[[int], int]) -> Iterator[None]:
    """Raise the limit to `limit_for(the program's limit)` at least, while the context is active."""
    global _program
    with _lock:
        now = sys.getrecursionlimit()
        if not _wanted or now != _current:
            _program = now
        wanted = limit_for(_program)
        _wanted.append(wanted)
        _set()
    try:
        yield
    finally:
        with _lock:
            _wanted.remove(wanted)
            if sys.getrecursionlimit() == _current:  # otherwise the program has chosen another one
                _set()


def _set() -> None:
    global _current
    _current = max((_program, *_wanted))
    sys.setrecursionlimit(_current)
