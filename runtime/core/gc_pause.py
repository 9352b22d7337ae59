"""Pause garbage collection during compilation, and while the compiler is imported.

That allocates many objects in a short time, and needs them until the end. Collections would take tens of
milliseconds, and find nothing.
"""

from __future__ import annotations

import gc
import threading
from types import TracebackType

_lock = threading.Lock()
_inside = 0
_was_on = False


class Pause:
    """Context manager that disables the garbage collector; threads may nest and overlap."""

    def __enter__(self) -> None:
        global _inside, _was_on
        with _lock:
            if not _inside:
                _was_on = gc.isenabled()
                gc.disable()
            _inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _inside
        with _lock:
            _inside -= 1
            if not _inside and _was_on:
                gc.enable()
