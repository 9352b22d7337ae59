"""Find the GEMM functions of the BLAS that NumPy was built with.

    scipy_cblas_sgemm64_           the OpenBLAS in NumPy's wheels, with 64-bit integers
    cblas_sgemm$NEWLAPACK$ILP64    Apple's Accelerate
    cblas_sgemm                    MKL, and the libraries of Linux distributions

A function must first multiply two small matrices correctly. Without BLAS, native code has
functions of its own for all products except complex ones (llvm/lowering/gemm_selection.py).
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes

LETTERS = {dtypes.float32: "s", dtypes.float64: "d", dtypes.complex64: "c", dtypes.complex128: "z"}
"""The BLAS type prefixes."""

_NAMES = (
    ("scipy_cblas_{}gemm64_", 64),
    ("cblas_{}gemm64_", 64),
    ("cblas_{}gemm$NEWLAPACK$ILP64", 64),
    ("cblas_{}gemm_64", 64),
    ("scipy_cblas_{}gemm", 32),
    ("cblas_{}gemm$NEWLAPACK", 32),
    ("cblas_{}gemm", 32),
)
"""Names of the functions, and the width of their integer parameters."""

ROWS_FIRST, AS_IT_IS, TRANSPOSED, ADJOINT = 101, 111, 112, 113


class Gemm(NamedTuple):
    """A BLAS function: `symbol` is its name in compiled code, `bits` the width of its integers."""

    symbol: str
    address: int
    bits: int


@functools.cache
def find(dtype: dtypes.DType) -> Gemm | None:
    """Return the GEMM function for a dtype; None if there is none."""
    letter = LETTERS.get(dtype)
    if letter is None:
        return None
    for library, (name, bits) in itertools.product(libraries(), _NAMES):
        function = getattr(library, name.format(letter), None)
        if function is not None and _multiplies(function, dtype, bits):
            address = ctypes.cast(function, ctypes.c_void_p).value
            return Gemm(f"agc_{letter}gemm", address or 0, bits)
    return None


def libraries() -> Iterator[Any]:
    """Yield NumPy's extension module, which exposes its linked libraries, and then the bundled OpenBLAS libraries."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    module = Path(_multiarray_umath.__file__)
    folder = module.parents[2] / "numpy.libs"
    for path in (module, *sorted(folder.glob("*openblas*"))):
        try:
            yield ctypes.CDLL(str(path))
        except OSError:
            continue


def _multiplies(function: Any, dtype: dtypes.DType, bits: int) -> bool:
    """Return whether a function computes the product of two small matrices, the second one transposed."""
    a, b = (np.arange(start, start + 6).reshape(2, 3).astype(dtype.numpy) for start in (1, 2))
    c = np.zeros((2, 2), dtype.numpy)
    whole = ctypes.c_int64 if bits == 64 else ctypes.c_int32
    one, zero = np.ones((), dtype.numpy), np.zeros((), dtype.numpy)
    factor: Any = ctypes.c_float if dtype is dtypes.float32 else ctypes.c_double
    if dtype.kind == "c":
        factors = [ctypes.c_void_p(number.ctypes.data) for number in (one, zero)]
    else:
        factors = [factor(1), factor(0)]
    function.restype = None
    function(
        *(ctypes.c_int(flag) for flag in (ROWS_FIRST, AS_IT_IS, TRANSPOSED)),
        *(whole(size) for size in (2, 2, 3)),
        factors[0], ctypes.c_void_p(a.ctypes.data), whole(3), ctypes.c_void_p(b.ctypes.data), whole(3),
        factors[1], ctypes.c_void_p(c.ctypes.data), whole(2),
    )  # fmt: skip
    return bool((c == a @ b.T).all())
