"""Products of matrices: what multiplies them depends on their size.

small               a function for just these sizes (gemm_tiles.py)
large               a function for all sizes (gemm_large.py), in threads where that is worth it
very large          BLAS (gemm_library.py), which also does complex numbers, and vectors

matmul a, b [transpose_b=True]      cblas_sgemm(…, as it is, transposed, m, n, k, 1, a, k, b, k, 0, c, n)
batches                             a loop around it; none where only `a` has batches, which are more rows then
tensordot, einsum                   axes put in order, one product, axes put in order
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import dtypes, shapes
from ...ir.graph import Operation
from ..emit.arithmetic import is_known
from ..emit.emitter import Emitter
from ..emit.nodes import Buffer, Index, Node
from ..emit.regions import Region
from ..emit.registry import RefusedError, lowers
from ..emit.sizes import is_sized, typical
from ..emit.threads import count as count_of_threads
from ..emit.threads import runner
from ..emit.types import Register, constant, integer, ir, memory_type, null, pointer
from . import gemm_large, gemm_library, gemm_strips
from .creating import uniform
from .gemm_tiles import Kind, product
from .shaping import checked, moved

LARGE = 1 << 14
"""Multiplications from which on the function for all sizes is as fast as one for just these."""

SHARED = 1 << 18
"""… from which on threads share it that look for something to do; …"""

WAKES = 1 << 21
"""… also those that sleep. In a loop they are soon awake."""

VERY_LARGE = 1 << 27
"""… from which on BLAS is used where there is one, for its threads and for what it knows of the processor."""


class Factor:
    """A matrix, or a batch of them, that is multiplied: in memory, perhaps as its transpose."""

    def __init__(self, node: Node, turned: bool = False, conjugated: bool = False) -> None:
        self.node = node
        self.turned = turned
        self.conjugated = conjugated and node.dtype.kind == "c"
        self.batch = node.shape[:-2]

    @property
    def flag(self) -> int:
        """What BLAS calls it."""
        if self.turned:
            return gemm_library.ADJOINT if self.conjugated else gemm_library.TRANSPOSED
        return gemm_library.AS_IT_IS

    @property
    def rows(self) -> int:
        return self.node.shape[-1 if self.turned else -2]

    @property
    def columns(self) -> int:
        return self.node.shape[-2 if self.turned else -1]


@lowers("matmul", sized=True)
def _(region: Region, operation: Operation, a: Node, b: Node) -> Node:
    attrs = operation.attrs
    return multiplied(
        region,
        Factor(a, attrs["transpose_a"] or attrs["adjoint_a"], attrs["adjoint_a"]),
        Factor(b, attrs["transpose_b"] or attrs["adjoint_b"], attrs["adjoint_b"]),
    )


@lowers("matvec", sized=True)
def _(region: Region, operation: Operation, a: Node, b: Node) -> Node:
    attrs = operation.attrs
    column = reshaped(region, b, (*b.shape, 1))
    found = multiplied(
        region, Factor(a, attrs["transpose_a"] or attrs["adjoint_a"], attrs["adjoint_a"]), Factor(column)
    )
    return Buffer(found.dtype, found.shape[:-1], found.address, found.is_own)


@lowers("tensordot", sized=True)
def _(region: Region, operation: Operation, a: Node, b: Node) -> Node:
    gone_a, gone_b = (
        [shapes.normal_axis(axis, len(node.shape)) for axis in operation.attrs[name]]
        for node, name in ((a, "axes_a"), (b, "axes_b"))
    )
    return contracted(region, a, gone_a, b, gone_b)


def contracted(region: Region, a: Node, gone_a: Sequence[int], b: Node, gone_b: Sequence[int]) -> Buffer:
    """The sum of products over pairs of axes: what is left of `a`, then what is left of `b`."""
    left = [axis for axis in range(len(a.shape)) if axis not in gone_a]
    right = [axis for axis in range(len(b.shape)) if axis not in gone_b]
    shape = (*(a.shape[axis] for axis in left), *(b.shape[axis] for axis in right))
    inner = math.prod(a.shape[axis] for axis in gone_a)
    first = _as_matrix(region, a, left, list(gone_a), inner, is_left=True)
    second = _as_matrix(region, b, list(gone_b), right, inner, is_left=False)
    found = multiplied(region, first, second)
    return Buffer(found.dtype, shape, found.address, found.is_own)


def _as_matrix(
    region: Region, node: Node, rows: list[int], columns: list[int], inner: int, is_left: bool
) -> Factor:
    """A tensor as a matrix of these axes; turned, rather than copied, where its axes stand the other way round."""
    outer = math.prod(node.shape[axis] for axis in (rows if is_left else columns))
    size = (outer, inner) if is_left else (inner, outer)
    if [*columns, *rows] == sorted([*columns, *rows]) and rows and columns:
        return Factor(reshaped(region, node, size[::-1]), turned=True)
    return Factor(reshaped(region, permuted(node, [*rows, *columns]), size))


def permuted(node: Node, order: Sequence[int]) -> Node:
    """A tensor whose axes stand in another order."""
    if list(order) == list(range(len(order))):
        return node
    shape = tuple(node.shape[axis] for axis in order)
    return moved(node, shape, lambda e, places: [places[list(order).index(i)] for i in range(len(order))])


def reshaped(region: Region, node: Node, shape: tuple[int, ...]) -> Buffer:
    """A tensor in memory, as one of another shape."""
    stored = region.stored(node)
    return Buffer(stored.dtype, shape, stored.address)


def multiplied(region: Region, a: Factor, b: Factor) -> Buffer:
    """The product of matrices, or of batches of them, which are broadcast."""
    e, dtype = region.e, a.node.dtype
    batch = shapes.broadcast(a.batch, b.batch) if a.batch and b.batch else a.batch or b.batch
    assert batch is not None
    shape = (*(size or 0 for size in batch), a.rows, b.columns)
    checked(e, a.columns, b.rows)
    if not a.columns:
        return region.stored(uniform(dtype, shape, 0))
    result = Buffer.new(e, dtype, shape)
    if not result.size:
        return result
    left, right = region.stored(a.node), region.stored(b.node)
    count = math.prod(shape[:-2])
    e.work += math.prod(map(typical, (count, a.rows, b.columns, a.columns))) // 8
    if count == 1 or (math.prod(b.batch) == 1 and not a.turned):
        Product(e, a, b, dtype, count * a.rows).write(left.address, right.address, result.address)
        return result
    one = Product(e, a, b, dtype, a.rows)
    with e.nest(list(shape[:-2]), parallel=False) as numbers:
        index = Index.of(shape[:-2], numbers)
        first, second = (
            beyond(e, buffer, e.times(index.within(e, factor.batch).flat(e), factor.rows * factor.columns))
            for factor, buffer in ((a, left), (b, right))
        )
        one.write(first, second, beyond(e, result, e.times(index.flat(e), a.rows * b.columns)))
    return result


def beyond(e: Emitter, buffer: Buffer, by: Register) -> Register:
    parts = 2 if buffer.dtype.kind == "c" else 1
    return e.b.gep(
        buffer.address, [e.times(by, parts)], inbounds=True, source_etype=memory_type(buffer.dtype)
    )


class Product:
    """One product of matrices of known sizes."""

    def __init__(self, e: Emitter, a: Factor, b: Factor, dtype: dtypes.DType, m: int) -> None:
        self.e, self.a, self.b, self.dtype = e, a, b, dtype
        self.m, self.n, self.k = m, b.columns, a.columns
        self.gemm = gemm_library.find(dtype)
        if dtype.kind == "c" and self.gemm is None:
            raise RefusedError(
                f"products of {dtype.name} need a BLAS, and NumPy here has none that can be found"
            )

    def write(self, a: Register, b: Register, c: Register) -> None:
        """Write the computation from these addresses to that one."""
        is_open = is_sized((self.m, self.n, self.k))
        size = self.m * self.n * self.k
        if self.gemm is not None and (is_open or self.dtype.kind == "c" or self.n == 1 or size >= VERY_LARGE):
            self._by_blas(self.gemm, a, b, c)
        elif is_open:
            raise RefusedError(
                f"products of {self.dtype.name} of a size that depends on values are not compiled"
            )
        elif size < LARGE or self.dtype is dtypes.float16:
            self._in_registers(a, b, c)
        else:
            self._by_strips(a, b, c)

    def _in_registers(self, a: Register, b: Register, c: Register) -> None:
        if self.b.turned:
            b = self._transposed(b)
        kind = Kind(self.dtype, self.m, self.n, self.k, self.a.turned)
        self.e.b.call(product(self.e.module, kind), [a, b, c])

    def _by_strips(self, a: Register, b: Register, c: Register) -> None:
        """By the function for all sizes; each thread computes some columns, or some rows."""
        e = self.e
        threads, size = count_of_threads(), self.m * self.n * self.k
        is_shared = threads > 1 and size >= SHARED
        sizes = self._sizes(threads, size >= WAKES or e.is_repeated)
        name = f"product.{'.'.join(map(str, sizes))}"
        table = e.module.globals.get(name)
        if table is None:
            table = ir().GlobalVariable(e.module, ir().ArrayType(integer(64), len(sizes)), name)
            table.initializer = ir().Constant(table.value_type, list(sizes))
            table.global_constant, table.linkage, table.type = True, "internal", pointer()
        run = runner(e) if is_shared else null()
        pack = e.function_named(gemm_large.packing(self.dtype, self.b.turned), ir().VoidType(), [])
        e.call(gemm_large.symbol(self.dtype), ir().VoidType(), run, pack, a, b, c, table)

    def _sizes(self, threads: int, wakes: bool) -> gemm_large.Sizes:
        """The table of the product.

        Units are columns, whose strips a thread packs alone, unless rows can be shared more evenly.
        """
        m, n, k, size = self.m, self.n, self.k, self.dtype.size
        across = gemm_strips.ACROSS // size
        strips, tiles = -(-n // across), -(-m // gemm_large.DOWN)
        by_rows = -(-strips // threads) * tiles > -(-tiles // threads) * strips
        down, along = (1, m) if self.a.turned else (k, 1)
        apart = k if self.b.turned else n
        if by_rows:
            units = gemm_large.DOWN * down, 0, gemm_large.DOWN * n, gemm_large.DOWN, 0, tiles
        else:
            units = 0, across * (k if self.b.turned else 1), across, 0, across, strips
        a_unit, b_unit, c_unit, m_unit, n_unit, count = units
        return gemm_large.Sizes(
            int(m < gemm_large.FEW and not self.b.turned), down * size, along * size, apart * size,
            n * size, m, n * size, k, gemm_large.length(k, self.a.turned), a_unit * size, b_unit * size,
            c_unit * size, m_unit, n_unit * size, count, threads, int(wakes),
        )  # fmt: skip

    def _transposed(self, b: Register) -> Register:
        """A copy of `b` that stands in memory as it is used."""
        e = self.e
        given = Buffer(self.dtype, (self.n, self.k), b)
        copy = Buffer.new(e, self.dtype, (self.k, self.n))
        with e.nest([self.k, self.n]) as (row, column):
            element = e.load(self.dtype, given.address, e.plus(e.times(column, self.k), row))
            e.store(self.dtype, copy.address, e.plus(e.times(row, self.n), column), element)
        return copy.address

    def _by_blas(self, gemm: gemm_library.Gemm, a: Register, b: Register, c: Register) -> None:
        flag = integer(32)

        def whole(size: int) -> Register:
            kind, found = integer(gemm.bits), self.e.word(size)
            return (
                found if gemm.bits == 64 else kind(size) if is_known(found) else self.e.b.trunc(found, kind)
            )

        arguments = [
            *(flag(value) for value in (gemm_library.ROWS_FIRST, self.a.flag, self.b.flag)),
            *(whole(size) for size in (self.m, self.n, self.k)),
            self._factor(1), a, whole(self.m if self.a.turned else self.k),
            b, whole(self.k if self.b.turned else self.n),
            self._factor(0), c, whole(self.n),
        ]  # fmt: skip
        import llvmlite.binding

        llvmlite.binding.add_symbol(gemm.symbol, gemm.address)
        self.e.call(gemm.symbol, ir().VoidType(), *arguments)

    def _factor(self, number: int) -> Register:
        """0 or 1, as BLAS takes it: complex ones by their address."""
        if self.dtype.kind != "c":
            return constant(self.dtype, number)
        name = f"factor_{self.dtype.name}_{number}"
        found = self.e.module.globals.get(name)
        if found is None:
            part = memory_type(self.dtype)
            pair = ir().ArrayType(part, 2)
            found = ir().GlobalVariable(self.e.module, pair, name)
            found.initializer = ir().Constant(pair, [part(number), part(0)])
            found.global_constant = True
            found.linkage = "internal"
        return found
