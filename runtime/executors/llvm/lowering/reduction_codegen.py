"""Emit reductions: one loop nest with fused elementwise operands, and accumulators in registers.

    reduce_sum x [axis=(1,)]               for i:  total ← 0
                                   ==>             for j:  total ← total + x[i, j]
                                                   result[i] ← total

The loops over short rows are unrolled, and LLVM vectorizes the loop over results. If the last axis is
kept, it is the innermost loop, which LLVM vectorizes directly, and sums have NumPy's order of additions: of all rows,
or of up to 16 parts of many rows, which threads share. Otherwise LLVM may reassociate floats.
The sum of a large tensor is that of its blocks of 1,024 elements, which threads may share. If a broadcast operand keeps
the axes apart, blocks have whole rows. Block sums of float32 are added in float64, so that the error is at most 40 ulp
of the sum of absolute values, or more for rows longer than a block. Integers wrap around in any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_sizes import Size, is_sized
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyElementwise, LazyValue, Scalar, Shape
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site, site_of
from .casts import converted
from .reduction_kinds import ReductionKind, get, new_slot, put, sums
from .reduction_nests import ReductionNest, element_of, initial_values, stored_too

_BLOCK = 1024
_LEAST = 64
"""The least elements of a block of rows that has a sum of its own."""

_UNROLLED = 16
"""Reductions of at most this many elements to one are unrolled, if the operands of adjacent results are near."""

_NEAR = 6
"""The largest distance of operands of adjacent results that are read together, as vectors: channels of an image."""

_HEAVIEST = 512
"""The largest cost of a reduction that is unrolled."""


def axes_of(operation: Operation, node: LazyValue) -> tuple[int, ...]:
    """Return the axes of a reduction."""
    axis = operation.attrs["axis"]
    rank = len(node.shape)
    return tuple(range(rank)) if axis is None else tuple(sorted(one % rank for one in axis))


def reduced_shape(operation: Operation, node: LazyValue) -> Shape:
    """Return the shape of the result of a reduction."""
    axes = axes_of(operation, node)
    if operation.attrs["keepdims"]:
        return tuple(1 if axis in axes else size for axis, size in enumerate(node.shape))
    return tuple(size for axis, size in enumerate(node.shape) if axis not in axes)


def reduced(
    region: Region,
    node: LazyValue,
    kind: ReductionKind,
    axes: Sequence[int],
    shape: Shape,
    dtype: dtypes.DType,
    most: int = _UNROLLED,
) -> LazyValue:
    """Reduce a node along axes, to this shape and dtype; at most `most` elements to one by code for each."""
    node = node.storage or node
    if not axes or all(node.shape[axis] == 1 for axis in axes):
        return _alone(region, node, kind, shape, dtype)
    stays = tuple(axis for axis in range(len(node.shape)) if axis not in axes)
    order = region.prepared([node])
    region_size = math.prod(node.shape)
    if not stays or math.prod(node.shape[axis] for axis in stays) == 1:
        return (
            _whole(region, node, kind, order, shape, dtype)
            if region_size
            else initial_values(kind, shape, dtype)
        )
    where = Buffer.new(region.e, dtype, shape)
    if not math.prod(shape):
        return where
    if not region_size:
        return region.stored(initial_values(kind, shape, dtype), where)
    nest = ReductionNest(region, node, kind, axes, stays, order, where)
    if _is_short(node, axes, most) and _distance(node, stays) <= _NEAR:
        nest.unroll()
    elif not (len(node.shape) - 1 in stays and node.shape[-1] > 1):
        nest.accumulate_in_registers()
    else:
        nest.accumulate_by_rows()
    return where


def _is_short(node: LazyValue, axes: Sequence[int], most: int) -> bool:
    """Return whether the code for all elements that are reduced to one is small."""
    sizes = tuple(node.shape[axis] for axis in axes)
    rounds = math.prod(sizes)
    return not is_sized(sizes) and rounds <= most and rounds * node.cost <= _HEAVIEST


def _distance(node: LazyValue, stays: Sequence[int]) -> int:
    """Return the distance of the operands of adjacent results; 1 if the last axis is kept."""
    last = max(axis for axis in stays if node.shape[axis] != 1)
    return math.prod(node.shape[last + 1 :])


def _alone(
    region: Region, node: LazyValue, kind: ReductionKind, shape: Shape, dtype: dtypes.DType
) -> LazyValue:
    """Return the reduction of axes of size 1, which combines nothing, except where the initial value matters.

    The sum of -0.0 alone is 0.0; 1 times a complex infinity has a NaN part.
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


def _whole(
    region: Region,
    node: LazyValue,
    kind: ReductionKind,
    order: Sequence[LazyValue],
    shape: Shape,
    dtype: dtypes.DType,
) -> LazyValue:
    """Reduce all elements to one."""
    e = region.e
    kept = stored_too(region, order, node)
    slot = new_slot(e, kind.wide, kind.start)
    spans = region.spans(node.shape, [node, *order])
    size = math.prod(node.shape)
    gather = functools.partial(_gather, e, node, kind, order, kept)
    rows = 0 if isinstance(size, Size) else _rows_of_a_block(node.shape, spans)
    if len(spans) == 1 and isinstance(size, Size):
        found = _in_blocks(e, kind, size, gather, slot, node.shape)
    elif len(spans) == 1 and size >= 8 * _BLOCK:
        total = _in_whole_blocks(e, kind, size // _BLOCK, gather, node.shape)
        with e.nest([size % _BLOCK] if size % _BLOCK else [], threads=False) as numbers:
            if numbers:
                position = e.plus(numbers[0], e.word(size - size % _BLOCK))
                gather(slot, Index(node.shape, [(0, len(node.shape), position)]))
        found = kind.combine(e, total, get(e, kind.wide, slot))
    elif rows and size >= 8 * _BLOCK:
        found = _in_rows(e, kind, spans, rows, gather, node.shape)
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
    e: Emitter, kind: ReductionKind, size: Size, gather: Callable[..., None], slot: Any, shape: Shape
) -> Element:
    """Reduce a dynamic number of elements in blocks, with a shorter last block."""
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
    """Return the divisor of a mean; for integers it is at least 1."""
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
    kind: ReductionKind,
    order: Sequence[LazyValue],
    kept: Sequence[tuple[LazyValue, Buffer]],
    slot: Sequence[Register],
    index: Index,
) -> None:
    """Emit the reduction of one more element."""
    put(e, slot, kind.combine(e, get(e, kind.wide, slot), element_of(e, node, kind, order, kept, index)))


def _rows_of_a_block(shape: Shape, spans: Sequence[tuple[int, int]]) -> int:
    """Return how many rows of the last span make a block: a divisor of the rows there are, or 0 if blocks are small."""
    if len(spans) < 2:
        return 0
    count, row = (math.prod(shape[a:b]) for a, b in spans[-2:])
    fitting = (rows for rows in range(min(count, max(_BLOCK // row, 1)), 0, -1) if count % rows == 0)
    rows = next(fitting)
    return rows if rows * row >= _LEAST else 0


def _in_rows(
    e: Emitter,
    kind: ReductionKind,
    spans: Sequence[tuple[int, int]],
    rows: int,
    gather: Callable[..., None],
    shape: Shape,
) -> Element:
    """Reduce a tensor by blocks of rows, as a broadcast operand may keep its axes apart."""
    *counts, row = (math.prod(shape[a:b]) for a, b in spans)
    counts[-1] //= rows

    def gather_rows(slot: Sequence[Register], numbers: Sequence[Register]) -> None:
        with e.nest([rows, row]) as (number, place):
            positions = [*numbers[:-1], e.plus(e.times(numbers[-1], rows), number), place]
            gather(slot, Index(shape, [(a, b, at) for (a, b), at in zip(spans, positions, strict=True)]))

    return _in_parts(e, kind, counts, rows * row, gather_rows)


def _in_whole_blocks(
    e: Emitter, kind: ReductionKind, blocks: int, gather: Callable[..., None], shape: Shape
) -> Element:
    """Reduce the first `blocks` blocks of a tensor."""

    def gather_block(slot: Sequence[Register], numbers: Sequence[Register]) -> None:
        with e.nest([_BLOCK]) as (number,):
            gather(slot, Index(shape, [(0, len(shape), e.plus(e.times(numbers[0], _BLOCK), number))]))

    return _in_parts(e, kind, [blocks], _BLOCK, gather_block)


def _in_parts(
    e: Emitter, kind: ReductionKind, counts: Sequence[int], size: int, gather: Callable[..., None]
) -> Element:
    """Reduce parts of one size, perhaps in threads; sums of float32 parts are added in float64."""
    meeting = dtypes.float64 if kind.wide is dtypes.float32 and kind.start == 0 else kind.wide
    parts = math.prod(counts)
    partial = Buffer.new(e, meeting, (parts,))
    slot = new_slot(e, kind.wide)
    with e.nest(counts, inner=size) as numbers:
        put(e, slot, constant(kind.wide, kind.start))
        gather(slot, numbers)
        part = Index.of(tuple(counts), numbers).flat(e)
        e.store(meeting, partial.address, part, converted(e, get(e, kind.wide, slot), kind.wide, meeting))
    combine = sums(meeting).combine if meeting is not kind.wide else kind.combine
    total = new_slot(e, meeting, kind.start)
    with e.nest([parts], threads=False) as (part,):
        put(e, total, combine(e, get(e, meeting, total), e.load(meeting, partial.address, part)))
    return converted(e, get(e, meeting, total), meeting, kind.wide)
