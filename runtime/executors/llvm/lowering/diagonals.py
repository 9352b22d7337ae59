"""Lower operations on diagonals and bands of matrices, the last two axes.

diag_part x [k=1]      y[i] is x[i, i + 1]
diag x [k=1]           zeros, then y[i, i + 1] is x[i]
band_part x            y[i, j] is x[i, j] near the diagonal, else 0
"""

from __future__ import annotations

from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers, site_of
from .elementwise import multiply, subtract
from .fill import shape_of
from .reshape import moved


@lowers("diag_part")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    k = operation.attrs["k"]

    def source_of(e: Emitter, coordinates: list[Register]) -> list[Register]:
        *batch, i = coordinates
        return [*batch, e.plus(i, e.word(max(-k, 0))), e.plus(i, e.word(max(k, 0)))]

    return moved(node, shape_of(operation), source_of)


def _filled(e: Emitter, where: Buffer, diagonal: LazyValue, k: int) -> Buffer:
    """Emit stores of the elements of diagonal `k` of matrices."""
    with e.nest(diagonal.shape) as numbers:
        *batch, i = numbers
        target = [*batch, e.plus(i, e.word(max(-k, 0))), e.plus(i, e.word(max(k, 0)))]
        element = diagonal.at(e, Index.of(diagonal.shape, numbers))
        e.store(where.dtype, where.address, Index.of(where.shape, target).flat(e), element)
    return where


@lowers("diag")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    found = region.settled(node)
    return _filled(region.e, region.zeros(node.dtype, shape_of(operation)), found, operation.attrs["k"])


@lowers("set_diag")
def _(region: Region, operation: Operation, node: LazyValue, diagonal: LazyValue) -> LazyValue:
    found = region.settled(diagonal)
    return _filled(region.e, region.own(operation, node), found, operation.attrs["k"])


@lowers("band_part")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    lower, upper = operation.attrs["num_lower"], operation.attrs["num_upper"]

    def find(e: Emitter, index: Index) -> Element:
        row, column = index.coordinates(e)[-2:]
        above = e.b.sub(column, row)
        inside = integer(1)(1)
        if lower >= 0:
            inside = e.b.and_(inside, e.b.icmp_signed(">=", above, e.word(-lower)))
        if upper >= 0:
            inside = e.b.and_(inside, e.b.icmp_signed("<=", above, e.word(upper)))
        return e.choose(inside, node.at(e, index), constant(node.dtype, 0))

    return IndexMap(node.dtype, node.shape, [node], find, cost=2)


@lowers("cross")
def _(region: Region, operation: Operation, a: LazyValue, b: LazyValue) -> LazyValue:
    """Emit a[i + 1] b[i + 2] - a[i + 2] b[i + 1], with indices modulo 3."""
    left, right = region.readable(a), region.readable(b)
    site = site_of(a.dtype)

    def find(e: Emitter, index: Index) -> Element:
        *batch, i = index.coordinates(e)
        second = e.choose(e.b.icmp_signed("==", i, e.word(2)), e.word(0), e.plus(i, e.word(1)))
        third = e.choose(e.b.icmp_signed("==", i, e.word(0)), e.word(2), e.minus(i, e.word(1)))

        def product(one: Register, other: Register) -> Element:
            x, y = (
                left.at(e, Index.of(a.shape, [*batch, one])),
                right.at(e, Index.of(b.shape, [*batch, other])),
            )
            return multiply(e, site, x, y)

        return subtract(e, site, product(second, third), product(third, second))

    return IndexMap(a.dtype, shape_of(operation), [left, right], find, cost=4, once=False)
