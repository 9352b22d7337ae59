"""JAX, imported at the first use, and the scope in which its 64-bit types exist.

with wide():
    program(x)          # int64 and float64 as in NumPy; outside of the scope, JAX is as its user has set it
"""

from __future__ import annotations

import functools
import importlib.util
from contextlib import AbstractContextManager
from typing import Any

INSTALL = "pip install 'agc-autograph[jax]'"
"""The command that installs JAX."""


@functools.cache
def missing() -> str | None:
    """Return why programs cannot be compiled by XLA here, or None if they can."""
    if importlib.util.find_spec("jax") is None:
        return f"JAX is not installed: {INSTALL}"
    return None


def available() -> bool:
    """Return whether JAX is installed; this does not import it."""
    return missing() is None


def wide() -> AbstractContextManager[Any]:
    """Return the scope of traces and calls: 64-bit types exist for this thread, and for the time of the scope only."""
    import jax

    return jax.enable_x64(True)  # type: ignore[no-untyped-call]
