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

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyElementwise, LazyValue, Scalar, Shape
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site
from .casts import converted
from .reduction_kinds import Kind, get, new_slot, put, site_of, sums

_BLOCK = 1024


def axes_of(operation: Operation, node: LazyValue) -> tuple[int, ...]:
    """The axes that a reduction goes along."""
    axis = operation.attrs["axis"]
    rank = len(node.shape)
    return tuple(range(rank)) if axis is None else tuple(sorted(one % rank for one in axis))


def reduced_shape(operation: Operation, node: LazyValue) -> Shape:
    """The shape of what is left of a node."""
    axes = axes_of(operation, node)
    if operation.attrs["keepdims"]:
        return tuple(1 if axis in axes else size for axis, size in enumerate(node.shape))
    return tuple(size for axis, size in enumerate(node.shape) if axis not in axes)


def reduced(
    region: Region, node: LazyValue, kind: Kind, axes: Sequence[int], shape: Shape, dtype: dtypes.DType
) -> LazyValue:
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


def _empty(kind: Kind, shape: Shape, dtype: dtypes.DType) -> LazyValue:
    value = constant(dtype, kind.start)
    return LazyElementwise(dtype, shape, lambda e, site: value, site_of(dtype), [], 0)


def _alone(region: Region, node: LazyValue, kind: Kind, shape: Shape, dtype: dtypes.DType) -> LazyValue:
    """Axes of size 1: there is nothing to combine, where it makes no difference that a reduction has a start.

    A sum of -0.0 alone is 0.0; 1 times a complex infinity has a part that is no number.
    """
    from ..codegen.dynamic_shapes import regrouped

    plain = regrouped(node, shape)
    starts = kind.wide.kind == "c" or (kind.start == 0 and kind.wide.kind == "f")
    if node.dtype is dtype and not starts:
        return plain

    def write(e: Emitter, site: Site, x: Element) -> Element:
        element = converted(e, x, node.dtype, kind.wide)
        if starts:
            element = kind.combine(e, element, constant(kind.wide, kind.start))
        return converted(e, element, kind.wide, dtype)

    return region.computed(write, site_of(node.dtype), dtype, shape, [plain])


def _kept_beside(
    region: Region, order: Sequence[LazyValue], node: LazyValue
) -> list[tuple[LazyValue, Buffer]]:
    """What the nest computes of the operand's shape and others read later: the nest stores it, too."""
    kept = region.kept(order, [])
    return [pair for pair in kept if pair[0].shape == node.shape]


def _whole(
    region: Region, node: LazyValue, kind: Kind, order: Sequence[LazyValue], shape: Shape, dtype: dtypes.DType
) -> LazyValue:
    """Everything becomes one number."""
    e = region.e
    kept = _kept_beside(region, order, node)
    slot = new_slot(e, kind.wide, kind.start)
    spans = region.spans(node.shape, [node, *order])
    size = math.prod(node.shape)
    gather = functools.partial(_gather, e, node, kind, order, kept)
    if len(spans) == 1 and isinstance(size, Size):
        found = _in_blocks(e, kind, size, gather, slot, node.shape)
    elif len(spans) == 1 and size >= 8 * _BLOCK:
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
    return LazyElementwise(dtype, shape, lambda e, site: value, site_of(dtype), [], 0)


def _in_blocks(
    e: Emitter, kind: Kind, size: Size, gather: Callable[..., None], slot: Any, shape: Shape
) -> Element:
    """What as many elements give as there turn out to be: as in parts, the last of which has what is left."""
    meeting = dtypes.float64 if kind.wide is dtypes.float32 and kind.start == 0 else kind.wide
    combine = sums(meeting).combine if meeting is not kind.wide else kind.combine
    total = new_slot(e, meeting, kind.start)
    count = e.word(size)
    whole, rest = e.over(count, _BLOCK)
    for counts, first in (([Size.of(whole), _BLOCK], e.word(0)), ([Size.of(rest)], e.minus(count, rest))):
        with e.nest(counts[:-1], threads=False) as part:
            put(e, slot, constant(kind.wide, kind.start))
            begin = e.plus(first, e.times(part[0], _BLOCK)) if part else first
            with e.nest(counts[-1:], threads=False) as (number,):
                gather(slot, Index(shape, [(0, len(shape), e.plus(begin, number))]))
            found = converted(e, get(e, kind.wide, slot), kind.wide, meeting)
            put(e, total, combine(e, get(e, meeting, total), found))
    return converted(e, get(e, meeting, total), meeting, kind.wide)


def divisor(e: Emitter, dtype: dtypes.DType, size: int) -> Element:
    """By what a sum is divided; that of no integers is 0."""
    if not isinstance(size, Size):
        return constant(dtype, size if dtype.kind in "fc" else max(size, 1))
    count = converted(e, e.word(size), dtypes.int64, dtype)
    if dtype.kind in "fc":
        return count
    one = constant(dtype, 1)
    return e.choose(e.b.icmp_unsigned("<", count, one), one, count)


def _gather(
    e: Emitter,
    node: LazyValue,
    kind: Kind,
    order: Sequence[LazyValue],
    kept: Sequence[tuple[LazyValue, Buffer]],
    slot: Sequence[Register],
    index: Index,
) -> None:
    """One element more."""
    put(e, slot, kind.combine(e, get(e, kind.wide, slot), _element(e, node, kind, order, kept, index)))


def _element(
    e: Emitter,
    node: LazyValue,
    kind: Kind,
    order: Sequence[LazyValue],
    kept: Sequence[tuple[LazyValue, Buffer]],
    index: Index,
) -> Element:
    """An element that is gathered; what others read later is stored on the way."""
    for one in order:
        one.at(e, index)
    for one, where in kept:
        e.store(one.dtype, where.address, index.flat(e), one.at(e, index))
    return converted(e, node.at(e, index), node.dtype, kind.wide)


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
    node: LazyValue,
    kind: Kind,
    axes: Sequence[int],
    stays: Sequence[int],
    order: Sequence[LazyValue],
    where: Buffer,
) -> None:
    """The last axis stays: the results are gathered in memory, row by row."""
    e = region.e
    kept = _kept_beside(region, order, node)
    sizes = [node.shape[axis] for axis in stays]
    totals = where if where.dtype is kind.wide else Buffer.new(e, kind.wide, where.shape)
    if kind.start == 0 and not isinstance(totals.size, Size):
        e.clear(totals.address, totals.bytes)
    else:
        region.stored(_empty(kind, where.shape, kind.wide), totals)
    outer = [axis for axis in stays if axis < axes[0]]
    rest = [axis for axis in stays if axis > axes[0]]
    around = [*outer, *axes]
    each_once = bool(kept)
    with (
        e.nest([node.shape[axis] for axis in around], parallel=False, each_once=each_once) as numbers,
        e.nest([node.shape[axis] for axis in rest]) as beside,
    ):
        place = dict(zip([*around, *rest], [*numbers, *beside], strict=True))
        index = Index.of(node.shape, [place[axis] for axis in range(len(node.shape))])
        element = _element(e, node, kind, order, kept, index)
        number = Index.of(tuple(sizes), [place[axis] for axis in stays]).flat(e)
        found = e.load(kind.wide, totals.address, number)
        e.store(kind.wide, totals.address, number, kind.combine(e, found, element))
    region.keep(kept)
    if totals is not where:
        narrow = LazyElementwise(
            where.dtype,
            where.shape,
            lambda e, site, x: converted(e, x, kind.wide, where.dtype),
            site_of(kind.wide),
            [totals],
            1,
        )
        region.stored(narrow, where)


def _inside(
    region: Region,
    node: LazyValue,
    kind: Kind,
    axes: Sequence[int],
    stays: Sequence[int],
    order: Sequence[LazyValue],
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
            element = _element(e, node, kind, order, kept, index)
            put(e, slot, kind.combine(e, get(e, kind.wide, slot), element))
        value = converted(e, get(e, kind.wide, slot), kind.wide, where.dtype)
        e.store(where.dtype, where.address, Index.of(sizes, outer).flat(e), value)
    region.keep(kept)
