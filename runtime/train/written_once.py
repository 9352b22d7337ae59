"""Files that several processes of a strategy would write: the first process does, and the others wait for it.

process 0: written_once("ckpt-1", write)     writes
process 1: written_once("ckpt-1", write)     returns when process 0 has written; another path is written here
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator

from .. import errors
from ..kernels import collectives


def written_once(path: str, write: Callable[[], None]) -> bool:
    """Call `write` in the first process, and in those whose path differs from its path; return whether it was called.

    All processes call this equally often, and return when all have written. Raises AbortedError if another one cannot.
    """
    with _one_writer(path) as writes:
        if writes:
            write()
    return writes


def computed_by_all(path: str, write: Callable[[str], None]) -> None:
    """Call `write` in all processes, because it runs collective operations. Files are kept as by `written_once`."""
    with _one_writer(path) as writes, contextlib.ExitStack() as opened:
        if not writes:
            folder = opened.enter_context(tempfile.TemporaryDirectory())
        write(path if writes else os.path.join(folder, os.path.basename(path)))


@contextlib.contextmanager
def _one_writer(path: str) -> Iterator[bool]:
    """Give whether this process writes the path. At the end, wait for the other processes."""
    rank = collectives.active.engine.rank
    digest = hashlib.blake2b(os.path.abspath(path).encode(), digest_size=8).digest()
    paths = collectives.sizes_of(int.from_bytes(digest, "big", signed=True))
    try:
        yield rank == 0 or paths[rank] != paths[0]
    except Exception:
        collectives.sizes_of(0)
        raise
    if not all(collectives.sizes_of(1)):
        raise errors.AbortedError(f"another worker could not write its part of {path}: its error says why")
