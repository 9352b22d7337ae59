"""One thread for small products of matrices, in graphs that have no big ones.

OpenBLAS shares every product of more than a quarter of a million multiplications among all processors. Its threads
wait for each other without sleeping: that gains nothing below some millions, and where another program needs a
processor too, each product takes as long as the scheduler lets a thread wait, a hundred times its own time.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..ir.graph import Graph, Operation

SHARED = 1 << 18
"""How many multiplications OpenBLAS leaves to one thread by itself."""

BIG = 1 << 24
"""How many make a product that other threads are worth. Below, they save a tenth of a millisecond at most, and
take fifty times as long where the processors have other work."""

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


def wants_one_thread(graph: Graph) -> bool:
    """Whether a graph has products that OpenBLAS would share, and is known to have none worth it."""
    sizes = [_multiplications(operation) for operation in graph.walk() if operation.type in _PRODUCTS]
    return bool(sizes) and SHARED < max(sizes) <= BIG


def _multiplications(operation: Operation) -> float:
    """How many a product takes; infinity where that is not known."""
    if operation.type != "matmul":
        return math.inf
    shapes = [operand.shape for operand in operation.inputs]
    sizes = [size for shape in shapes for size in (shape or (None,))]
    if None in sizes:
        return math.inf
    (*_, rows, columns), inner = operation.outputs[0].shape or (0, 0), shapes[0] or (0, 0)
    return float((rows or 0) * (columns or 0) * (inner[-2 if operation.attrs["transpose_a"] else -1] or 0))


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
