"""Lower linear algebra (solve, inv, det, cholesky) to calls of NumPy's LAPACK, one per matrix.

solve a, b       copy a and b in column-major order;   gesv a, b;   x ← b
det a            getrf a;   the sign, and the sum of the logarithms of the diagonal

A singular matrix, or one that is not positive definite, fails a run-time check. So do equations with NaN or
infinities, which LAPACK spreads or loses: kernels treat them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import ComplexPair, Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import as_dtype, converted
from .fill import shape_of
from .lapack import Lapack
from .reduction_kinds import get, new_slot, put

LARGE = 128
"""The most rows of compiled systems."""

_ALONE = 96
"""The most rows that OpenBLAS decomposes by Cholesky's method on one thread. Several wait for each other."""


class _Matrices:
    """A batch of square matrices in the dtype of the computation. `is_adjoint` loads conjugate transposes."""

    def __init__(self, region: Region, node: LazyValue, is_adjoint: bool = False) -> None:
        if not node.size:
            raise RefusedError("empty matrices are not compiled")
        if node.shape[-1] > LARGE:
            raise RefusedError("kernels are as fast for large matrices")
        self.e, self.node, self.is_adjoint = region.e, region.settled(node), is_adjoint
        self.n = node.shape[-1]
        self.dtype = dtypes.complex128 if node.dtype.kind == "c" else dtypes.float64
        self.lapack = Lapack(self.e, self.dtype)
        self.size = self.lapack.number(self.n)
        self.memory = Buffer.new(self.e, self.dtype, (self.n, self.n))

    @contextmanager
    def each(self, batch: Shape) -> Iterator[list[Register]]:
        """Emit a loop over the matrices of a batch."""
        with self.e.nest(batch, parallel=False, inner=self.n**3) as numbers:
            yield numbers

    def load(self, batch_index: Index, demands_finite: bool = False) -> None:
        """Copy a matrix in column-major order."""
        e, node = self.e, self.node
        batch = batch_index.within(e, node.shape[:-2]).coordinates(e)
        with e.nest([self.n, self.n]) as (column, row):
            pair = [column, row] if self.is_adjoint else [row, column]
            element = converted(e, node.at(e, Index.of(node.shape, [*batch, *pair])), node.dtype, self.dtype)
            if self.is_adjoint:
                element = conjugate(e, element)
            if demands_finite:
                _demand_finite(e, element)
            e.store(self.dtype, self.memory.address, e.plus(e.times(column, self.n), row), element)


def _demand_finite(e: Emitter, x: Element) -> None:
    for part in (x.re, x.im) if isinstance(x, ComplexPair) else (x,):
        e.demand(e.b.fcmp_ordered("<", e.intrinsic("fabs", part), constant(dtypes.float64, float("inf"))))


def conjugate(e: Emitter, x: Element) -> Element:
    return ComplexPair(x.re, e.b.fneg(x.im)) if isinstance(x, ComplexPair) else x


def _solved(
    region: Region,
    matrices: _Matrices,
    shape: Shape,
    right: Callable[[Index, Register, Register], Element],
) -> Buffer:
    """Return the solutions for right-hand sides `right(matrix, row, column)`."""
    e, lapack, n, columns = region.e, matrices.lapack, matrices.n, shape[-1]
    result, pivots = Buffer.new(e, matrices.dtype, shape), lapack.pivots(n)
    side = Buffer.new(e, matrices.dtype, (columns, n))
    if not columns:
        raise RefusedError("equations without right-hand sides are not compiled")
    with matrices.each(shape[:-2]) as numbers:
        batch_index = Index.of(shape[:-2], numbers)
        matrices.load(batch_index, demands_finite=True)
        with e.nest([columns, n]) as (column, row):
            number = e.plus(e.times(column, n), row)
            element = right(batch_index, row, column)
            _demand_finite(e, element)
            e.store(matrices.dtype, side.address, number, element)
        code = lapack.call(
            "gesv", matrices.size, lapack.number(columns), matrices.memory.address, matrices.size,
            pivots.address, side.address, matrices.size,
        )  # fmt: skip
        e.demand(lapack.succeeded(code))
        with e.nest([n, columns]) as (row, column):
            found = e.load(matrices.dtype, side.address, e.plus(e.times(column, n), row))
            target = Index.of(shape, [*numbers, row, column]).flat(e)
            e.store(matrices.dtype, result.address, target, found)
    return result


def right_side(
    region: Region, node: LazyValue, dtype: dtypes.DType
) -> Callable[[Index, Register, Register], Element]:
    e, source = region.e, region.settled(node)

    def right(batch_index: Index, row: Register, column: Register) -> Element:
        batch = batch_index.within(e, source.shape[:-2]).coordinates(e)
        return converted(e, source.at(e, Index.of(source.shape, [*batch, row, column])), node.dtype, dtype)

    return right


@lowers("solve")
def _(region: Region, operation: Operation, matrix: LazyValue, rhs: LazyValue) -> LazyValue:
    matrices = _Matrices(region, matrix, operation.attrs["adjoint"])
    right = right_side(region, rhs, matrices.dtype)
    return as_dtype(region, _solved(region, matrices, shape_of(operation), right), rhs.dtype)


@lowers("inv")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    e, matrices = region.e, _Matrices(region, node)
    one, zero = constant(matrices.dtype, 1), constant(matrices.dtype, 0)

    def right(batch_index: Index, row: Register, column: Register) -> Element:
        return e.choose(e.b.icmp_signed("==", row, column), one, zero)

    found = _solved(region, matrices, node.shape, right)
    if not operation.attrs["adjoint"]:
        return as_dtype(region, found, node.dtype)

    def find(e: Emitter, index: Index) -> Element:
        *batch, row, column = index.coordinates(e)
        element = found.at(e, Index.of(found.shape, [*batch, column, row]))
        return converted(e, conjugate(e, element), found.dtype, node.dtype)

    return IndexMap(node.dtype, node.shape, [found], find)


@lowers("cholesky")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    e, matrices = region.e, _Matrices(region, node)
    n, dtype, lapack = matrices.n, matrices.dtype, matrices.lapack
    if n > _ALONE:
        raise RefusedError("the kernel of larger matrices limits BLAS to one thread")
    result = Buffer.new(e, dtype, node.shape)
    with matrices.each(node.shape[:-2]) as numbers:
        matrices.load(Index.of(node.shape[:-2], numbers))
        code = lapack.call(
            "potrf", lapack.character("L"), matrices.size, matrices.memory.address, matrices.size
        )
        e.demand(lapack.succeeded(code))
        with e.nest([n, n]) as (row, column):
            found = e.load(dtype, matrices.memory.address, e.plus(e.times(column, n), row))
            kept = e.choose(e.b.icmp_signed(">=", row, column), found, constant(dtype, 0))
            e.store(dtype, result.address, Index.of(node.shape, [*numbers, row, column]).flat(e), kept)
    return as_dtype(region, result, node.dtype)


def _determinants(region: Region, node: LazyValue) -> Sequence[Buffer]:
    """Return the signs and the logarithms of the absolute values; 0 and minus infinity for singular matrices."""
    if node.dtype.kind == "c":
        raise RefusedError("determinants of complex matrices are not compiled")
    e, matrices, real = region.e, _Matrices(region, node), dtypes.float64
    n, lapack, batch = matrices.n, matrices.lapack, node.shape[:-2]
    pivots = lapack.pivots(n)
    signs, sizes = (Buffer.new(e, real, batch) for _ in range(2))
    sign, size = new_slot(e, real, 1), new_slot(e, real, 0)
    with matrices.each(batch) as numbers:
        matrices.load(Index.of(batch, numbers))
        code = lapack.call(
            "getrf", matrices.size, matrices.size, matrices.memory.address, matrices.size, pivots.address
        )
        put(e, sign, constant(real, 1))
        put(e, size, constant(real, 0))
        with e.nest([n], parallel=False) as (row_number,):
            row = converted(e, e.load(pivots.dtype, pivots.address, row_number), pivots.dtype, dtypes.int64)
            element = e.load(real, matrices.memory.address, e.times(row_number, n + 1))
            is_negative = e.b.fcmp_ordered("<", element, constant(real, 0))
            is_moved = e.b.icmp_signed("!=", row, e.plus(row_number, e.word(1)))
            before = get(e, real, sign)
            put(e, sign, e.b.select(e.b.xor(is_negative, is_moved), e.b.fneg(before), before))
            logarithm = call_function(e, "log", e.intrinsic("fabs", element))
            put(e, size, e.b.fadd(get(e, real, size), logarithm))
        target, regular = Index.of(batch, numbers).flat(e), lapack.succeeded(code)
        found = e.b.select(regular, get(e, real, sign), constant(real, 0))
        e.store(real, signs.address, target, found)
        least = constant(real, float("-inf"))
        e.store(real, sizes.address, target, e.b.select(regular, get(e, real, size), least))
    return signs, sizes


@lowers("slogdet")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    signs, sizes = _determinants(region, node)

    def sign(e: Emitter, index: Index) -> Element:
        size = sizes.at(e, index)
        return e.b.select(e.b.fcmp_unordered("uno", size, size), size, signs.at(e, index))

    known = IndexMap(dtypes.float64, signs.shape, [signs, sizes], sign, cost=2)
    return [as_dtype(region, part, node.dtype) for part in (known, sizes)]


@lowers("det")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    signs, sizes = _determinants(region, node)

    def find(e: Emitter, index: Index) -> Element:
        value = e.b.fmul(signs.at(e, index), call_function(e, "exp", sizes.at(e, index)))
        return converted(e, value, dtypes.float64, node.dtype)

    return IndexMap(node.dtype, shape_of(operation), [signs, sizes], find, cost=12)
