"""The files whose rules make up the table of operations; importing this fills it."""

from . import (
    branches,
    casts,
    checks,
    creating,
    elements,
    gemm,
    indexing,
    loops,
    reductions,
    shaping,
)

__all__ = [
    "branches",
    "casts",
    "checks",
    "creating",
    "elements",
    "gemm",
    "indexing",
    "loops",
    "reductions",
    "shaping",
]
