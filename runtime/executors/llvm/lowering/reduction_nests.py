"""Loop nests of reductions along some axes of a tensor; see reduction_codegen.py.

the last axis is kept      unrolled, if few elements are reduced to one; else row by row, into accumulators in memory,
                           or in registers if rows are narrow, like points in space
else                       an accumulator in a register for each result
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from .... import dtypes
from ..codegen.dynamic_sizes import Size, is_sized, typical
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyElementwise, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.parallel_loops import WAKES
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import site_of
from .casts import converted
from .matmul import beyond
from .reduction_kinds import ReductionKind, get, new_slot, put

Span = tuple[int, int]
"""A range of axes: the first one, and the one after the last."""

FindElement = Callable[[Sequence[Register], Sequence[Register]], Element]
"""Emits an element of the operand, from the numbers of its row and those of its column."""

FindPlace = Callable[[Sequence[Register]], Register]
"""Emits the number of the accumulator of a column."""

_PARTS = 16
"""The parts of rows that have accumulators of their own."""

_FEWEST = 64
"""The fewest rows that are divided into parts."""

_NARROW = 8
"""Rows of at most this many elements have accumulators in registers, one for each element."""

_CHEAP = 64
"""The largest cost of an element of a narrow row: its code is written once for each element."""


def initial_values(kind: ReductionKind, shape: Shape, dtype: dtypes.DType) -> LazyValue:
    """Return the reductions of axes of size 0."""
    value = constant(dtype, kind.start)
    return LazyElementwise(dtype, shape, lambda e, site: value, site_of(dtype), [], 0)


def stored_too(region: Region, order: Sequence[LazyValue], node: LazyValue) -> list[tuple[LazyValue, Buffer]]:
    """Return the intermediate results of the operand's shape that have later readers; the nest stores them too."""
    kept = region.kept(order, [])
    return [pair for pair in kept if pair[0].shape == node.shape]


def element_of(
    e: Emitter,
    node: LazyValue,
    kind: ReductionKind,
    order: Sequence[LazyValue],
    kept: Sequence[tuple[LazyValue, Buffer]],
    index: Index,
) -> Element:
    """Return an element of the operand; intermediate results with later readers are stored."""
    for one in order:
        one.at(e, index)
    for one, where in kept:
        e.store(one.dtype, where.address, index.flat(e), one.at(e, index))
    return converted(e, node.at(e, index), node.dtype, kind.wide)


class ReductionNest(NamedTuple):
    """A reduction of `node` along `axes` into `where`; the axes in `stays` are kept.

    `order` are the values that the elements of `node` are computed from.
    """

    region: Region
    node: LazyValue
    kind: ReductionKind
    axes: Sequence[int]
    stays: Sequence[int]
    order: Sequence[LazyValue]
    where: Buffer

    def unroll(self) -> None:
        """Reduce into a register per result, without a loop over the elements that are reduced to one."""
        region, node, kind, axes, stays, order, where = self
        e = region.e
        kept = stored_too(region, order, node)
        ranges = [range(node.shape[axis]) for axis in axes]
        sizes = tuple(node.shape[axis] for axis in stays)
        with e.nest(sizes, inner=math.prod(map(len, ranges)), each_once=bool(kept)) as outer:
            found = constant(kind.wide, kind.start)
            for numbers in itertools.product(*ranges):
                at = dict(zip([*stays, *axes], [*outer, *map(e.word, numbers)], strict=True))
                index = Index.of(node.shape, [at[axis] for axis in range(len(node.shape))])
                found = kind.combine(e, found, element_of(e, node, kind, order, kept, index))
            value = converted(e, found, kind.wide, where.dtype)
            e.store(where.dtype, where.address, Index.of(sizes, outer).flat(e), value)
        region.keep(kept)

    def accumulate_by_rows(self) -> None:
        """Reduce row by row, if the last axis is kept.

        Many rows are divided into parts with accumulators of their own, which threads share.
        """
        region, node, kind, axes, stays, order, where = self
        e, each_once = region.e, bool(kept := stored_too(region, order, node))
        spans = region.spans(node.shape, [node, *order])
        outer = _joined([axis for axis in stays if axis < axes[0]], spans)
        first, *others = _joined(axes, spans)
        rest = _joined([axis for axis in stays if axis > axes[0]], spans)
        (rows,) = _counts(node, [first])
        parts = 1 if outer else _parts(node, rows, where)
        is_direct = parts == 1 and where.dtype is kind.wide
        totals = where if is_direct else Buffer.new(e, kind.wide, (parts, *where.shape))
        in_parts = e.nest([parts], inner=node.size // parts, each_once=each_once)
        with in_parts if parts > 1 else nullcontext([e.word(0)]) as (part,):
            start = e.over(e.times(part, rows), parts)[0]
            end = e.over(e.times(e.plus(part, e.word(1)), rows), parts)[0]
            base = e.times(part, where.size)
            count = Size.of(e.minus(end, start)) if parts > 1 else rows
            counts = [count, *_counts(node, others)]
            work = math.prod(_counts(node, [first, *others, *rest]))
            accumulate = self._in_slots if self._is_narrow(rest) else self._in_memory
            if accumulate == self._in_memory:
                _clear(e, kind, totals, base, where.size)
            kept_axes = e.nest(_counts(node, outer), inner=work, each_once=each_once)
            no_axes: nullcontext[list[Register]] = nullcontext([])
            with kept_axes if outer else no_axes as around:

                def results(inner: Sequence[Register]) -> dict[Span, Register]:
                    return dict(zip([*outer, *rest], [*around, *inner], strict=True))

                def element(over: Sequence[Register], inner: Sequence[Register]) -> Element:
                    reduced = dict(zip([first, *others], [e.plus(start, over[0]), *over[1:]], strict=True))
                    return element_of(e, node, kind, order, kept, _index(node, results(inner) | reduced))

                def place(inner: Sequence[Register]) -> Register:
                    return e.plus(base, _position(e, node, results(inner)))

                accumulate(totals, counts, _counts(node, rest), element, place, each_once)
        region.keep(kept)
        if not is_direct:
            self._combine(totals)

    def _combine(self, totals: Buffer) -> None:
        """Reduce the accumulators of all parts to the results."""
        stays = range(1, len(totals.shape))
        whole = ReductionNest(self.region, totals, self.kind, [0], stays, [], self.where)
        # Unrolled, the sums of parts would be a large share of a network's code.
        is_loop = totals.shape[0] > 1 and self.where.dtype is self.kind.wide
        (whole.accumulate_by_rows if is_loop else whole.unroll)()

    def _is_narrow(self, rest: Sequence[Span]) -> bool:
        """Return whether rows have so few elements that each has an accumulator in a register."""
        sizes = _counts(self.node, rest)
        return not is_sized(tuple(sizes)) and math.prod(sizes) <= _NARROW and self.node.cost <= _CHEAP

    def _in_memory(
        self, totals: Buffer, counts: Sequence[int], rest: Sequence[int], element: FindElement, place: FindPlace,
        each_once: bool,
    ) -> None:  # fmt: skip
        """Add rows to accumulators in memory."""
        e, kind = self.region.e, self.kind
        work = math.prod(map(typical, rest))
        with (
            e.nest(counts, parallel=False, inner=work, each_once=each_once) as over,
            e.nest(rest, each_once=True) as inner,
        ):
            value, number = element(over, inner), place(inner)
            found = e.load(kind.wide, totals.address, number)
            e.store(kind.wide, totals.address, number, kind.combine(e, found, value))

    def _in_slots(
        self, totals: Buffer, counts: Sequence[int], rest: Sequence[int], element: FindElement, place: FindPlace,
        each_once: bool,
    ) -> None:  # fmt: skip
        """Add rows to accumulators in registers, and store these after the last row."""
        e, kind = self.region.e, self.kind
        columns = [list(map(e.word, numbers)) for numbers in itertools.product(*map(range, rest))]
        slots = [new_slot(e, kind.wide, kind.start) for _ in columns]
        with e.nest(counts, parallel=False, each_once=each_once) as over:
            for slot, inner in zip(slots, columns, strict=True):
                put(e, slot, kind.combine(e, get(e, kind.wide, slot), element(over, inner)))
        for slot, inner in zip(slots, columns, strict=True):
            e.store(kind.wide, totals.address, place(inner), get(e, kind.wide, slot))

    def accumulate_in_registers(self) -> None:
        """Reduce into a register per result, if the last axis is reduced."""
        region, node, kind, axes, stays, order, where = self
        e = region.e
        kept = stored_too(region, order, node)
        slot = new_slot(e, kind.wide)
        spans = region.spans(node.shape, [node, *order])
        around, reduced = _joined(stays, spans), _joined(axes, spans)
        rounds = math.prod(node.shape[axis] for axis in axes)
        with e.nest(_counts(node, around), inner=rounds) as outer:
            results = dict(zip(around, outer, strict=True))
            put(e, slot, constant(kind.wide, kind.start))
            with e.nest(_counts(node, reduced)) as inner:
                index = _index(node, results | dict(zip(reduced, inner, strict=True)))
                element = element_of(e, node, kind, order, kept, index)
                put(e, slot, kind.combine(e, get(e, kind.wide, slot), element))
            value = converted(e, get(e, kind.wide, slot), kind.wide, where.dtype)
            e.store(where.dtype, where.address, _position(e, node, results), value)
        region.keep(kept)


def _parts(node: LazyValue, rows: int, where: Buffer) -> int:
    """Return into how many parts of rows a reduction is divided."""
    is_large = not is_sized(node.shape) and node.size >= max(WAKES, _FEWEST * where.size)
    return min(_PARTS, rows) if is_large else 1


def _clear(e: Emitter, kind: ReductionKind, totals: Buffer, base: Register, size: int) -> None:
    """Emit the initial values of accumulators."""
    if kind.start == 0 and not isinstance(size, Size):
        e.clear(beyond(e, totals, base), size * kind.wide.size)
        return
    with e.nest([size]) as (number,):
        e.store(kind.wide, totals.address, e.plus(base, number), constant(kind.wide, kind.start))


def _joined(axes: Sequence[int], spans: Sequence[Span]) -> list[Span]:
    """Return the ranges of axes that one loop each can traverse; `spans` are those for all axes together."""
    inner = {axis for start, stop in spans for axis in range(start + 1, stop)}
    found: list[Span] = []
    for axis in axes:
        if found and found[-1][1] == axis and axis in inner:
            found[-1] = found[-1][0], axis + 1
        else:
            found.append((axis, axis + 1))
    return found


def _counts(node: LazyValue, spans: Sequence[Span]) -> list[int]:
    return [math.prod(node.shape[start:stop]) for start, stop in spans]


def _index(node: LazyValue, coordinates: Mapping[Span, Register]) -> Index:
    """Return the index of an element of the operand."""
    return Index(node.shape, [(*span, coordinates[span]) for span in sorted(coordinates)])


def _position(e: Emitter, node: LazyValue, coordinates: Mapping[Span, Register]) -> Register:
    """Emit the linear index of a result, whose axes are these spans of the operand."""
    total = e.word(0)
    for start, stop in sorted(coordinates):
        total = e.plus(e.times(total, math.prod(node.shape[start:stop])), coordinates[start, stop])
    return total
