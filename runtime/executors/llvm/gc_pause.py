"""While something is compiled, Python does not look for garbage.

Compiling makes many objects in a short time, all of which it needs, and lets go of them in the end. Each time that
some hundred have been made, Python looks through the newest for garbage, and through all that there are once many have
stayed: tens of milliseconds, in which nothing is found.
"""

from __future__ import annotations

import gc
import threading
from types import TracebackType

_lock = threading.Lock()
_inside = 0
_was_on = False


class Pause:
    """A block in which no garbage is looked for; several threads may be in one."""

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
