"""Parts of tensors: by keys as Python has them, by slices, by indices that are computed.

    y = getitem x, i [key='_, ::2']         y[j] is x[i, 2 * j], found where y is read

An index that is computed is checked before it is used, or, inside of a nest of loops, while it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import dtypes
from ..ir.graph import Operation
from ..ops.indexing import HOLE, _matched, filled
from .casts import converted
from .creating import shape_of
from .cutting import surrounded
from .emitter import Emitter
from .nodes import Index, Mapped, Node, Shape
from .regions import Region
from .registry import RefusedError, lowers
from .shaping import known, moved
from .tiles import mirrored
from .types import Element, Register

Part = tuple[int, Any]
"""An axis of the operand, and what the key says of it: (start, step) along an axis of the result, or a register."""


def key_parts(region: Region, operation: Operation, shape: Shape, holes: Sequence[Node]) -> list[Part | None]:
    """What a key selects: one entry for each of its items; None makes an axis."""
    operands = operation.inputs[len(operation.inputs) - len(holes) :]
    values = [HOLE if operand.value is None else int(operand.value) for operand in operands]
    rest = iter(node for node, value in zip(holes, values, strict=True) if value is HOLE)
    return list(_parts(region, filled(operation.attrs["key"], values), shape, rest))


def _parts(
    region: Region, index: tuple[Any, ...], shape: Shape, holes: Iterator[Node]
) -> Iterator[Part | None]:
    e = region.e
    for item, axis in _matched(index, len(shape)):
        if item is None:
            yield None
        elif isinstance(item, slice):
            if HOLE in (item.start, item.stop, item.step):
                raise RefusedError("the size of a slice depends on values")
            start, _, step = item.indices(shape[axis])
            yield axis, (start, step)
        elif item is HOLE:
            yield axis, _checked(e, region.integer(next(holes)), shape[axis])
        else:
            yield axis, e.word(item % shape[axis] if shape[axis] else 0)


def _checked(e: Emitter, place: Register, size: int) -> Register:
    """A place that may count from the end, once it is known to be there."""
    zero = e.word(0)
    counted = e.b.select(e.b.icmp_signed("<", place, zero), e.b.add(place, e.word(size)), place)
    e.demand(e.b.icmp_unsigned("<", counted, e.word(size)))
    return counted


def selected(e: Emitter, parts: Sequence[Part | None], places: Sequence[Register]) -> list[Register]:
    """The places in the operand for those in what the key selects."""
    found = []
    rest = iter(places)
    for part in parts:
        if part is None:
            next(rest)
        elif isinstance(part[1], tuple):
            start, step = part[1]
            found.append(e.plus(e.times(next(rest), step), e.word(start)))
        else:
            found.append(part[1])
    return found


@lowers("getitem")
def _(region: Region, operation: Operation, node: Node, *holes: Node) -> Node:
    parts = key_parts(region, operation, node.shape, holes)
    return moved(node, shape_of(operation), lambda e, places: selected(e, parts, places))


@lowers("setitem")
def _(region: Region, operation: Operation, node: Node, value: Node, *holes: Node) -> Node:
    e = region.e
    parts = key_parts(region, operation, node.shape, holes)
    sizes = _selected_shape(operation, node.shape, parts)
    source = region.settled(value)
    where = region.own(operation, node)
    if 0 not in sizes:
        with e.nest(sizes) as numbers:
            index = Index.of(sizes, numbers)
            element = source.at(e, index.within(e, source.shape[-len(sizes) :] if sizes else ()))
            target = Index.of(node.shape, selected(e, parts, numbers)).flat(e)
            e.store(where.dtype, where.address, target, element)
    return where


def _selected_shape(operation: Operation, shape: Shape, parts: Sequence[Part | None]) -> Shape:
    from ..ops.indexing import result_sizes

    count = len(operation.inputs) - 2
    values = [HOLE if x.value is None else int(x.value) for x in operation.inputs[2:]] if count else []
    sizes = tuple(result_sizes(filled(operation.attrs["key"], values), shape))
    return tuple(size for size in sizes if size is not None)


@lowers("put_back_item")
def _(region: Region, operation: Operation, value: Node, shape: Node, *holes: Node) -> Node:
    e = region.e
    whole = shape_of(operation)
    parts = key_parts(region, operation, whole, holes)
    source = region.readable(value)
    where = region.zeros(value.dtype, whole)
    if source.size:
        with e.nest(source.shape) as numbers:
            target = Index.of(whole, selected(e, parts, numbers)).flat(e)
            e.store(where.dtype, where.address, target, source.at(e, Index.of(source.shape, numbers)))
    return where


@lowers("slice")
def _(region: Region, operation: Operation, node: Node, begin: Node, size: Node) -> Node:
    starts = [int(start) for start in known(operation, 1)]
    for start, count, whole in zip(starts, shape_of(operation), node.shape, strict=True):
        if not 0 <= start <= start + count <= whole:
            raise RefusedError("it is out of bounds")
    return moved(
        node,
        shape_of(operation),
        lambda e, places: [e.plus(p, e.word(start)) for p, start in zip(places, starts, strict=True)],
    )


@lowers("unstack")
def _(region: Region, operation: Operation, node: Node) -> list[Node]:
    axis = operation.attrs["axis"] % len(node.shape)
    shape = (*node.shape[:axis], *node.shape[axis + 1 :])
    found = region.readable(node)
    return [
        moved(found, shape, lambda e, places, number=number: [*places[:axis], e.word(number), *places[axis:]])  # type: ignore[misc]
        for number in range(len(operation.outputs))
    ]


@lowers("split", "split_sizes")
def _(region: Region, operation: Operation, node: Node, *sizes: Node) -> list[Node]:
    axis = operation.attrs["axis"] % len(node.shape)
    found = region.readable(node)
    made, begin = [], 0
    for value in operation.outputs:
        shape = tuple(size for size in value.shape or () if size is not None)
        made.append(
            moved(
                found,
                shape,
                lambda e, places, begin=begin: [  # type: ignore[misc]
                    e.plus(p, e.word(begin)) if i == axis else p for i, p in enumerate(places)
                ],
            )
        )
        begin += shape[axis]
    return made


@lowers("gather")
def _(region: Region, operation: Operation, node: Node, indices: Node) -> Node:
    if operation.attrs["batch_dims"]:
        raise RefusedError("batch_dims is not compiled")
    e = region.e
    shape = shape_of(operation)
    axis = operation.attrs["axis"] % len(node.shape)
    if not indices.shape:
        place = region.integer(indices)
        e.demand(e.b.icmp_unsigned("<", place, e.word(node.shape[axis])))
        return moved(node, shape, lambda e, places: [*places[:axis], place, *places[axis:]])
    rows, wanted = region.readable(node), region.readable(indices)
    rank = len(indices.shape)

    def find(e: Emitter, index: Index) -> Element:
        places = index.places(e)
        chosen = wanted.at(e, Index.of(wanted.shape, places[axis : axis + rank]))
        place = in_range(e, chosen, wanted.dtype, rows.shape[axis])
        return rows.at(e, Index.of(rows.shape, [*places[:axis], place, *places[axis + rank :]]))

    if not node.size and shape and 0 not in shape:
        raise RefusedError("there is nothing to take from")
    return Mapped(node.dtype, shape, [rows, wanted], find, cost=2, once=False, fails=True)


def in_range(e: Emitter, index: Register, dtype: dtypes.DType, size: int) -> Register:
    """A computed index, as one that is there; the check fails where it is not."""
    place = converted(e, index, dtype, dtypes.int64)
    fits = e.b.icmp_unsigned("<", place, e.word(size))
    e.demand(fits)
    return e.b.select(fits, place, e.word(0))


@lowers("gather_nd")
def _(region: Region, operation: Operation, node: Node, indices: Node) -> Node:
    if operation.attrs["batch_dims"] or not node.size:
        raise RefusedError("batch_dims and empty tensors are not compiled")
    rows, wanted = region.readable(node), region.readable(indices)
    rank, depth = len(indices.shape) - 1, indices.shape[-1]

    def find(e: Emitter, index: Index) -> Element:
        places = index.places(e)
        found = coordinates(e, wanted, places[:rank], depth, rows.shape)
        return rows.at(e, Index.of(rows.shape, [*found, *places[rank:]]))

    return Mapped(node.dtype, shape_of(operation), [rows, wanted], find, cost=2, once=False, fails=True)


def coordinates(
    e: Emitter, indices: Node, places: Sequence[Register], depth: int, shape: Shape
) -> list[Register]:
    """The places that a row of indices names, each checked."""
    return [
        in_range(
            e, indices.at(e, Index.of(indices.shape, [*places, e.word(axis)])), indices.dtype, shape[axis]
        )
        for axis in range(depth)
    ]


@lowers("pad")
def _(region: Region, operation: Operation, node: Node, paddings: Node, value: Node) -> Node:
    if operation.attrs["mode"] != "CONSTANT":
        return mirrored(region, operation, node)
    margins = [(int(before), int(after)) for before, after in known(operation, 1)]
    return surrounded(region, node, margins, region.scalar(value).value)
