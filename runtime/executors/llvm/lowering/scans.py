"""Lower scans along an axis: cumulative sums and products, argmax and argmin.

cumsum x [axis=1]    ==>    for i:  total ← 0
                                    for j:  total ← total + x[i, j];  result[i, j] ← total
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
    """Emit a scan along an axis; the result has the node's shape and dtype.

    The carry is in a register along the last axis. Along another one, a row of carries meets one row after the other.
    """
    e, shape, dtype = region.e, node.shape, node.dtype
    result = Buffer.new(e, dtype, shape)
    if not node.size:
        return result
    outer, rest = shape[:axis], shape[axis + 1 :]

    def scan(
        around: Sequence[Register], number: Register, inner: Sequence[Register], carry: Element
    ) -> Element:
        along = e.minus(e.word(shape[axis] - 1), number) if reverse else number
        index = Index.of(shape, [*around, along, *inner])
        element, following = step(e, index, carry)
        e.store(dtype, result.address, index.flat(e), element)
        return following

    if rest:
        carries = Buffer.new(e, dtype, rest)
        with (
            e.nest([*outer, shape[axis]], parallel=False, inner=carries.size) as (*around, number),
            e.nest(rest, each_once=True) as inner,
        ):
            place = Index.of(rest, inner).flat(e)
            is_first = e.b.icmp_unsigned("==", number, e.word(0))
            carry = e.choose(is_first, start, e.load(dtype, carries.address, place))
            e.store(dtype, carries.address, place, scan(around, number, inner, carry))
        return result
    slot = new_slot(e, dtype, 0)
    with e.nest(outer, parallel=False) as around:
        put(e, slot, start)
        with e.nest([shape[axis]], parallel=False) as (number,):
            put(e, slot, scan(around, number, [], get(e, dtype, slot)))
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
