"""Tensors with margins: an element outside of the inner tensor is a constant.

surrounded x, [(1, 2)]      [a, b]  ==>  [0, a, b, 0, 0]
"""

from __future__ import annotations

from collections.abc import Sequence

from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, constant, integer
from ..codegen.region_lowering import Region


def surrounded(
    region: Region, node: LazyValue, margins: Sequence[tuple[int, int]], value: Element | None = None
) -> LazyValue:
    """Return `node` padded with `value`, or with zeros."""
    inner = region.readable(node)
    if not any(before or after for before, after in margins):
        return inner
    outside = constant(node.dtype, 0) if value is None else value
    shape = tuple(before + size + after for size, (before, after) in zip(node.shape, margins, strict=True))

    def find(e: Emitter, index: Index) -> Element:
        inside, coordinates = integer(1)(1), []
        for position, (before, after), size in zip(index.coordinates(e), margins, inner.shape, strict=True):
            own = e.minus(position, e.word(before))
            if before or after:
                fits = e.b.icmp_unsigned("<", own, e.word(size))
                inside, own = e.b.and_(inside, fits), e.b.select(fits, own, e.word(0))
            coordinates.append(own)
        return e.choose(inside, inner.at(e, Index.of(inner.shape, coordinates)), outside)

    if not inner.size:
        return IndexMap(node.dtype, shape, [], lambda e, index: outside, cost=0)
    return IndexMap(node.dtype, shape, [inner], find, cost=4)
