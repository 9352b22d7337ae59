"""Files that several processes of a strategy would write: the first process does, and the others wait for it.

process 0: written_once("ckpt-1", write)     writes
process 1: written_once("ckpt-1", write)     returns when process 0 has written; another path is written here
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..kernels import collectives

TOPIC = "checkpoint"


def written_once(path: str, write: Callable[[], None]) -> bool:
    """Call `write` in the first process, and in those whose path differs from its path; return whether it was called.

    All processes call this equally often. Those that do not write return after the first one has written.
    """
    engine = collectives.active.engine
    own = os.path.abspath(path)
    if engine.rank == 0:
        write()
        engine.announce(TOPIC, own)
        return True
    if engine.awaited(TOPIC) == own:
        return False
    write()
    return True
