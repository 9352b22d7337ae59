"""Garbage collections: rare while many objects are made that stay, as in a trace and the conversion of a module.

    rare_collections()      700 → 50,000      new objects before the next collection
        …                   50,000
                            50,000 → 700      unless the program has chosen another number meanwhile

Otherwise the collector would look for garbage again and again in trees and snapshots that are all in use.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 50_000

_lock = threading.Lock()
_active = 0
_program: tuple[int, int, int] = gc.get_threshold()  # what the program has chosen


@contextmanager
def rare_collections() -> Iterator[None]:
    """Raise the number of new objects between collections to `MANY` at least, while the context is active."""
    global _active, _program
    with _lock:
        if not _active:
            _program = gc.get_threshold()
            if 0 < _program[0] < MANY:  # 0 disables the collector
                gc.set_threshold(MANY, *_program[1:])
        _active += 1
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if not _active and gc.get_threshold()[0] == MANY:
                gc.set_threshold(*_program)
