"""Find and call the LAPACK that comes with NumPy's BLAS.

    scipy_dgesv_64_          the OpenBLAS in NumPy's wheels, with 64-bit integers
    dgesv$NEWLAPACK$ILP64    Apple's Accelerate
    dgesv_                   MKL, and the libraries of Linux distributions

NumPy computes in float64 and complex128 for all dtypes, and so does native code, with the same functions.
Matrices are column-major. A library is used only if it solves two equations correctly.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from .... import dtypes
from ....kernels.blas import libraries
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer
from ..codegen.llvm_types import Register, constant_at, integer, ir
from ..codegen.rule_registry import RefusedError

_NAMES = (
    ("scipy_{}_64_", 64),
    ("{}_64_", 64),
    ("{}64_", 64),
    ("{}$NEWLAPACK$ILP64", 64),
    ("scipy_{}_", 32),
    ("{}$NEWLAPACK", 32),
    ("{}_", 32),
)
"""Names of the functions, and the width of their integer parameters."""

LETTERS = {dtypes.float64: "d", dtypes.complex128: "z"}


class LapackLibrary(NamedTuple):
    """A library, the spelling of its function names, and the width of its integers."""

    library: Any
    spelling: str
    bits: int


@functools.cache
def find() -> LapackLibrary | None:
    """Return the library; None if there is none."""
    for library, (spelling, bits) in itertools.product(libraries(), _NAMES):
        function = getattr(library, spelling.format("dgesv"), None)
        if function is not None and _solves(function, bits):
            return LapackLibrary(library, spelling, bits)
    return None


def _solves(function: Any, bits: int) -> bool:
    """Return whether a function solves x + 2y = 5, 3x + 4y = 11."""
    a, b = np.array([[1.0, 3.0], [2.0, 4.0]]), np.array([5.0, 11.0])
    whole = np.int64 if bits == 64 else np.int32
    n, one, info, pivots = np.array(2, whole), np.array(1, whole), np.array(9, whole), np.zeros(2, whole)
    function.restype = None
    function(*(ctypes.c_void_p(x.ctypes.data) for x in (n, one, a, n, pivots, b, n, info)))
    return int(info) == 0 and bool(np.allclose(b, [1.0, 2.0]))


class Lapack:
    """Emits calls of one library; integers are passed by address."""

    def __init__(self, e: Emitter, dtype: dtypes.DType) -> None:
        found = find()
        if found is None:
            raise RefusedError("it needs a LAPACK, and NumPy here has none that can be found")
        self.e, self.found, self.letter = e, found, LETTERS[dtype]
        self.kind = integer(found.bits)
        self.info = e.buffer(8)

    def number(self, value: int) -> Register:
        """Return the address of a constant integer."""
        return constant_at(self.e.module, f"lapack_{value}", self.kind(value))

    def character(self, letter: str) -> Register:
        """Return the address of an option letter."""
        return constant_at(self.e.module, f"lapack_{letter}", integer(8)(ord(letter)))

    def pivots(self, count: int) -> Buffer:
        """Return memory for pivot indices."""
        dtype = dtypes.int64 if self.found.bits == 64 else dtypes.int32
        return Buffer.new(self.e, dtype, (count,))

    def call(self, name: str, *arguments: Register) -> Register:
        """Call a function, whose last parameter is the status `info`; return the status."""
        import llvmlite.binding

        full = self.letter + name
        function = getattr(self.found.library, self.found.spelling.format(full), None)
        if function is None:
            raise RefusedError(f"NumPy's LAPACK has no {full}")
        symbol = f"agc_{full}"
        llvmlite.binding.add_symbol(symbol, ctypes.cast(function, ctypes.c_void_p).value or 0)
        self.e.call(symbol, ir().VoidType(), *arguments, self.info)
        return self.e.b.load(self.info, typ=self.kind)

    def succeeded(self, code: Register) -> Register:
        return self.e.b.icmp_signed("==", code, self.kind(0))
