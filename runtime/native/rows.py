"""The files whose rules make up the table of operations; importing this fills it."""

from . import (
    arrays,
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
    "arrays",
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
