"""One thread for small products of matrices; big ones beside them are made in parts, by threads of our own.

OpenBLAS shares every product of more than a quarter of a million multiplications among all processors. Its threads
wait for each other without sleeping: that gains nothing below some millions, and where another program needs a
processor too, each product takes as long as the scheduler lets a thread wait, a hundred times its own time.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...core.shapes import is_static, num_elements
from ...ir.graph import Graph, Operation
from ...ops.framework import narrow_floats
from ...ops.linalg.einsum import multiplications
from .parallel_sort import beside
from .peephole import product

SHARED = 1 << 18
"""How many multiplications OpenBLAS leaves to one thread by itself."""

BIG = 1 << 24
"""How many make a product that other threads are worth. Below, they save a tenth of a millisecond at most, and
take fifty times as long where the processors have other work."""

PART = 1 << 23
"""How many multiplications a part of a big product has, at least."""

_PRODUCTS = frozenset(
    {
        "matmul",
        "matvec",
        "tensordot",
        "tensordot_back",
        "einsum",
        "conv",
        "conv_backprop_input",
        "conv_backprop_filter",
    }
)


def wants_one_thread(graph: Graph, apart: Callable[[Operation], bool] = lambda operation: False) -> bool:
    """Whether a graph has products that OpenBLAS would share, and is known to have none worth it.

    Those that are made `apart` do not count.
    """
    if _PRODUCTS.isdisjoint(graph.types):
        return False
    products = [operation for operation in graph.walk() if operation.op.name in _PRODUCTS]
    shared = [(size, each) for each in products if (size := _multiplications(each)) > SHARED]
    sizes = [size for size, operation in shared if not apart(operation)]
    return bool(sizes) and max(sizes) <= BIG


def is_big(operation: Operation) -> bool:
    """Whether an operation is a product of two matrices that is known to be worth other threads."""
    return (
        operation.op.name == "matmul"
        and BIG < _multiplications(operation) < math.inf
        and product(operation) is not None
        and not narrow_floats.is_used_by(operation)
    )


def _multiplications(operation: Operation) -> float:
    """How many a product takes; infinity where that is not known."""
    name, (result,) = operation.op.name, operation.outputs
    given = [value.shape for value in operation.inputs]
    if not all(map(is_static, [*given, result.shape])):
        return math.inf
    if name == "einsum":
        return multiplications(operation.attrs["equation"], given)  # type: ignore[arg-type]
    if name == "matmul":
        return _of_matrices(operation)
    if name in _CONTRACTIONS:
        # Of `ik, kj -> ij`, the sizes are IK, KJ and IJ.
        sizes = [num_elements(shape) or 0 for shape in (*given[:2], result.shape)]
        return math.sqrt(math.prod(sizes))
    if name == "matvec":
        return float(num_elements((given[0] or ())[-2:]) or 0)
    if name not in _FILTERED:
        return math.inf
    # Each element of what a convolution gives, or of the gradient of that, meets all of a part of the filter.
    rows, filter = ([*given, result.shape][place] for place in _FILTERED[name])
    return float(num_elements(rows) or 0) * (num_elements((filter or ())[:-1]) or 0)


_CONTRACTIONS = ("tensordot", "tensordot_back")

_FILTERED = {"conv": (-1, 1), "conv_backprop_input": (2, 1), "conv_backprop_filter": (2, -1)}
"""Where the result of a convolution, or its gradient, and the filter stand: among operands, -1 for the result."""


def _of_matrices(product: Operation) -> float:
    left: Any = product.inputs[0].shape
    rows: Any = product.outputs[0].shape
    if len(left) < 2 or len(rows) < 2:
        return math.inf
    return float(rows[-2] * rows[-1] * left[-2 if product.attrs["transpose_a"] else -1])


class _Limit:
    """The number of threads is one as long as somebody wants that, and what it was before after that."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before = 1

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function with one thread."""
        switch = _switch()
        if switch is None:
            return function(*arguments)
        get, put = switch
        with self.lock:
            if not self.users:
                self.before = get()
                put(1)
            self.users += 1
        try:
            return function(*arguments)
        finally:
            with self.lock:
                self.users -= 1
                if not self.users:
                    put(self.before)


_limit = _Limit()


def in_parts(left: Any, right: Any, out: Any = None) -> Any:
    """The product of two matrices. While OpenBLAS uses one thread, our own make parts of it, each some rows.

    They sleep when they have nothing to do. The parts depend on the sizes alone, and so does the result.
    """
    rows, inner = left.shape
    if not _limit.users:
        return np.matmul(left, right, out=out)
    if out is None:
        out = np.empty((rows, right.shape[1]), left.dtype)
    count = min(rows, max(1, rows * inner * right.shape[1] // PART))
    edges = [rows * number // count for number in range(count + 1)]
    beside(
        *(
            functools.partial(np.matmul, left[start:end], right, out=out[start:end])
            for start, end in itertools.pairwise(edges)
        )
    )
    return out


def with_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which runs while OpenBLAS uses one thread."""
    return lambda *arguments: _limit.run(function, *arguments)


def _forget() -> None:
    global _limit
    if _limit.users:
        switch = _switch()
        if switch is not None:
            switch[1](_limit.before)
    _limit = _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@functools.cache
def _switch() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How the number of threads of the OpenBLAS in NumPy's wheels is asked for and set; None without that."""
    for path in sorted((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))
            get, put = (getattr(library, f"scipy_openblas_{word}_num_threads64_") for word in ("get", "set"))
        except (OSError, AttributeError):
            continue
        put.restype = None
        return get, put
    return None
