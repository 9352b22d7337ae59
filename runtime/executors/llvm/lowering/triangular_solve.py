"""Lower the solution of triangular systems to substitution, row by row, for all right sides at once.

    for i in rows, from the corner that has one element:      x[i, :] = b[i, :]
        for j in the rows before:                             x[i, :] -= a[i, j] * x[j, :]
        x[i, :] /= a[i, i]

Rows are not exchanged, which would lose most digits of ill-conditioned systems. NaN and infinities reach the same
elements as in the kernel.
"""

from __future__ import annotations

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .casts import as_dtype
from .elementwise import divide, multiply, subtract
from .fill import shape_of
from .linear_solve import LARGE, conjugate, right_side


@lowers("triangular_solve")
def _(region: Region, operation: Operation, matrix: LazyValue, rhs: LazyValue) -> LazyValue:
    e, shape = region.e, shape_of(operation)
    outer, (n, columns) = shape[:-2], shape[-2:]
    if n > LARGE or 0 in shape:
        raise RefusedError(
            "kernels are as fast for large systems" if n > LARGE else "empty systems are not compiled"
        )
    dtype = dtypes.complex128 if rhs.dtype.kind == "c" else dtypes.float64
    is_adjoint = operation.attrs["adjoint"]
    right = right_side(region, rhs, dtype)
    element = right_side(region, matrix, dtype)
    result, half = Buffer.new(e, dtype, shape), Buffer.new(e, dtype, (n, n))
    with e.nest(outer, parallel=False, inner=n * n * columns) as numbers:
        batch = Index.of(outer, numbers)
        with e.nest([n, n]) as (row, column):
            found = conjugate(e, element(batch, column, row)) if is_adjoint else element(batch, row, column)
            e.store(dtype, half.address, e.plus(e.times(row, n), column), found)
        with e.nest([n, columns]) as (row, column):
            target = Index.of(shape, [*numbers, row, column]).flat(e)
            e.store(dtype, result.address, target, right(batch, row, column))
        start = Index.of(shape, [*numbers, e.word(0), e.word(0)]).flat(e)
        _substitute(e, half, result, start, columns, operation.attrs["lower"] != is_adjoint)
    return as_dtype(region, result, rhs.dtype)


def _substitute(e: Emitter, half: Buffer, x: Buffer, start: Register, columns: int, is_lower: bool) -> None:
    """Replace the right sides, which begin at `start`, by the solutions."""
    dtype, n, site = x.dtype, half.shape[0], site_of(x.dtype)

    def row_number(step: Register) -> Register:
        return step if is_lower else e.minus(e.word(n - 1), step)

    def place(row: Register, column: Register) -> Register:
        return e.plus(start, e.plus(e.times(row, columns), column))

    def entry(row: Register, column: Register) -> Element:
        return e.load(dtype, half.address, e.plus(e.times(row, n), column))

    with e.nest([n], parallel=False) as (step,):
        row = row_number(step)
        with e.nest([Size.of(step)], parallel=False) as (earlier,):
            other = row_number(earlier)
            factor = entry(row, other)
            with e.nest([columns], threads=False) as (column,):
                product = multiply(e, site, factor, e.load(dtype, x.address, place(other, column)))
                known = e.load(dtype, x.address, place(row, column))
                e.store(dtype, x.address, place(row, column), subtract(e, site, known, product))
        pivot = entry(row, row)
        _demand_other_than_zero(e, pivot)
        with e.nest([columns], threads=False) as (column,):
            known = e.load(dtype, x.address, place(row, column))
            e.store(dtype, x.address, place(row, column), divide(e, site, known, pivot))


def _demand_other_than_zero(e: Emitter, pivot: Element) -> None:
    zero = constant(dtypes.float64, 0)
    parts = [pivot.re, pivot.im] if hasattr(pivot, "re") else [pivot]
    tests = [e.b.fcmp_unordered("!=", part, zero) for part in parts]
    e.demand(tests[0] if len(tests) == 1 else e.b.or_(*tests))
