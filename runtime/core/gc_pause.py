"""Pause garbage collection during compilation, and while the compiler is imported.

That allocates many objects in a short time, and needs them until the end. Collections would take tens of
milliseconds, and find nothing. The objects of modules live on: the next collection need not visit them.
"""

from __future__ import annotations

import gc
import sys
import threading

_lock = threading.Lock()
_inside = 0
_was_on = False
_modules = 0


class Pause:
    """Context manager that disables the garbage collector; threads may nest and overlap."""

    def __enter__(self) -> None:
        global _inside, _was_on, _modules
        with _lock:
            if not _inside:
                _was_on, _modules = gc.isenabled(), len(sys.modules)
                gc.disable()
            _inside += 1

    def __exit__(self, *exception: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            if not _inside and _was_on:
                if len(sys.modules) > _modules and not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()  # these two make all objects old without a visit
                gc.enable()
