"""Lower operations on the elements of a list at a vector of indices.

y = array_gather s, [2, 0]     y[0] ← s[2];  y[1] ← s[0]
t = array_picked s, [2, 9]     t[0] ← s[2];  t[1] ← 0, beyond the end
t = array_spread s, [2, 0]     t[2] ← t[2] + s[0];  t[0] ← t[0] + s[1]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers, site_of
from .casts import converted
from .list_memory import Cells, List, made
from .list_ops import add, times
from .tensor_arrays import cells_of


def _each(region: Region, node: LazyValue, take: Callable[[Register, Register], None]) -> None:
    """Emit `take(position, index)` for each index."""
    e, found = region.e, region.settled(node)
    with times(e, e.word(node.size)) as number:
        index = Index(node.shape, [(0, len(node.shape), number)])
        take(number, converted(e, found.at(e, index), found.dtype, dtypes.int64))


def _source_and_result(e: Emitter, operation: Operation, array: LazyValue) -> tuple[Cells, Cells]:
    """Return the cells of a list that is read, and those of a new list for the result."""
    spec: Any = operation.outputs[0].spec
    return made(e, array, spec.element).cells, Cells(e, spec.element, None, False)


@lowers("array_gather", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, indices: LazyValue) -> LazyValue:
    e = region.e
    cells = cells_of(array)
    where = Buffer.new(e, cells.dtype, (*indices.shape, *cells.shape))

    def take(number: Register, index: Register) -> None:
        e.demand(e.b.icmp_unsigned("<", index, cells.length(e)))
        offset = e.times(number, cells.bytes)
        row = e.b.gep(where.address, [offset], inbounds=True, source_etype=integer(8))
        e.copy(row, cells.at(e, index), cells.bytes)

    _each(region, indices, take)
    return where


@lowers("array_picked", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, places: LazyValue) -> LazyValue:
    """Gather elements; elements beyond the end are zero."""
    e = region.e
    source, cells = _source_and_result(e, operation, array)
    cells.reset(e, e.word(places.size))

    def take(number: Register, index: Register) -> None:
        with e.where(e.b.icmp_unsigned("<", index, source.length(e))):
            e.copy(cells.at(e, number), source.at(e, index), cells.bytes)

    _each(region, places, take)
    return List(cells)


@lowers("array_spread", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, places: LazyValue) -> LazyValue:
    e = region.e
    source, cells = _source_and_result(e, operation, array)
    cells.reset(e, e.word(0))
    site = site_of(cells.dtype)

    def take(number: Register, index: Register) -> None:
        e.demand(e.b.icmp_signed(">=", index, e.word(0)))
        cells.extend_to(e, e.plus(index, e.word(1)))
        with e.where(e.b.icmp_signed("<", number, source.length(e))):
            into, more = cells.at(e, index), source.at(e, number)
            with region.loops(cells.shape, []) as index_in:
                flat = index_in.flat(e)
                total = add(e, site, e.load(cells.dtype, into, flat), e.load(cells.dtype, more, flat))
                e.store(cells.dtype, into, flat, total)

    _each(region, places, take)
    return List(cells)
