"""Find the functions of the BLAS that NumPy was built with: GEMM, GEMV, and TRSM, which solves triangular systems.

    scipy_cblas_sgemm64_           the OpenBLAS in NumPy's wheels, with 64-bit integers
    cblas_sgemm$NEWLAPACK$ILP64    Apple's Accelerate
    cblas_sgemm                    MKL, and the libraries of Linux distributions

A function must first give the right result for two small matrices. Without BLAS, native code has
functions of its own for all products except complex ones (llvm/lowering/gemm_selection.py).
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import dtypes

LETTERS = {dtypes.float32: "s", dtypes.float64: "d", dtypes.complex64: "c", dtypes.complex128: "z"}
"""The BLAS type prefixes."""

_NAMES = (
    ("scipy_cblas_{}64_", 64),
    ("cblas_{}64_", 64),
    ("cblas_{}$NEWLAPACK$ILP64", 64),
    ("cblas_{}_64", 64),
    ("scipy_cblas_{}", 32),
    ("cblas_{}$NEWLAPACK", 32),
    ("cblas_{}", 32),
)
"""Names of the functions, and the width of their integer parameters."""

ROWS_FIRST, AS_IT_IS, TRANSPOSED, ADJOINT = 101, 111, 112, 113
_UPPER, _LOWER, _NON_UNIT, _LEFT = 121, 122, 131, 141


class Gemm(NamedTuple):
    """A BLAS function: `symbol` is its name in compiled code, `bits` the width of its integers.

    `vector` is the address of the library's GEMV for real numbers, which multiplies a matrix by a vector; 0 if there is
    none.
    """

    symbol: str
    address: int
    bits: int
    vector: int = 0


@functools.cache
def find(dtype: dtypes.DType) -> Gemm | None:
    """Return the GEMM function for a dtype; None if there is none."""
    letter = LETTERS.get(dtype)
    if letter is None:
        return None
    for library, (name, bits) in itertools.product(libraries(), _NAMES):
        function = getattr(library, name.format(f"{letter}gemm"), None)
        if function is not None and _multiplies(function, dtype, bits):
            vector = None if dtype.kind == "c" else getattr(library, name.format(f"{letter}gemv"), None)
            if vector is not None and not _multiplies_vector(vector, dtype, bits):
                vector = None
            return Gemm(f"agc_{letter}gemm", _address(function), bits, _address(vector))
    return None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


Solver: TypeAlias = Callable[[Any, Any, bool], None]
"""Overwrites a matrix with the solutions for its columns: `solve(half, rhs, is_lower)`, with adjacent elements."""


@functools.cache
def triangular_solver(dtype: np.dtype[Any]) -> Solver | None:
    """Return the solver for a dtype; None if there is none."""
    letter = LETTERS.get(dtypes.as_dtype(dtype))
    for library, (name, bits) in itertools.product(libraries(), _NAMES):
        function = getattr(library, name.format(f"{letter}trsm"), None)
        if function is not None:
            solve = _solver(function, dtype, ctypes.c_int64 if bits == 64 else ctypes.c_int32)
            half, rhs = np.array([[2, 9], [1, 4]], dtype), np.array([[2], [9]], dtype)
            solve(half, rhs, True)
            if rhs.ravel().tolist() == [1, 2]:
                return solve
    return None


def _solver(function: Any, dtype: np.dtype[Any], whole: Any) -> Solver:
    part: Any = ctypes.c_float if dtype.char in "fF" else ctypes.c_double
    factor = (part * 2)(1, 0) if dtype.kind == "c" else part(1)
    function.restype = None

    def solve(half: Any, rhs: Any, is_lower: bool) -> None:
        is_turned = half.strides[1] > half.strides[0]
        size, columns = rhs.shape
        # The stride of a dimension of size 1 may be any number.
        row = max(size, max(half.strides) // half.itemsize)
        rhs_row = max(columns, rhs.strides[0] // rhs.itemsize)
        function(
            *map(ctypes.c_int, (
                ROWS_FIRST, _LEFT, _LOWER if is_lower != is_turned else _UPPER,
                TRANSPOSED if is_turned else AS_IT_IS, _NON_UNIT,
            )),
            whole(size), whole(columns), factor,
            ctypes.c_void_p(half.ctypes.data), whole(row),
            ctypes.c_void_p(rhs.ctypes.data), whole(rhs_row),
        )  # fmt: skip

    return solve


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
    a, b = (np.arange(start, start + 6).reshape(2, 3).astype(dtype.numpy_dtype) for start in (1, 2))
    c = np.full((2, 2), np.nan, dtype.numpy_dtype)  # which is overwritten, not multiplied by 0
    whole = ctypes.c_int64 if bits == 64 else ctypes.c_int32
    one, zero = np.ones((), dtype.numpy_dtype), np.zeros((), dtype.numpy_dtype)
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


def _multiplies_vector(function: Any, dtype: dtypes.DType, bits: int) -> bool:
    """Return whether a function computes the product of a small matrix and a vector."""
    a, x = np.arange(6).reshape(2, 3).astype(dtype.numpy_dtype), np.arange(3).astype(dtype.numpy_dtype)
    y = np.full(2, np.nan, dtype.numpy_dtype)
    whole = ctypes.c_int64 if bits == 64 else ctypes.c_int32
    factor: Any = ctypes.c_float if dtype is dtypes.float32 else ctypes.c_double
    function.restype = None
    function(
        ctypes.c_int(ROWS_FIRST), ctypes.c_int(AS_IT_IS), whole(2), whole(3),
        factor(1), ctypes.c_void_p(a.ctypes.data), whole(3), ctypes.c_void_p(x.ctypes.data), whole(1),
        factor(0), ctypes.c_void_p(y.ctypes.data), whole(1),
    )  # fmt: skip
    return bool((y == a @ x).all())
