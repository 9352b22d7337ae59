"""Run small matrix products on one OpenBLAS thread, and split big ones over the runtime's own thread pool.

OpenBLAS shares every product of more than a quarter of a million multiplications among all processors. Its
threads busy-wait for each other. That gains nothing below some millions of multiplications. If another
program needs a processor too, a product takes as long as the scheduler's time slice, a hundred times its own
time.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.shapes import is_static
from ...ir.graph import Graph, Operation
from ...ir.traits import RUNS_IN_PARTS
from ...kernels.blas_limit import is_limited
from ...kernels.thread_pool import run_all
from ...ops.framework import narrow_floats
from ...ops.linalg.matmul import matmul_op
from .peephole import product

SHARED = 1 << 18
"""The number of multiplications up to which OpenBLAS itself uses one thread."""

BIG = 1 << 24
"""The number of multiplications from which a product is worth several threads.

Below, threads save a tenth of a millisecond at most, and take fifty times as long on busy processors.
"""

PART = 1 << 23
"""The least number of multiplications in one part of a big product."""


def wants_one_thread(graph: Graph, apart: Callable[[Operation], bool] = lambda operation: False) -> bool:
    """Return whether OpenBLAS would share products of the graph that are all known to be too small.

    Operations for which `apart` returns True do not count. If some of them limit OpenBLAS themselves, the whole graph
    may.
    """
    products = [operation for operation in graph.walk() if operation.op.multiplications is not None]
    shared = [(size, each) for each in products if (size := _multiplications(each)) > SHARED]
    sizes = [size for size, operation in shared if not apart(operation)]
    is_limited_anyway = any(RUNS_IN_PARTS in each.op.traits and apart(each) for _, each in shared)
    return (bool(sizes) or is_limited_anyway) and max(sizes, default=0) <= BIG


def is_big(operation: Operation) -> bool:
    """Return whether the operation is a product with one matrix that is known to be worth several threads."""
    return (
        operation.op is matmul_op
        and BIG < _multiplications(operation) < math.inf
        and product(operation) is not None
        and not narrow_floats.is_used_by(operation)
    )


def runs_in_parts(operation: Operation) -> bool:
    """Return whether the thread pool computes an operation in parts with one BLAS thread each."""
    return RUNS_IN_PARTS in operation.op.traits or is_big(operation)


def _multiplications(operation: Operation) -> float:
    """Return the number of multiplications of a product; infinity if that is not known."""
    count, (result,) = operation.op.multiplications, operation.outputs
    given: list[Any] = [value.shape for value in (*operation.inputs, result)]
    return count(given, operation.attrs) if count is not None and all(map(is_static, given)) else math.inf


def in_parts(left: Any, right: Any, out: Any = None) -> Any:
    """Return the product of two matrices, or of the rows of a batch and one matrix.

    While OpenBLAS uses one thread, the thread pool computes parts of it, each of some rows. Idle threads of
    the pool sleep. The parts depend on the sizes alone, and so does the result.
    """
    if left.ndim > 2:
        flat = out.reshape(-1, out.shape[-1]) if out is not None and out.flags.c_contiguous else None
        return in_parts(left.reshape(-1, left.shape[-1]), right, flat).reshape(*left.shape[:-1], -1)
    rows, inner = left.shape
    if not is_limited():
        return np.matmul(left, right, out=out)
    if out is None:
        out = np.empty((rows, right.shape[1]), left.dtype)
    count = min(rows, max(1, rows * inner * right.shape[1] // PART))
    edges = [rows * number // count for number in range(count + 1)]
    run_all(
        *(
            functools.partial(np.matmul, left[start:end], right, out=out[start:end])
            for start, end in itertools.pairwise(edges)
        )
    )
    return out
