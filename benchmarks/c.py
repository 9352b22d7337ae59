"""The limit: C, compiled for this machine, and timed by itself so that no call from Python counts.

`work` gets the arrays, of which the last is the result, and the sizes.
"""

from __future__ import annotations

import ctypes
import itertools
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

COMMAND = ("gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC")
"""With what makes loops fast: vectorised functions of libmvec and threads, where a program asks for them."""

_TIMED = """
#include <time.h>
__attribute__((noipa)) void work(void **arrays, const long *sizes);

double timed(long count, void **arrays, const long *sizes) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < count; i++) work(arrays, sizes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) * 1e-9;
}
"""

_folder = tempfile.TemporaryDirectory()
_numbers = itertools.count(1)


class Program:
    """A compiled program with its data: called, it gives its result; `seconds` is the time of so many runs."""

    def __init__(self, text: str, arrays: Sequence[np.ndarray[Any, Any]], sizes: Sequence[int]) -> None:
        base = pathlib.Path(_folder.name, f"program_{next(_numbers)}")
        base.with_suffix(".c").write_text(_TIMED + text)
        subprocess.run([*COMMAND, f"{base}.c", "-o", f"{base}.so", "-lm"], check=True)
        self._library = ctypes.CDLL(f"{base}.so")
        self._library.timed.restype = ctypes.c_double
        self._arrays = arrays
        self._pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        self._sizes = (ctypes.c_long * len(sizes))(*sizes)

    def __call__(self) -> np.ndarray[Any, Any]:
        self._library.work(self._pointers, self._sizes)
        return self._arrays[-1]

    def seconds(self, count: int) -> float:
        return self._library.timed(ctypes.c_long(count), self._pointers, self._sizes)  # type: ignore[no-any-return]
