"""Keep freed memory in the process, so that new arrays need no new pages of the system.

    z = x * y + x     an array of 800 KB is freed, and another one is made
        by default    glibc returns the pages to the system: 200 page faults, which take longer than the sum
        ==>           the new array gets the block of the freed one

glibc returns blocks above a limit, and the end of the heap. The limits are raised when the runtime is imported, unless
the environment has `AGC_KEEP_MEMORY=0`, or glibc's own settings.
"""

from __future__ import annotations

import ctypes
import os

MOST_KEPT = 512 << 20
"""The number of bytes at the end of the heap that stay in the process."""

LARGEST_BLOCK = 32 << 20
"""The size of blocks that glibc returns at once; it accepts no larger number."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h
_SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")


def keep_freed_memory() -> bool:
    """Raise the limits; return False if there is no glibc, or the environment has settings of its own."""
    environment = os.environ
    is_set = "glibc.malloc" in environment.get("GLIBC_TUNABLES", "") or any(
        name in environment for name in _SETTINGS
    )
    if is_set or environment.get("AGC_KEEP_MEMORY") == "0":
        return False
    library = _glibc()
    if library is None:
        return False
    limits = ((_M_MMAP_THRESHOLD, LARGEST_BLOCK), (_M_TRIM_THRESHOLD, MOST_KEPT))
    return all([library.mallopt(limit, size) for limit, size in limits])  # noqa: C419  (sets all)


def return_freed_memory() -> None:
    """Return all free pages to the system, if there is a glibc."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if os.name == "posix" else None
    return library if hasattr(library, "gnu_get_libc_version") and hasattr(library, "mallopt") else None
