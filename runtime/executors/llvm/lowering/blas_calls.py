"""Calls of BLAS: a single one on the thread that runs the code, or parts of a batch of products, which threads share.

multiply_add     c ← a · b           cblas_sgemm(rows first, as it is, as it is, m, n, k, 1, a, k, b, n, 0, c, n)
                 c ← c + aᵀ · b      cblas_sgemm(rows first, transposed, as it is, m, n, k, 1, a, m, b, n, 1, c, n)
                 without BLAS, and for integers: the function of gemm_blocked.py
ProductSizes     the table of agc_multiply(a, b, c, table) in kernels/native_products.c
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .... import dtypes
from ....kernels import blas, blas_limit, native_pool
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, constant, constant_at, integer, ir, null
from . import gemm_blocked


class Matrix(NamedTuple):
    """A matrix in memory: its address, and the distance of its rows in elements, as it is or transposed."""

    address: Register
    lead: int
    flag: int = blas.AS_IT_IS


class ProductSizes(NamedTuple):
    """The sizes of a batch of products, in elements. Distances of 0 read one matrix for all products of the batch."""

    kind: int
    """The index of the dtype in `blas.LETTERS`."""
    a_flag: int
    b_flag: int
    m: int
    n: int
    k: int
    a_lead: int
    b_lead: int
    c_lead: int
    a_row: int
    """The distance of rows of the first matrix; 1 if it is transposed."""
    b_column: int
    number: int
    """The number of products, which is a multiple of `inner`."""
    inner: int
    a_outer: int
    a_inner: int
    b_outer: int
    b_inner: int
    c_outer: int
    c_inner: int
    threads: int
    is_repeated: int


def shares_products() -> bool:
    """Return whether there is a function for batches of products, in parts that threads share."""
    return native_pool.with_blas() is not None


def multiply_add(
    e: Emitter, dtype: dtypes.DType, sizes: tuple[int, int, int], a: Matrix, b: Matrix, c: Matrix,
    adds: Register | None = None,
) -> None:  # fmt: skip
    """Emit `c ← a · b`, or `c ← c + a · b` if `adds` is true."""
    gemm = blas.find(dtype)
    if gemm is None:
        _multiply_blocked(e, dtype, sizes, a, b, c, adds)
        return
    flag, kind = integer(32), integer(gemm.bits)

    def whole(size: int) -> Register:
        found = e.word(size)
        return found if gemm.bits == 64 else e.b.trunc(found, kind)

    def lead(matrix: Matrix) -> Register:
        is_size = isinstance(matrix.lead, Size)  # which may be 0
        return whole(Size.of(e.intrinsic("smax", e.word(matrix.lead), e.word(1))) if is_size else matrix.lead)

    zero, one = (_factor(e, dtype, value) for value in (0, 1))
    arguments = [
        *(flag(value) for value in (blas.ROWS_FIRST, a.flag, b.flag)), *map(whole, sizes),
        one, a.address, lead(a), b.address, lead(b),
        zero if adds is None else e.choose(adds, one, zero), c.address, lead(c),
    ]  # fmt: skip
    e.call(gemm.symbol, ir().VoidType(), *arguments)


def _multiply_blocked(
    e: Emitter, dtype: dtypes.DType, sizes: tuple[int, int, int], a: Matrix, b: Matrix, c: Matrix,
    adds: Register | None,
) -> None:  # fmt: skip
    m, n, k = sizes
    turned = a.flag == blas.TRANSPOSED
    distances = [1 if turned else a.lead, a.lead if turned else 1, b.lead, c.lead]
    row, longest, block = n * dtype.size, gemm_blocked.longest(), gemm_blocked.block(dtype.size, turned)
    values = [*(each * dtype.size for each in distances), m, row, k, longest, block, 0, 0, 0, 0, row, 1, 1, 0]
    words = [e.word(0), e.word(0) if adds is None else e.b.zext(adds, integer(64)), *map(e.word, values)]
    table = e.slot(integer(64), len(words))
    for position, value in enumerate(words):
        e.b.store(value, e.b.gep(table, [e.word(position)], source_etype=integer(64)))
    if adds is None and isinstance(k, Size):  # which may be 0
        arguments = c.address, integer(8)(0), e.word(m * row), integer(1)(0)
        e.call("llvm.memset.p0.i64", ir().VoidType(), *arguments)
    pack = e.function_named(gemm_blocked.packing(dtype, b.flag == blas.TRANSPOSED), ir().VoidType(), [])
    addresses = null(), pack, a.address, b.address, c.address, table
    e.call(gemm_blocked.symbol(dtype), ir().VoidType(), *addresses)


def _factor(e: Emitter, dtype: dtypes.DType, value: int) -> Register:
    """Return a factor as BLAS takes it: complex ones by address."""
    number = constant(dtype, value)
    if dtype.kind != "c":
        return number
    pair = ir().Constant(ir().ArrayType(number.re.type, 2), [number.re, number.im])
    return constant_at(e.module, f"factor.{dtype.name}.{value}", pair)


@contextmanager
def one_thread(e: Emitter) -> Iterator[None]:
    """Limit BLAS to one thread while the code emitted here runs, if it can be limited."""
    is_limited = shares_products() and blas_limit.can_limit()
    if is_limited:
        e.call("agc_begin_limit", ir().VoidType())
    yield
    if is_limited:
        e.call("agc_end_limit", ir().VoidType())
