"""Call a kernel through ctypes, where the extension of native_call.py is not installed.

    entry([array, …])  ->  (array, …)          like the extension's `Kernel`, some microseconds slower

NumPy's Python interface checks the arrays and allocates the results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import runtime_library

if TYPE_CHECKING:
    from ....ir.value_types import TensorType
    from .kernel import Kernel


class CtypesEntry:
    """The entry of one kernel. It calls `mismatch` and `failed` in the same cases as the extension."""

    def __init__(self, kernel: Kernel, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]) -> None:
        self._kernel, self._mismatch, self._failed = kernel, mismatch, failed
        address, word = ctypes.c_void_p, ctypes.c_size_t
        # PYFUNCTYPE raises the exceptions that the code has set, such as KeyboardInterrupt.
        run = runtime_library.address(runtime_library.RUN)
        self._run = ctypes.PYFUNCTYPE(ctypes.c_int, address, address, word)(run)
        self._table = address * max(len(kernel.inputs) + len(kernel.results), 1)

    def __call__(self, given: Sequence[Any]) -> Any:
        inputs, results = self._kernel.inputs, self._kernel.results
        if len(given) != len(inputs) or not all(map(_fits, given, inputs)):
            return self._mismatch(given)
        made = tuple([np.empty(sizes_of(spec), spec.dtype.numpy_dtype) for spec in results])
        addresses = self._table(*[array.ctypes.data for array in (*given, *made)])
        code = self._run(self._kernel.address, ctypes.addressof(addresses), self._kernel.is_long)
        return made if code == 0 else self._failed(given)


def _fits(array: Any, spec: TensorType) -> bool:
    """Return whether the kernel can read an array without a conversion."""
    return (
        type(array) is np.ndarray
        and array.dtype == spec.dtype.numpy_dtype
        and array.shape == sizes_of(spec)
        and array.flags.c_contiguous
        and array.flags.aligned
    )


def sizes_of(spec: TensorType) -> tuple[int, ...]:
    """Return the shape of an array of a kernel."""
    return tuple([size or 0 for size in spec.shape or ()])
