"""Run small matrix products on one OpenBLAS thread, and split big ones over the runtime's own thread pool.

OpenBLAS shares every product of more than a quarter of a million multiplications among all processors. Its
threads busy-wait for each other. That gains nothing below some millions of multiplications. If another
program needs a processor too, a product takes as long as the scheduler's time slice, a hundred times its own
time.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...core.shapes import is_static
from ...ir.graph import Graph, Operation
from ...ops.framework import narrow_floats
from ...ops.linalg.matmul import matmul_op
from .fusion.thread_pool import run_all
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

    Operations for which `apart` returns True do not count.
    """
    products = [operation for operation in graph.walk() if operation.op.multiplications is not None]
    shared = [(size, each) for each in products if (size := _multiplications(each)) > SHARED]
    sizes = [size for size, operation in shared if not apart(operation)]
    return bool(sizes) and max(sizes) <= BIG


def is_big(operation: Operation) -> bool:
    """Return whether the operation is a product with one matrix that is known to be worth several threads."""
    return (
        operation.op is matmul_op
        and BIG < _multiplications(operation) < math.inf
        and product(operation) is not None
        and not narrow_floats.is_used_by(operation)
    )


def _multiplications(operation: Operation) -> float:
    """Return the number of multiplications of a product; infinity if that is not known."""
    count, (result,) = operation.op.multiplications, operation.outputs
    given: list[Any] = [value.shape for value in (*operation.inputs, result)]
    return count(given, operation.attrs) if count is not None and all(map(is_static, given)) else math.inf


class _Limit:
    """A limit of one OpenBLAS thread while functions run; the last one restores the previous number.

    The state is in memory that native code shares (llvm/lowering/blas_parts_ir.py): a spin lock, the number of
    users, and the number of threads before the first one. Native code holds the spin lock without the GIL. So once
    there is native code, its two functions change the state, each in one call.
    """

    def __init__(self) -> None:
        self.memory = (ctypes.c_int64 * 3)()
        self.begin()
        self.native: tuple[Callable[[], None], Callable[[], None]] | None = None

    def begin(self) -> None:
        """Reset the state: no users."""
        self.lock = threading.Lock()
        self.memory[:] = [0, 0, 0]

    @property
    def users(self) -> int:
        return self.memory[1]

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function while OpenBLAS uses one thread."""
        switch = _switch()
        if switch is None:
            return function(*arguments)
        self._enter(*switch)
        try:
            return function(*arguments)
        finally:
            self._leave(switch[1])

    def _enter(self, get: Callable[[], int], put: Callable[[int], None]) -> None:
        with self.lock:
            if self.native is not None:
                self.native[0]()
                return
            if not self.users:
                self.memory[2] = get()
                put(1)
            self.memory[1] += 1

    def _leave(self, put: Callable[[int], None]) -> None:
        with self.lock:
            if self.native is not None:
                self.native[1]()
                return
            self.memory[1] -= 1
            if not self.users:
                put(self.memory[2])


_limit = _Limit()


def can_limit() -> bool:
    """Return whether native code can limit the number of threads of BLAS."""
    return _switch() is not None and sys.platform != "win32"


def addresses() -> tuple[int, int, int]:
    """Return the addresses of the functions that get and set the number of threads, and of the state of the limit."""
    get, put = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in _switch() or ())
    return get, put, ctypes.addressof(_limit.memory)


def share(begin: int, end: int) -> None:
    """Change the state by the functions of native code at these addresses from now on."""
    with _limit.lock:
        kind = ctypes.PYFUNCTYPE(None)  # called with the GIL
        _limit.native = kind(begin), kind(end)


def in_parts(left: Any, right: Any, out: Any = None) -> Any:
    """Return the product of two matrices, or of the rows of a batch and one matrix.

    While OpenBLAS uses one thread, the thread pool computes parts of it, each of some rows. Idle threads of
    the pool sleep. The parts depend on the sizes alone, and so does the result.
    """
    if left.ndim > 2:
        flat = out.reshape(-1, out.shape[-1]) if out is not None and out.flags.c_contiguous else None
        return in_parts(left.reshape(-1, left.shape[-1]), right, flat).reshape(*left.shape[:-1], -1)
    rows, inner = left.shape
    if not _limit.users:
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


def with_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `function` while OpenBLAS uses one thread."""
    return lambda *arguments: _limit.run(function, *arguments)


def _forget() -> None:
    switch = _switch()
    if _limit.users and switch is not None:
        switch[1](_limit.memory[2])
    _limit.begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@functools.cache
def _switch() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return the functions that get and set the number of threads of NumPy's OpenBLAS.

    None if NumPy's wheel has no OpenBLAS with these functions.
    """
    for path in sorted((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))
            get, put = (getattr(library, f"scipy_openblas_{word}_num_threads64_") for word in ("get", "set"))
        except (OSError, AttributeError):
            continue
        put.restype = None
        return get, put
    return None
