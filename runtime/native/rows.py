"""The files whose rules make up the table of operations; importing this fills it."""

from . import (
    activations,
    arrays,
    branches,
    casts,
    checks,
    creating,
    distributions,
    elements,
    functions,
    gemm,
    gradients,
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
    "creating",
    "distributions",
    "elements",
    "functions",
    "gemm",
    "gradients",
    "indexing",
    "loops",
    "reductions",
    "running_totals",
    "shaping",
]
