"""Reductions: one loop nest that computes what it reads on the way, and keeps what it gathers in registers.

    reduce_sum x [axis=(1,)]               for i:  total ← 0
                                   ==>             for j:  total ← total + x[i, j]
                                                   result[i] ← total

Where the last axis stays, it is the innermost loop, over totals in memory, which LLVM widens as it is: such sums are
added in NumPy's order. Else LLVM may add floats in another order. The sum of a large tensor is that of its blocks of
1,024 elements, which may be given to several threads; those of float32 meet in a float64, so that a sum is off by no
more than 40 ulp of the sum of absolute values. Integers wrap around in any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from ..ir.graph import Operation
from .casts import converted
from .creating import shape_of
from .elements import add, divide, larger, multiply, smaller
from .emitter import Emitter
from .nodes import Buffer, Computed, Index, Mapped, Node, Scalar, Shape
from .regions import Region
from .registry import RefusedError, Site, lowers
from .types import Element, Pair, Register, constant, register_type

_BLOCK = 1024

Combine = Callable[[Emitter, Element, Element], Element]


class Kind:
    """How a reduction starts, and how it goes on; `wide` is in what it gathers."""

    def __init__(self, wide: dtypes.DType, start: Any, combine: Combine) -> None:
        self.wide = wide
        self.start = start
        self.combine = combine


def _site(dtype: dtypes.DType) -> Site:
    return Site("", dtype, dtype, {}, False)


def sums(dtype: dtypes.DType) -> Kind:
    """Addition. LLVM may take it in another order."""
    wide = dtypes.float32 if dtype is dtypes.float16 else dtype
    site = _site(wide)

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        if wide.kind == "f":
            return e.b.fadd(x, y, flags=("reassoc",))
        if isinstance(x, Pair):
            return Pair(*(e.b.fadd(a, b, flags=("reassoc",)) for a, b in zip(x, y, strict=True)))
        return add(e, site, x, y)

    return Kind(wide, 0, combine)


def products(dtype: dtypes.DType) -> Kind:
    """Multiplication."""
    site = _site(dtype)
    return Kind(dtype, 1, lambda e, x, y: multiply(e, site, x, y))


def _lowest(dtype: dtypes.DType) -> Any:
    return -math.inf if dtype.kind == "f" else dtype.min


def _highest(dtype: dtypes.DType) -> Any:
    return math.inf if dtype.kind == "f" else dtype.max


def maxima(dtype: dtypes.DType) -> Kind:
    """The larger one, or NaN."""

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        return e.intrinsic("maximum", x, y) if dtype.kind == "f" else larger(e, dtype.kind, x, y)

    return Kind(dtype, _lowest(dtype), combine)


def minima(dtype: dtypes.DType) -> Kind:
    """The smaller one, or NaN."""

    def combine(e: Emitter, x: Element, y: Element) -> Element:
        return e.intrinsic("minimum", x, y) if dtype.kind == "f" else smaller(e, dtype.kind, x, y)

    return Kind(dtype, _highest(dtype), combine)


_KINDS: dict[str, Callable[[dtypes.DType], Kind]] = {
    "reduce_sum": sums,
    "reduce_prod": products,
    "reduce_max": maxima,
    "reduce_min": minima,
    "reduce_all": lambda dtype: Kind(dtype, True, lambda e, x, y: e.b.and_(x, y)),
    "reduce_any": lambda dtype: Kind(dtype, False, lambda e, x, y: e.b.or_(x, y)),
}


@lowers(*_KINDS)
def _(region: Region, operation: Operation, node: Node) -> Node:
    kind = _KINDS[operation.type](node.dtype)
    return reduced(region, node, kind, axes_of(operation, node), shape_of(operation), node.dtype)


@lowers("reduce_mean")
def _(region: Region, operation: Operation, node: Node) -> Node:
    if node.dtype.kind in "iu":
        raise RefusedError("means of integers are not compiled")
    axes = axes_of(operation, node)
    shape = shape_of(operation)
    kind = sums(node.dtype)
    total = reduced(region, node, kind, axes, shape, kind.wide)
    count = constant(kind.wide, math.prod(node.shape[axis] for axis in axes))
    site = _site(kind.wide)

    def mean(e: Emitter, site: Site, x: Element) -> Element:
        return converted(e, divide(e, site, x, count), site.dtype, node.dtype)

    return region.computed(mean, site, node.dtype, shape, [total], 4)


@lowers("sum_to")
def _(region: Region, operation: Operation, node: Node, *shape: Node) -> Node:
    wanted = shape_of(operation)
    extra = len(node.shape) - len(wanted)
    axes = [
        axis
        for axis, size in enumerate(node.shape)
        if axis < extra or (wanted[axis - extra] == 1 and size != 1)
    ]
    return reduced(region, node, sums(node.dtype), axes, wanted, node.dtype) if axes else node


@lowers("spread")
def _(region: Region, operation: Operation, node: Node, *shape: Node) -> Node:
    """The opposite of a reduction."""
    from .shaping import regrouped

    wide, axis = shape_of(operation), operation.attrs["axis"]
    gone = range(len(wide)) if axis is None else [one % len(wide) for one in axis]
    kept = tuple(1 if place in gone else size for place, size in enumerate(wide))
    found = regrouped(region.readable(node), kept)
    return Mapped(found.dtype, wide, [found], lambda e, index: found.at(e, index.within(e, kept)), once=False)


@lowers("add_n")
def _(region: Region, operation: Operation, *nodes: Node) -> Node:
    site = _site(nodes[0].dtype)
    total = nodes[0]
    for node in nodes[1:]:
        total = region.computed(add, site, total.dtype, total.shape, [total, node])
    return total


@lowers("bias_add")
def _(region: Region, operation: Operation, node: Node, bias: Node) -> Node:
    from .shaping import regrouped

    if (operation.attrs["data_format"] or "NHWC").endswith("C"):
        along = bias
    else:  # the channels are the second axis
        along = regrouped(region.readable(bias), (bias.shape[0], *(1,) * (len(node.shape) - 2)))
    return region.computed(add, _site(node.dtype), node.dtype, node.shape, [node, along])


def axes_of(operation: Operation, node: Node) -> tuple[int, ...]:
    """The axes that a reduction goes along."""
    axis = operation.attrs["axis"]
    rank = len(node.shape)
    return tuple(range(rank)) if axis is None else tuple(sorted(one % rank for one in axis))


def reduced(
    region: Region, node: Node, kind: Kind, axes: Sequence[int], shape: Shape, dtype: dtypes.DType
) -> Node:
    """A node reduced along axes, in this shape and dtype."""
    node = node.storage or node
    if not axes or all(node.shape[axis] == 1 for axis in axes):
        return _alone(region, node, kind, shape, dtype)
    stays = tuple(axis for axis in range(len(node.shape)) if axis not in axes)
    order = region.prepared([node])
    region_size = math.prod(node.shape)
    if not stays or math.prod(node.shape[axis] for axis in stays) == 1:
        return _whole(region, node, kind, order, shape, dtype) if region_size else _empty(kind, shape, dtype)
    where = Buffer.new(region.e, dtype, shape)
    if not math.prod(shape):
        return where
    if not region_size:
        return region.stored(_empty(kind, shape, dtype), where)
    if len(node.shape) - 1 in stays and node.shape[-1] > 1:
        _beside(region, node, kind, axes, stays, order, where)
    else:
        _inside(region, node, kind, axes, stays, order, where)
    return where


def _empty(kind: Kind, shape: Shape, dtype: dtypes.DType) -> Node:
    value = constant(dtype, kind.start)
    return Computed(dtype, shape, lambda e, site: value, _site(dtype), [], 0)


def _alone(region: Region, node: Node, kind: Kind, shape: Shape, dtype: dtypes.DType) -> Node:
    """Axes of size 1: there is nothing to combine."""
    from .shaping import regrouped

    plain = regrouped(node, shape)
    if node.dtype is dtype:
        return plain
    return region.computed(
        lambda e, site, x: converted(e, x, node.dtype, dtype), _site(node.dtype), dtype, shape, [plain]
    )


def _kept_beside(region: Region, order: Sequence[Node], node: Node) -> list[tuple[Node, Buffer]]:
    """What the nest computes of the operand's shape and others read later: the nest stores it, too."""
    kept = region.kept(order, [])
    return [pair for pair in kept if pair[0].shape == node.shape]


def _whole(
    region: Region, node: Node, kind: Kind, order: Sequence[Node], shape: Shape, dtype: dtypes.DType
) -> Node:
    """Everything becomes one number."""
    e = region.e
    kept = _kept_beside(region, order, node)
    slot = new_slot(e, kind.wide, kind.start)
    spans = region.spans(node.shape, [node, *order])
    size = math.prod(node.shape)
    gather = functools.partial(_gather, e, node, kind, order, kept)
    if len(spans) == 1 and size >= 8 * _BLOCK:
        total = _in_parts(e, kind, size // _BLOCK, _BLOCK, gather, node.shape)
        with e.nest([size % _BLOCK] if size % _BLOCK else [], threads=False) as numbers:
            if numbers:
                place = e.plus(numbers[0], e.word(size - size % _BLOCK))
                gather(slot, Index(node.shape, [(0, len(node.shape), place)]))
        found = kind.combine(e, total, get(e, kind.wide, slot))
    else:
        with region.loops(node.shape, [node, *order], threads=False) as index:
            gather(slot, index)
        found = get(e, kind.wide, slot)
    region.keep(kept)
    value = converted(e, found, kind.wide, dtype)
    number = Scalar(dtype, value)
    if not shape:
        return number
    return Computed(dtype, shape, lambda e, site: value, _site(dtype), [], 0)


def _gather(
    e: Emitter,
    node: Node,
    kind: Kind,
    order: Sequence[Node],
    kept: Sequence[tuple[Node, Buffer]],
    slot: Sequence[Register],
    index: Index,
) -> None:
    """One element more."""
    for one in order:
        one.at(e, index)
    for one, where in kept:
        e.store(one.dtype, where.address, index.flat(e), one.at(e, index))
    element = converted(e, node.at(e, index), node.dtype, kind.wide)
    put(e, slot, kind.combine(e, get(e, kind.wide, slot), element))


def _in_parts(
    e: Emitter, kind: Kind, parts: int, size: int, gather: Callable[..., None], shape: Shape
) -> Element:
    """What many parts of one size give, each by itself and perhaps in a thread; those of float32 meet in float64."""
    meeting = dtypes.float64 if kind.wide is dtypes.float32 and kind.start == 0 else kind.wide
    partial = Buffer.new(e, meeting, (parts,))
    slot = new_slot(e, kind.wide)
    with e.nest([parts], inner=size) as (part,):
        put(e, slot, constant(kind.wide, kind.start))
        with e.nest([size]) as (number,):
            gather(slot, Index(shape, [(0, len(shape), e.plus(e.times(part, size), number))]))
        e.store(meeting, partial.address, part, converted(e, get(e, kind.wide, slot), kind.wide, meeting))
    combine = sums(meeting).combine if meeting is not kind.wide else kind.combine
    total = new_slot(e, meeting, kind.start)
    with e.nest([parts], threads=False) as (part,):
        put(e, total, combine(e, get(e, meeting, total), e.load(meeting, partial.address, part)))
    return converted(e, get(e, meeting, total), meeting, kind.wide)


def _beside(
    region: Region,
    node: Node,
    kind: Kind,
    axes: Sequence[int],
    stays: Sequence[int],
    order: Sequence[Node],
    where: Buffer,
) -> None:
    """The last axis stays: the results are gathered in memory, row by row."""
    e = region.e
    kept = _kept_beside(region, order, node)
    sizes = [node.shape[axis] for axis in stays]
    totals = where if where.dtype is kind.wide else Buffer.new(e, kind.wide, where.shape)
    region.stored(_empty(kind, where.shape, kind.wide), totals)
    outer = [axis for axis in stays if axis < axes[0]]
    rest = [axis for axis in stays if axis > axes[0]]
    loop_order = [*outer, *axes, *rest]
    with e.nest([node.shape[axis] for axis in loop_order], parallel=False) as numbers:
        place = dict(zip(loop_order, numbers, strict=True))
        index = Index.of(node.shape, [place[axis] for axis in range(len(node.shape))])
        for one in order:
            one.at(e, index)
        for one, memory in kept:
            e.store(one.dtype, memory.address, index.flat(e), one.at(e, index))
        element = converted(e, node.at(e, index), node.dtype, kind.wide)
        number = Index.of(tuple(sizes), [place[axis] for axis in stays]).flat(e)
        found = e.load(kind.wide, totals.address, number)
        e.store(kind.wide, totals.address, number, kind.combine(e, found, element))
    region.keep(kept)
    if totals is not where:
        narrow = Computed(
            where.dtype,
            where.shape,
            lambda e, site, x: converted(e, x, kind.wide, where.dtype),
            _site(kind.wide),
            [totals],
            1,
        )
        region.stored(narrow, where)


def _inside(
    region: Region,
    node: Node,
    kind: Kind,
    axes: Sequence[int],
    stays: Sequence[int],
    order: Sequence[Node],
    where: Buffer,
) -> None:
    """The last axis goes: each result is gathered in a register."""
    e = region.e
    kept = _kept_beside(region, order, node)
    sizes = tuple(node.shape[axis] for axis in stays)
    slot = new_slot(e, kind.wide)
    rounds = math.prod(node.shape[axis] for axis in axes)
    with e.nest(sizes, inner=rounds) as outer:
        put(e, slot, constant(kind.wide, kind.start))
        with e.nest([node.shape[axis] for axis in axes]) as inner:
            place = {**dict(zip(stays, outer, strict=True)), **dict(zip(axes, inner, strict=True))}
            index = Index.of(node.shape, [place[axis] for axis in range(len(node.shape))])
            for one in order:
                one.at(e, index)
            for one, memory in kept:
                e.store(one.dtype, memory.address, index.flat(e), one.at(e, index))
            element = converted(e, node.at(e, index), node.dtype, kind.wide)
            put(e, slot, kind.combine(e, get(e, kind.wide, slot), element))
        value = converted(e, get(e, kind.wide, slot), kind.wide, where.dtype)
        e.store(where.dtype, where.address, Index.of(sizes, outer).flat(e), value)
    region.keep(kept)


def new_slot(e: Emitter, dtype: dtypes.DType, start: Any = None) -> list[Register]:
    slots = [e.slot(register_type(dtype)) for _ in range(2 if dtype.kind == "c" else 1)]
    if start is not None:
        put(e, slots, constant(dtype, start))
    return slots


def put(e: Emitter, slots: Sequence[Register], element: Element) -> None:
    parts = element if isinstance(element, Pair) else (element,)
    for slot, part in zip(slots, parts, strict=True):
        e.b.store(part, slot)


def get(e: Emitter, dtype: dtypes.DType, slots: Sequence[Register]) -> Element:
    parts = [e.b.load(slot, typ=register_type(dtype)) for slot in slots]
    return Pair(*parts) if len(parts) == 2 else parts[0]
