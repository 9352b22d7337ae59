"""Select the implementation of a matrix product, and emit the call.

small               a function specialized for the sizes (gemm_small.py)
medium              one function for all sizes (gemm_blocked.py), multithreaded if that pays off
large               BLAS, in parts that threads share (blas_calls.py); also batches, complex products, products
                    with vectors, and floats with dynamic sizes
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .... import dtypes
from ....kernels import blas
from ..codegen.dynamic_sizes import is_sized
from ..codegen.function_builder import Emitter
from ..codegen.interrupts import PATIENCE, unless_interrupted
from ..codegen.lazy_values import Buffer, LazyValue
from ..codegen.llvm_types import Register, constant_at, integer, ir, null
from ..codegen.parallel_loops import count as count_of_threads
from ..codegen.parallel_loops import runner
from ..codegen.rule_registry import RefusedError
from . import gemm_blocked, gemm_kernel_ir, gemm_packing
from .blas_calls import Matrix, ProductSizes, multiply_add, shares_products

LARGE = 1 << 14
"""The number of multiplications from which on general functions are as fast as one specialized for the sizes."""

VERY_LARGE = 1 << 27
"""The number of multiplications from which on BLAS is used if available, for its tuned kernels."""

FEW = 128
"""The most rows for which the functions here are faster than BLAS, which packs the whole second matrix."""

FEWEST = 16
"""The most rows for which BLAS in parts is faster: such a part is so small that OpenBLAS packs nothing."""

SHARED = 1 << 18
"""The number of multiplications from which on spinning threads share the work. OpenBLAS uses one thread up to here."""

WAKES = 1 << 21
"""The number of multiplications from which on sleeping threads are woken too. Inside a loop they always are."""

UNPACKED = 10**6
"""The number of multiplications up to which OpenBLAS does not pack its operands."""

NARROW = 4
"""Tiles that are so many times as wide as the result take longer than BLAS: they compute missing columns, too."""

TILES = 8
"""The tiles per unit of rows. Each unit packs the strips again."""

PACKING = 1
"""The cost of packing a strip, in tiles."""

_ROWS = 512
"""The fewest rows of a BLAS call that Ctrl-C waits for, since each call packs the second matrix again."""

_MOST_CALLS = 64
"""The most such calls per product, since each call adds code to compile."""

_PIECE = 1 << 34
"""The approximate number of multiplications of such a call, which take some tenths of a second."""


class Factor:
    """A matrix or batch of matrices in memory, perhaps stored as its transpose."""

    def __init__(self, node: LazyValue, turned: bool = False, conjugated: bool = False) -> None:
        self.node = node
        self.turned = turned
        self.conjugated = conjugated and node.dtype.kind == "c"
        self.batch = node.shape[:-2]

    @property
    def flag(self) -> int:
        """BLAS constant for the layout."""
        if self.turned:
            return blas.ADJOINT if self.conjugated else blas.TRANSPOSED
        return blas.AS_IT_IS

    @property
    def rows(self) -> int:
        return self.node.shape[-1 if self.turned else -2]

    @property
    def columns(self) -> int:
        return self.node.shape[-2 if self.turned else -1]


class ProductBatch(NamedTuple):
    """The products of one call: `number`, in groups of `inner`, and the distances of groups and of products.

    The distances of the factors `a` and `b` and of the results `c` are in elements.
    """

    number: int = 1
    inner: int = 1
    a: tuple[int, int] = (0, 0)
    b: tuple[int, int] = (0, 0)
    c: tuple[int, int] = (0, 0)


class Product:
    """One matrix product, or a batch of them."""

    def __init__(
        self, e: Emitter, a: Factor, b: Factor, dtype: dtypes.DType, m: int, batch: ProductBatch | None = None
    ) -> None:
        self.e, self.a, self.b, self.dtype = e, a, b, dtype
        self.batch = batch or ProductBatch()
        self.m, self.n, self.k = m, b.columns, a.columns
        self.gemm = blas.find(dtype)
        if dtype.kind == "c" and self.gemm is None:
            raise RefusedError(
                f"products of {dtype.name} need a BLAS, and NumPy here has none that can be found"
            )

    def write(self, a: Register, b: Register, c: Register) -> None:
        """Emit the product of the matrices at `a` and `b`, stored at `c`."""
        is_open = is_sized((self.m, self.n, self.k))
        if self.gemm is not None and (self.is_for_blas or self.batch.number != 1):
            self._by_blas(self.gemm, a, b, c)
        elif is_open:
            self._alone(self.m, a, b, c)
        elif self.size < LARGE:
            self._in_registers(a, b, c)
        else:
            self._by_strips(a, b, c)

    @property
    def size(self) -> int:
        """The number of multiplications."""
        return math.prod((self.m, self.n, self.k))

    @property
    def is_small(self) -> bool:
        """Return whether a function specialized for the sizes computes the product."""
        return not (self.gemm is not None and self.is_for_blas) and self.size < LARGE

    @property
    def is_for_blas(self) -> bool:
        """Return whether BLAS, if there is one, is faster than the functions here, or the only one.

        Up to `UNPACKED` multiplications it packs nothing, unless the second matrix is transposed. In loops, threads
        that spin share products from `SHARED` multiplications on, which the functions here divide better, except those
        of the fewest rows.
        """
        if self.dtype.kind == "c" or is_sized((self.m, self.n, self.k)):
            return True
        if self.size >= (VERY_LARGE if self.m > FEW else PATIENCE):
            return True
        is_vector = self.n == 1 or (self.m == 1 and self.size >= LARGE)
        most = SHARED if self.e.is_repeated else UNPACKED
        is_unpacked = self.size <= most or (self.m <= FEWEST and shares_products())
        is_narrow = NARROW * self.n * self.dtype.size <= gemm_packing.tile().across
        return is_vector or (self.size >= LARGE and (is_unpacked or is_narrow) and not self.b.turned)

    def _in_registers(self, a: Register, b: Register, c: Register) -> None:
        if self.b.turned:
            b = self._transposed(b)
        from .gemm_small import ProductShape, product  # imported for small products only

        kind = ProductShape(self.dtype, self.m, self.n, self.k, self.a.turned)
        self.e.b.call(product(self.e.module, kind), [a, b, c])

    def _by_strips(self, a: Register, b: Register, c: Register) -> None:
        """Call the function for all sizes; each thread computes some columns or some rows."""
        e = self.e
        threads, size = count_of_threads(), self.m * self.n * self.k
        is_shared = threads > 1 and size >= SHARED
        sizes = self._sizes(threads, size >= WAKES or e.is_repeated)
        pack = e.function_named(gemm_blocked.packing(self.dtype, self.b.turned), ir().VoidType(), [])
        run = runner(e) if is_shared else null()
        e.call(gemm_blocked.symbol(self.dtype), ir().VoidType(), run, pack, a, b, c, self._table(sizes))

    def _sizes(self, threads: int, wakes: bool) -> gemm_kernel_ir.Sizes:
        """Return the size table of the product.

        A unit is a block of rows, or of columns. Rows have better cache locality. Columns are chosen where they reduce
        the work of the busiest thread. Only one thread packs the strips of a block of columns, but each block packs a
        transposed `a` again.
        """
        m, n, k, size = self.m, self.n, self.k, self.dtype.size
        tile = gemm_packing.tile()
        across = tile.across // size
        strips, tiles = -(-n // across), -(-m // tile.down)
        high, turns = _evenly(tiles, threads)
        stays = gemm_blocked.stays(m, n * size, self.b.turned)
        packing = 0 if stays else PACKING
        by_rows = self.a.turned or -(-strips // threads) * (tiles + packing) >= turns * strips * (
            high + packing
        )
        down, along = (1, m) if self.a.turned else (k, 1)
        row_stride = k if self.b.turned else n
        if by_rows:
            rows = tile.down * high
            units = rows * down, 0, rows * n, rows, 0, -(-m // rows)
        else:
            units = 0, across * (k if self.b.turned else 1), across, 0, across, strips
        a_unit, b_unit, c_unit, m_unit, n_unit, count = units
        return gemm_kernel_ir.Sizes(
            int(stays), 0, down * size, along * size, row_stride * size,
            n * size, m, n * size, k, gemm_blocked.length(k), gemm_blocked.block(size, self.a.turned),
            a_unit * size, b_unit * size, c_unit * size, m_unit, n_unit * size, count, threads, int(wakes),
        )  # fmt: skip

    def _transposed(self, b: Register) -> Register:
        """Return a transposed copy of `b`."""
        e = self.e
        given = Buffer(self.dtype, (self.n, self.k), b)
        copy = Buffer.new(e, self.dtype, (self.k, self.n))
        with e.nest([self.k, self.n]) as (row, column):
            element = e.load(self.dtype, given.address, e.plus(e.times(column, self.k), row))
            e.store(self.dtype, copy.address, e.plus(e.times(row, self.n), column), element)
        return copy.address

    def _by_blas(self, gemm: blas.Gemm, a: Register, b: Register, c: Register) -> None:
        """Emit one call, or several calls of some rows each, so that Ctrl-C can end the run between them."""
        work = 1 if is_sized((self.m, self.n, self.k)) else self.size
        if work < PATIENCE:
            self._call(gemm, self.m, a, b, c)
            return
        rows = max(_ROWS, -(-_PIECE * self.m // work), -(-self.m // _MOST_CALLS))
        for first in range(0, self.m, rows):
            down = 1 if self.a.turned else self.k
            here = self._beyond(a, first * down), b, self._beyond(c, first * self.n)
            with unless_interrupted(self.e, work):
                self._call(gemm, min(rows, self.m - first), *here)

    def _beyond(self, address: Register, elements: int) -> Register:
        offset = self.e.word(elements * self.dtype.size)
        return (
            self.e.b.gep(address, [offset], inbounds=True, source_etype=integer(8)) if elements else address
        )

    def _call(self, gemm: blas.Gemm, m: int, *addresses: Register) -> None:
        """Emit the call of BLAS, in parts if the extension is there; without it, a call has one product."""
        e, a, b, batch = self.e, self.a, self.b, self.batch
        a_lead, b_lead = self.m if a.turned else self.k, self.k if b.turned else self.n
        if not shares_products():
            self._alone(m, *addresses)
            return
        sizes = ProductSizes(
            [*blas.LETTERS].index(self.dtype), a.flag, b.flag, m, self.n, self.k, a_lead, b_lead, self.n,
            1 if a.turned else self.k, self.k if b.turned else 1,
            batch.number, batch.inner, *batch.a, *batch.b, *batch.c, count_of_threads(), int(e.is_repeated),
        )  # fmt: skip
        e.call("agc_multiply", ir().VoidType(), *addresses, self._table(sizes))

    def _alone(self, m: int, a: Register, b: Register, c: Register) -> None:
        """Emit one call, on the thread that runs the code."""
        first = Matrix(a, self.m if self.a.turned else self.k, self.a.flag)
        second = Matrix(b, self.k if self.b.turned else self.n, self.b.flag)
        multiply_add(self.e, self.dtype, (m, self.n, self.k), first, second, Matrix(c, self.n))

    def _table(self, sizes: Sequence[int]) -> Register:
        """Return the address of a table of sizes: a constant, or a stack slot if a size is dynamic."""
        e = self.e
        if not is_sized(tuple(sizes)):
            value = ir().Constant(ir().ArrayType(integer(64), len(sizes)), list(sizes))
            return constant_at(e.module, f"product.{'.'.join(map(str, sizes))}", value)
        table = e.slot(integer(64), len(sizes))
        for position, size in enumerate(sizes):
            e.b.store(e.word(size), e.b.gep(table, [e.word(position)], source_etype=integer(64)))
        return table


def _evenly(tiles: int, threads: int) -> tuple[int, int]:
    """Return the tiles per unit of rows, and the largest number of units per thread.

    >>> _evenly(50, 2)  # 7 units of 7 tiles, and one that is left
    (7, 4)
    """
    turns = -(-tiles // (threads * TILES))
    return -(-tiles // (threads * turns)), turns
