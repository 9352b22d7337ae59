"""Limit NumPy's OpenBLAS to one thread while functions run, which may share their work over the thread pool."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .thread_pool import run_all


class _Limit:
    """A limit of one OpenBLAS thread while functions run; the last one restores the previous number.

    The state is in memory that native code shares (native_products.c): a spin lock,
    the number of users, and the number of threads before the first one. Native code holds the spin lock without
    the GIL. So once there is native code, its two functions change the state, each in one call.
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


def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function while OpenBLAS uses one thread."""
    return _limit.run(function, *arguments)


def can_limit() -> bool:
    """Return whether native code can limit the number of threads of BLAS."""
    return _switch() is not None and sys.platform != "win32"


def addresses() -> tuple[int, int, int]:
    """Return the addresses of the functions that get and set the number of threads, and of the state of the limit.

    They are 0 if the threads cannot be limited.
    """
    functions: tuple[Any, ...] = (_switch() if can_limit() else None) or (0, 0)
    get, put = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
    return get, put, ctypes.addressof(_limit.memory)


def share(begin: int, end: int) -> None:
    """Change the state by the functions of native code at these addresses from now on."""
    with _limit.lock:
        kind = ctypes.PYFUNCTYPE(None)  # called with the GIL
        _limit.native = kind(begin), kind(end)


def run_parts(*works: Callable[[], object]) -> None:
    """Run functions with products on one BLAS thread each, in parallel in the thread pool."""
    run(run_all, *works)


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
