"""Call a kernel through ctypes: the entry for a CPython or NumPy whose objects machine code cannot read.

    entry([array, …])  ->  (array, …)          as the built-in function does (entry_stub.py), in some microseconds more

NumPy itself says what each array is, and makes the arrays of the results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runtime_library
from .call_codegen import RUN

if TYPE_CHECKING:
    from ....ir.value_types import TensorType
    from ..loader import Kernel


class CtypesEntry:
    """The entry of one kernel; `mismatch` and `failed` are called where the built-in function would."""

    def __init__(self, kernel: Kernel, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]) -> None:
        self._kernel, self._mismatch, self._failed = kernel, mismatch, failed
        address, word = ctypes.c_void_p, ctypes.c_size_t
        # PYFUNCTYPE raises what the code has raised, such as KeyboardInterrupt.
        self._run = ctypes.PYFUNCTYPE(ctypes.c_int, address, address, word)(runtime_library.address(RUN))
        self._table = address * max(len(kernel.inputs) + len(kernel.results), 1)

    def __call__(self, given: Sequence[Any]) -> Any:
        inputs, results = self._kernel.inputs, self._kernel.results
        if len(given) != len(inputs) or not all(map(_fits, given, inputs)):
            return self._mismatch(given)
        made = tuple([np.empty(_sizes(spec), spec.dtype.numpy) for spec in results])
        addresses = self._table(*[array.ctypes.data for array in (*given, *made)])
        code = self._run(self._kernel.address, ctypes.addressof(addresses), self._kernel.is_long)
        return made if code == 0 else self._failed(given)


def _fits(array: Any, spec: TensorType) -> bool:
    """Whether the kernel can read an array where it is."""
    return (
        type(array) is np.ndarray
        and array.dtype == spec.dtype.numpy
        and array.shape == _sizes(spec)
        and array.flags.c_contiguous
        and array.flags.aligned
    )


def _sizes(spec: TensorType) -> tuple[int, ...]:
    return tuple([size or 0 for size in spec.shape or ()])
