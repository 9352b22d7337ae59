"""The files whose rules make up the table of operations; importing this fills it."""

from . import (
    activations,
    arrays,
    branches,
    casts,
    checks,
    conversions,
    creating,
    distributions,
    elements,
    functions,
    gemm,
    indexing,
    loops,
    reductions,
    running_totals,
    shaping,
)

__all__ = [
    "activations",
    "arrays",
    "branches",
    "casts",
    "checks",
    "conversions",
    "creating",
    "distributions",
    "elements",
    "functions",
    "gemm",
    "indexing",
    "loops",
    "reductions",
    "running_totals",
    "shaping",
]
