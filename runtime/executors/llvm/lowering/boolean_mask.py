"""Lower operations with results of dynamic size (codegen/dynamic_sizes.py).

y = boolean_mask x, m        p[k] ← i for each true m[i], in order;  y[k] is x[p[k]], computed lazily
i = true_indices m           the coordinates in m of p[k]
y, n = unique x              sorts x with the original indices; equal elements are then adjacent
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_shapes import regrouped
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue, Scalar
from ..codegen.llvm_types import Element, Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted
from .elementwise import compared
from .fill import asked_shape
from .reduction_kinds import get, new_slot, put
from .reshape import checked, moved
from .sort_ops import in_order


def _true_places(region: Region, mask: LazyValue) -> Buffer:
    """Return the flat indices of the true elements, in order. The shape of the buffer holds their number."""
    e = region.e
    region.prepared([mask])
    where = Buffer.new(e, dtypes.int64, (mask.size,))
    count = new_slot(e, dtypes.int64, 0)
    if mask.size:
        with e.nest([mask.size], parallel=False) as (number,):
            position = get(e, dtypes.int64, count)
            e.store(dtypes.int64, where.address, position, number)  # kept if this is true, else overwritten
            element = mask.at(e, Index(mask.shape, [(0, len(mask.shape), number)]))
            is_true = converted(e, element, mask.dtype, dtypes.bool_)
            put(e, count, e.plus(position, e.b.zext(is_true, integer(64))))
    return Buffer(dtypes.int64, (Size.of(get(e, dtypes.int64, count)),), where.address)


@lowers("boolean_mask", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, mask: LazyValue) -> LazyValue:
    axis = operation.attrs["axis"]
    end = axis + len(mask.shape)
    for own, other in zip(node.shape[axis:end], mask.shape, strict=True):
        checked(region.e, own, other)
    chosen = _true_places(region, regrouped(mask, node.shape[axis:end]))
    found = region.readable(node)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        position = chosen.at(e, Index.of(chosen.shape, [coordinates[axis]]))
        before = [(i, i + 1, coordinates[i]) for i in range(axis)]
        after = [(end + i, end + i + 1, p) for i, p in enumerate(coordinates[axis + 1 :])]
        return found.at(e, Index(node.shape, [*before, (axis, end, position), *after]))

    shape = (*node.shape[:axis], *chosen.shape, *node.shape[end:])
    return IndexMap(node.dtype, shape, [found, chosen], find, once=False)


@lowers("true_indices", sized=True)
def _(region: Region, operation: Operation, condition: LazyValue) -> LazyValue:
    rank = len(condition.shape)
    if not rank:
        raise RefusedError("true_indices of a scalar is not compiled")
    chosen = _true_places(region, condition)

    def find(e: Emitter, index: Index) -> Element:
        row, column = index.coordinates(e)
        flat = chosen.at(e, Index.of(chosen.shape, [row]))
        coordinates = Index(condition.shape, [(0, rank, flat)]).coordinates(e)
        found = coordinates[0]
        for axis, position in enumerate(coordinates[1:], 1):
            found = e.choose(e.b.icmp_unsigned("==", column, e.word(axis)), position, found)
        return found

    return IndexMap(dtypes.int64, (*chosen.shape, rank), [chosen], find, cost=4 * rank, once=False)


@lowers("unique", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    e, source, size = region.e, region.settled(node), node.shape[0]
    numbers = Buffer.new(e, operation.outputs[1].dtype, (size,))
    values = Buffer.new(e, node.dtype, (size,))
    count = new_slot(e, dtypes.int64, 0)
    if size:
        first = _first_places(region, source, size)
        with e.nest([size], parallel=False) as (number,):
            position = e.load(dtypes.int64, first.address, number)
            here = get(e, dtypes.int64, count)
            element = source.at(e, Index.of(source.shape, [number]))
            e.store(node.dtype, values.address, here, element)
            is_new = e.b.icmp_unsigned("==", position, number)
            wide = converted(e, here, dtypes.int64, numbers.dtype)
            known = e.load(numbers.dtype, numbers.address, e.choose(is_new, e.word(0), position))
            e.store(numbers.dtype, numbers.address, number, e.choose(is_new, wide, known))
            put(e, count, e.plus(here, e.b.zext(is_new, integer(64))))
    found = Buffer(node.dtype, (Size.of(get(e, dtypes.int64, count)),), values.address)
    return [found, numbers]


def _first_places(region: Region, source: LazyValue, size: int) -> Buffer:
    """Return for each element the index of its first equal element; NaN equals NaN."""
    e, kind = region.e, "u" if source.dtype.is_bool else source.dtype.kind
    first = Buffer.new(e, dtypes.int64, (size,))
    last, leader = new_slot(e, source.dtype, 0), new_slot(e, dtypes.int64, 0)

    def enter(row: Any, coordinates: list[Register], number: Register, here: Register) -> None:
        element, position = row.key(e, here), row.original_index(e, here)
        before = get(e, source.dtype, last)
        differs = compared(e, kind, "!=", element, before)
        if kind == "f":
            are_nan = [e.b.fcmp_unordered("uno", x, x) for x in (element, before)]
            differs = e.b.and_(differs, e.b.not_(e.b.and_(*are_nan)))
        begins = e.b.or_(differs, e.b.icmp_unsigned("==", number, e.word(0)))
        put(e, leader, e.choose(begins, position, get(e, dtypes.int64, leader)))
        put(e, last, element)
        e.store(dtypes.int64, first.address, position, get(e, dtypes.int64, leader))

    in_order(region, source, 0, False, True, size, enter)
    return first


@lowers("occurrences", sized=True)
def _(
    region: Region,
    operation: Operation,
    values: LazyValue,
    weights: LazyValue,
    least: LazyValue,
    most: LazyValue,
) -> LazyValue:
    if operation.attrs["by_row"] and len(values.shape) == 2:
        raise RefusedError("numbers counted in each row are not compiled")
    e, (result,) = region.e, operation.outputs
    source, dtype = region.settled(values), result.dtype
    if weights.shape != (0,) and weights.shape != values.shape:
        raise RefusedError("weights whose size depends on values are not compiled")
    amounts = None if weights.shape == (0,) else region.settled(weights)
    top = new_slot(e, dtypes.int64, -1)
    flat = regrouped(source, (source.size,))
    if source.size:
        with e.nest([source.size], parallel=False) as (number,):
            wide = converted(e, flat.at(e, Index.of(flat.shape, [number])), source.dtype, dtypes.int64)
            e.demand(e.b.icmp_signed(">=", wide, e.word(0)))
            known = get(e, dtypes.int64, top)
            put(e, top, e.choose(e.b.icmp_signed(">", wide, known), wide, known))
    width = _width(region, get(e, dtypes.int64, top), least, most)
    size = result.shape[0] if result.shape and result.shape[0] is not None else Size.of(width)
    totals = region.zeros(dtype, (size,))
    if source.size:
        _count(region, flat, amounts, totals, bool(operation.attrs["binary_output"]))
    return totals


def _width(region: Region, top: Register, least: LazyValue, most: LazyValue) -> Register:
    """Return the number of bins: up to the largest value, clamped to the bounds, where -1 means no upper bound."""
    e = region.e
    lower, upper = region.integer(least), region.integer(most)
    beyond = e.plus(top, e.word(1))
    width = e.choose(e.b.icmp_signed(">", lower, beyond), lower, beyond)
    e.demand(e.b.icmp_signed(">=", upper, e.word(-1)))
    is_cut = e.b.and_(e.b.icmp_signed(">=", upper, e.word(0)), e.b.icmp_signed("<", upper, width))
    return e.choose(is_cut, upper, width)


def _count(
    region: Region, flat: LazyValue, amounts: LazyValue | None, totals: Buffer, is_binary: bool
) -> None:
    from .elementwise import add
    from .reduction_kinds import site_of

    e, dtype = region.e, totals.dtype
    one = converted(e, integer(64)(1), dtypes.int64, dtype)
    with e.nest([flat.size], parallel=False) as (number,):
        value = converted(e, flat.at(e, Index.of(flat.shape, [number])), flat.dtype, dtypes.int64)
        counts = e.block("counts")
        onward = e.block("onward")
        e.b.cbranch(e.b.icmp_unsigned("<", value, e.word(totals.shape[0])), counts, onward)
        with e.into(counts):
            known = e.load(dtype, totals.address, value)
            amount = (
                one
                if amounts is None
                else amounts.at(e, Index(amounts.shape, [(0, len(amounts.shape), number)]))
            )
            e.store(dtype, totals.address, value, one if is_binary else add(e, site_of(dtype), known, amount))
            e.b.branch(onward)
        e.b.position_at_end(onward)


def repeated(region: Region, node: LazyValue, repeats: LazyValue, axis: int | None) -> LazyValue:
    """Return the elements repeated along an axis, by counts that are dynamic."""
    e = region.e
    whole = regrouped(node, (node.size,) if axis is None else node.shape or (1,))
    dim = (axis or 0) % len(whole.shape)
    found, times, count = region.readable(whole), region.settled(repeats), whole.shape[dim]
    if times.size != 1:
        checked(e, times.size, count)
    total = new_slot(e, dtypes.int64, 0)
    with e.nest([count], parallel=False) as (number,):
        put(e, total, e.plus(get(e, dtypes.int64, total), _times(e, times, number)))
    sources = Buffer.new(e, dtypes.int64, (Size.of(get(e, dtypes.int64, total)),))
    put(e, total, e.word(0))
    with e.nest([count], parallel=False) as (number,):
        begin, often = get(e, dtypes.int64, total), _times(e, times, number)
        with e.nest([Size.of(often)]) as (one,):
            e.store(dtypes.int64, sources.address, e.plus(begin, one), number)
        put(e, total, e.plus(begin, often))
    shape = (*whole.shape[:dim], *sources.shape, *whole.shape[dim + 1 :])

    def source(e: Emitter, coordinates: list[Register]) -> list[Register]:
        wanted = sources.at(e, Index.of(sources.shape, [coordinates[dim]]))
        return [*coordinates[:dim], wanted, *coordinates[dim + 1 :]]

    moving = moved(found, shape, source, once=False)
    return region.settled(moving)


def _times(e: Emitter, times: LazyValue, number: Register) -> Register:
    """Return the repeat count of an element; a negative count fails the check."""
    position = number if times.size != 1 else e.word(0)
    index = Index(times.shape, [(0, len(times.shape), position)] if times.shape else [])
    found = converted(e, times.at(e, index), times.dtype, dtypes.int64)
    e.demand(e.b.icmp_signed(">=", found, e.word(0)))
    return e.choose(e.b.icmp_signed("<", found, e.word(0)), e.word(0), found)


def most(region: Region, lengths: LazyValue, requested: LazyValue) -> Size:
    """Return the size `requested`; if that is negative, the largest of `lengths`, or 0."""
    e = region.e
    largest = new_slot(e, dtypes.int64, 0)
    with e.nest([lengths.size], parallel=False) as (number,):
        index = Index(lengths.shape, [(0, len(lengths.shape), number)] if lengths.shape else [])
        found = converted(e, lengths.at(e, index), lengths.dtype, dtypes.int64)
        known = get(e, dtypes.int64, largest)
        put(e, largest, e.choose(e.b.icmp_signed(">", found, known), found, known))
    wanted = region.integer(requested)
    is_open = e.b.icmp_signed("<", wanted, e.word(0))
    return Size.of(e.choose(is_open, get(e, dtypes.int64, largest), wanted))


@lowers("put_back_masked", sized=True)
def _(region: Region, operation: Operation, rows: LazyValue, mask: LazyValue, shape: LazyValue) -> LazyValue:
    e, axis = region.e, operation.attrs["axis"]
    whole = asked_shape(region, operation, shape)
    end = axis + len(mask.shape)
    for own, other in zip(whole[axis:end], mask.shape, strict=True):
        checked(e, own, other)
    chosen = _true_places(region, mask)
    source, where = region.settled(rows), region.zeros(rows.dtype, whole)
    checked(e, rows.shape[axis], chosen.shape[0])
    with e.nest(source.shape, parallel=False) as coordinates:
        position = chosen.at(e, Index.of(chosen.shape, [coordinates[axis]]))
        before = [(i, i + 1, coordinates[i]) for i in range(axis)]
        after = [(end + i, end + i + 1, p) for i, p in enumerate(coordinates[axis + 1 :])]
        target = Index(whole, [*before, (axis, end, position), *after]).flat(e)
        e.store(rows.dtype, where.address, target, source.at(e, Index.of(source.shape, coordinates)))
    return where


@lowers("shape", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    (value,) = operation.outputs

    def find(e: Emitter, index: Index) -> Element:
        position, found = index.flat(e), e.word(node.shape[0])
        if hasattr(position, "constant"):
            found = e.word(node.shape[position.constant])
        else:
            for axis, size in enumerate(node.shape[1:], 1):
                found = e.choose(e.b.icmp_unsigned("==", position, e.word(axis)), e.word(size), found)
        return converted(e, found, dtypes.int64, value.dtype)

    return IndexMap(value.dtype, (len(node.shape),), [], find, once=False)


@lowers("size", sized=True, moves=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    return Scalar(value.dtype, converted(region.e, region.e.word(node.size), dtypes.int64, value.dtype))
