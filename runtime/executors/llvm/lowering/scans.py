"""Lower scans along an axis: cumulative sums and products, argmax and argmin.

cumsum x [axis=1]    ==>    for i:  total ← 0
                                    for j:  total ← total + x[i, j];  result[i, j] ← total
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers, site_of
from .casts import as_dtype, converted, each
from .elementwise import add, compared, hidden_infinity, multiply
from .reduction_codegen import reduced
from .reduction_kinds import get, maxima, minima, new_slot, put

Step = Callable[[Emitter, Index, Element], tuple[Element, Element]]
"""The body of a scan: maps an index and the carry to the element of the result and the next carry."""


def running(region: Region, node: LazyValue, axis: int, reverse: bool, start: Element, step: Step) -> Buffer:
    """Emit a scan along an axis; the result has the node's shape and dtype."""
    e, shape = region.e, node.shape
    result = Buffer.new(e, node.dtype, shape)
    if not node.size:
        return result
    memory = new_slot(e, node.dtype, 0)
    others = [dim for dim in range(len(shape)) if dim != axis]
    with e.nest([shape[dim] for dim in others], parallel=False) as outer:
        put(e, memory, start)
        with e.nest([shape[axis]], parallel=False) as (number,):
            along = e.minus(e.word(shape[axis] - 1), number) if reverse else number
            coordinates = dict(zip(others, outer, strict=True)) | {axis: along}
            index = Index.of(shape, [coordinates[dim] for dim in range(len(shape))])
            element, following = step(e, index, get(e, node.dtype, memory))
            put(e, memory, following)
            e.store(node.dtype, result.address, index.flat(e), element)
    return result


@lowers("cumsum", "cumprod", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    attrs = operation.attrs
    site = site_of(node.dtype)
    combine, first = (
        (add, constant(node.dtype, 0)) if operation.type == "cumsum" else (multiply, constant(node.dtype, 1))
    )
    source, axis = region.settled(node), attrs["axis"] % len(node.shape)
    is_exact = operation.type == "cumsum" or node.dtype.kind != "c"  # 1 times a complex infinity is NaN

    def step(e: Emitter, index: Index, before: Element) -> tuple[Element, Element]:
        element = source.at(e, index)
        after = combine(e, site, before, element)
        if is_exact and not attrs["exclusive"]:
            return after, after
        begin = e.word(node.shape[axis] - 1 if attrs["reverse"] else 0)
        is_first = e.b.icmp_unsigned("==", index.along(e, axis), begin)
        after = after if is_exact else e.choose(is_first, element, after)
        return (e.choose(is_first, first, before) if attrs["exclusive"] else after), after

    start = first if operation.type == "cumprod" else _nothing(node.dtype)
    return running(region, source, axis, attrs["reverse"], start, step)


def _nothing(dtype: dtypes.DType) -> Element:
    """Return the neutral element of addition, which preserves -0.0 too."""
    if dtype.kind not in "fc":
        return constant(dtype, 0)
    return constant(dtype, complex(-0.0, -0.0) if dtype.kind == "c" else -0.0)


@lowers("argmax", "argmin", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    """Emit the index of the first extreme element, in two reductions, which LLVM vectorizes. NaN is never selected.

    best     ←  the largest element;     found  ←  the least index of an element that equals it
    """
    e, (value,) = region.e, operation.outputs
    axis = (operation.attrs["axis"] or 0) % max(len(node.shape), 1)
    size, shape = node.shape[axis], (*node.shape[:axis], *node.shape[axis + 1 :])
    if isinstance(size, Size):
        e.demand(e.b.icmp_signed(">", e.word(size), e.word(0)))
    if not math.prod(shape):
        return Buffer.new(e, value.dtype, shape)
    source = region.settled(as_dtype(region, node, dtypes.uint8) if node.dtype.is_bool else node)
    kind = (maxima if operation.type == "argmax" else minima)(source.dtype)
    least = constant(source.dtype, kind.start)
    best = region.settled(
        reduced(region, _without_nan(region, source, least), kind, [axis], shape, source.dtype)
    )
    number = dtypes.int32 if not isinstance(size, Size) and size < dtypes.int32.max else dtypes.int64

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        along = coordinates.pop(axis)
        is_best = _equal(e, source.dtype, source.at(e, index), best.at(e, Index.of(shape, coordinates)))
        return e.choose(is_best, converted(e, along, dtypes.int64, number), constant(number, number.max))

    numbers = IndexMap(number, node.shape, [source, best], find)
    found = reduced(region, numbers, minima(number), [axis], shape, number)

    def first(e: Emitter, position: Element, extreme: Element) -> Element:
        selected = e.choose(_equal(e, source.dtype, extreme, least), constant(number, 0), position)
        return converted(e, selected, number, value.dtype)

    return each(region, first, value.dtype, shape, found, best)


def _equal(e: Emitter, dtype: dtypes.DType, x: Element, y: Element) -> Register:
    return compared(e, dtype.kind, "==", x, y)


def _without_nan(region: Region, node: LazyValue, instead: Element) -> LazyValue:
    if node.dtype.kind != "f":
        return node

    def chosen(e: Emitter, x: Element) -> Element:
        return e.choose(_equal(e, node.dtype, x, x), x, hidden_infinity(e, instead))

    return each(region, chosen, node.dtype, node.shape, node)
