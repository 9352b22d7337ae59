"""Lower operations with results of dynamic size (codegen/dynamic_sizes.py).

y = boolean_mask x, m        p[k] ← i for each true m[i], in order;  y[k] is x[p[k]], computed lazily
i = true_indices m           the coordinates in m of p[k]
"""

from __future__ import annotations

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
from .fill import asked_shape
from .reduction_kinds import get, new_slot, put
from .reshape import checked, moved


def _true_places(region: Region, mask: LazyValue) -> Buffer:
    """Return the flat indices of the true elements, in order. The shape of the buffer holds their number.

    The first index is always set: a gather whose index is out of range reads the element 0 before it fails.
    """
    e = region.e
    region.prepared([mask])
    where = Buffer.new(e, dtypes.int64, (mask.size or 1,))
    count = new_slot(e, dtypes.int64, 0)
    e.store(dtypes.int64, where.address, e.word(0), e.word(0))
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


def repeated(region: Region, node: LazyValue, repeats: LazyValue, axis: int | None) -> LazyValue:
    """Return the elements repeated along an axis, by counts that are dynamic."""
    e = region.e
    whole = regrouped(node, (node.size,) if axis is None else node.shape or (1,))
    dim = (axis or 0) % len(whole.shape)
    found, times, count = region.readable(whole), region.settled(repeats), whole.shape[dim]
    if times.size != 1:
        checked(e, times.size, count)
    else:
        _times(e, times, e.word(0))  # is checked also if there are no elements
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
