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
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers, site_of
from .casts import converted
from .elementwise import add, compared, multiply
from .reduction_kinds import get, new_slot, put

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
