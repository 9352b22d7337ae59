"""Single calls of BLAS, on the thread that runs the code: for products whose operands are in the cache.

c ← a · b                cblas_sgemm(rows first, not transposed, not transposed, m, n, k, 1, a, k, b, n, 0, c, n)
c ← c + aᵀ · b           cblas_sgemm(rows first, transposed, not transposed, m, n, k, 1, a, m, b, n, 1, c, n)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .... import dtypes
from ....kernels import blas
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, constant, integer, ir
from ..llvm_engine import known_as
from . import blas_parts_ir


class Matrix(NamedTuple):
    """A matrix in memory: its address, and the distance of its rows in elements."""

    address: Register
    lead: int
    is_turned: bool = False


def multiply_add(
    e: Emitter, dtype: dtypes.DType, sizes: tuple[int, int, int], a: Matrix, b: Matrix, c: Matrix,
    before: Register | None = None,
) -> None:  # fmt: skip
    """Emit `c ← a · b + before · c`; `before` is 0 or 1."""
    gemm = blas.find(dtype)
    assert gemm is not None
    known_as(gemm.symbol, gemm.address)
    flag, kind = integer(32), integer(gemm.bits)

    def whole(size: int) -> Register:
        found = e.word(size)
        return found if gemm.bits == 64 else e.b.trunc(found, kind)

    flags = [blas.TRANSPOSED if each.is_turned else blas.AS_IT_IS for each in (a, b)]
    arguments = [
        *(flag(value) for value in (blas.ROWS_FIRST, *flags)), *map(whole, sizes),
        constant(dtype, 1), a.address, whole(a.lead), b.address, whole(b.lead),
        constant(dtype, 0) if before is None else before, c.address, whole(c.lead),
    ]  # fmt: skip
    e.call(gemm.symbol, ir().VoidType(), *arguments)


@contextmanager
def one_thread(e: Emitter, dtype: dtypes.DType) -> Iterator[None]:
    """Limit BLAS to one thread while the code emitted here runs."""
    gemm = blas.find(dtype)
    assert gemm is not None
    begin, end = blas_parts_ir.limits(dtype, gemm)
    e.call(begin, ir().VoidType())
    yield
    e.call(end, ir().VoidType())
