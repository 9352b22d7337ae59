"""Lower scans along an axis: cumulative sums and products, recurrences, argmax and argmin.

cumsum x [axis=1]    ==>    for i:  total ← 0
                                    for j:  total ← total + x[i, j];  result[i, j] ← total
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_shapes import regrouped
from ..codegen.dynamic_sizes import Size
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer, ir
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site, lowers
from .casts import converted
from .elementwise import add, compared, multiply
from .matmul import permuted
from .reduction_codegen import axes_of
from .reduction_kinds import get, new_slot, put, site_of

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
    site = Site("", node.dtype, node.dtype, {}, False)
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


@lowers("cumulative_logsumexp", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    attrs, source = operation.attrs, region.settled(node)

    def step(e: Emitter, index: Index, before: Element) -> tuple[Element, Element]:
        after = _log_of_sum(e, before, source.at(e, index))
        return (before if attrs["exclusive"] else after), after

    start = constant(node.dtype, -math.inf)
    return running(region, source, attrs["axis"] % len(node.shape), attrs["reverse"], start, step)


def _log_of_sum(e: Emitter, x: Register, y: Register) -> Register:
    """Return ln (e^x + e^y), as NumPy's logaddexp computes it."""
    b, zero = e.b, ir().Constant(x.type, 0.0)
    difference = b.fsub(x, y)
    larger = b.select(b.fcmp_ordered(">", difference, zero), x, y)
    rest = call_function(e, "log1p", call_function(e, "exp", b.fneg(e.intrinsic("fabs", difference))))
    twice = b.fadd(x, ir().Constant(x.type, math.log(2)))
    return b.select(b.fcmp_ordered("==", x, y), twice, b.fadd(larger, rest))


@lowers("product_of_others")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    """Multiply an exclusive scan from the left by one from the right."""
    site = site_of(node.dtype)
    axes = axes_of(operation, node)
    order = [*(axis for axis in range(len(node.shape)) if axis not in axes), *axes]
    turned = permuted(node, order)
    count = math.prod(node.shape[axis] for axis in axes)
    flat = region.settled(regrouped(turned, (node.size // max(count, 1), count)))

    def step(e: Emitter, index: Index, before: Element) -> tuple[Element, Element]:
        return before, multiply(e, site, before, flat.at(e, index))

    one = constant(node.dtype, 1)
    parts = [running(region, flat, 1, reverse, one, step) for reverse in (False, True)]
    products = region.computed(multiply, site, node.dtype, flat.shape, parts)
    back = [order.index(axis) for axis in range(len(order))]
    return permuted(regrouped(products, turned.shape), back)


@lowers("recurrence")
def _(region: Region, operation: Operation, node: LazyValue, factors: LazyValue) -> LazyValue:
    site = Site("", node.dtype, node.dtype, {}, False)
    axis, reverse = operation.attrs["axis"] % len(node.shape), operation.attrs["reverse"]
    source, by = region.settled(node), region.settled(factors)

    def step(e: Emitter, index: Index, before: Element) -> tuple[Element, Element]:
        element = source.at(e, index)
        first = e.b.icmp_unsigned(
            "==", index.coordinates(e)[axis], e.word(node.shape[axis] - 1 if reverse else 0)
        )
        after = e.choose(first, element, add(e, site, element, multiply(e, site, by.at(e, index), before)))
        return after, after

    return running(region, source, axis, reverse, constant(node.dtype, 0), step)


@lowers("shifted")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    axis, reverse = operation.attrs["axis"] % len(node.shape), operation.attrs["reverse"]
    size = node.shape[axis]
    source = region.readable(node)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = list(index.coordinates(e))
        wanted = e.plus(coordinates[axis], e.word(1 if reverse else -1))
        inside = e.b.icmp_unsigned("<", wanted, e.word(size))
        coordinates[axis] = e.b.select(inside, wanted, e.word(0))
        return e.choose(inside, source.at(e, Index.of(node.shape, coordinates)), constant(node.dtype, 0))

    return IndexMap(node.dtype, node.shape, [source], find)


@lowers("argmax", "argmin", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    """Emit the index of the first extreme element; NaN is never selected."""
    e, kind = region.e, node.dtype.kind
    (value,) = operation.outputs
    axis = (operation.attrs["axis"] or 0) % max(len(node.shape), 1)
    source = region.settled(node)
    shape = tuple(size for dim, size in enumerate(node.shape) if dim != axis)
    result = Buffer.new(e, value.dtype, shape)
    if not result.size:
        return result
    if isinstance(node.shape[axis], Size):
        e.demand(e.b.icmp_signed(">", e.word(node.shape[axis]), e.word(0)))
    sign = ">" if operation.type == "argmax" else "<"
    others = [dim for dim in range(len(node.shape)) if dim != axis]
    best, where = new_slot(e, node.dtype, 0), new_slot(e, dtypes.int64, 0)
    with e.nest([node.shape[dim] for dim in others], parallel=False) as outer:
        put(e, best, worst(node.dtype, sign))
        put(e, where, integer(64)(0))
        with e.nest([node.shape[axis]], parallel=False) as (number,):
            coordinates = dict(zip(others, outer, strict=True)) | {axis: number}
            index = Index.of(node.shape, [coordinates[dim] for dim in range(len(node.shape))])
            element, known = source.at(e, index), get(e, node.dtype, best)
            better = compared(e, "u" if kind == "b" else kind, sign, element, known)
            put(e, best, e.choose(better, element, known))
            put(e, where, e.b.select(better, number, get(e, dtypes.int64, where)))
        found = converted(e, get(e, dtypes.int64, where), dtypes.int64, value.dtype)
        e.store(value.dtype, result.address, Index.of(result.shape, outer).flat(e), found)
    return result


def worst(dtype: dtypes.DType, sign: str) -> Register:
    """Return the least value for `>`, or the greatest for `<`, as the initial value of a search."""
    if dtype.kind == "f":
        return constant(dtype, -math.inf if sign == ">" else math.inf)
    if dtype.is_bool:
        return constant(dtype, sign == "<")
    return constant(dtype, dtype.min if sign == ">" else dtype.max)
