"""Lower slicing and gathers: Python keys, slices, and computed indices.

    y = getitem x, i [key='_, ::2']         y[j] is x[i, 2 * j], computed lazily

A computed index is checked before its use, or inside of a loop nest during its use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .... import dtypes
from ....functionalize.affine_analysis import index_of, is_moving, selected_sizes
from ....ir.graph import Constant, Operand, Operation, Value
from ....ops.arrays.getitem import matched
from ..codegen.dynamic_sizes import Size, is_sized
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from ..codegen.scalar_builder import is_known
from .casts import converted
from .dynamic_slices import Part, are_rows, counted, rows, sized_parts
from .fill import asked_shape, shape_of, size_at
from .reshape import checked, moved


def key_parts(
    region: Region,
    operation: Operation,
    shape: Shape,
    operands: Sequence[Operand],
    holes: Sequence[LazyValue],
    sizes: Sequence[int],
) -> list[Part | None]:
    """Return the selection of each item of a key, for an operand of this shape; None for a new axis."""
    e = region.e
    nodes = dict(zip(operands, holes, strict=True))
    rest = iter(sizes)
    parts: list[Part | None] = []
    for item, axis in matched(index_of(operation.attrs["key"], list(operands)), len(shape)):
        size = shape[axis] if axis < len(shape) else 1
        if item is None:
            next(rest)
            parts.append(None)
        elif isinstance(item, slice):
            count = next(rest)
            if is_moving(item):
                start = region.integer(nodes[item.start]) if item.start in nodes else e.word(item.start)
                _demand_within(e, start, item, count, size)
                parts.append((axis, (start, item.step or 1)))
            else:
                start, stop, step = item.indices(size)
                if count != len(range(start, stop, step)):
                    raise RefusedError(f"a slice of {size} elements does not have {count}")
                parts.append((axis, (e.word(start), step)))
        elif isinstance(item, Value):
            parts.append((axis, counted(e, region.integer(nodes[item]), size)))
        else:
            parts.append((axis, e.word(item % size if size else 0)))
    return parts


def _demand_within(e: Emitter, start: Register, item: slice, count: int, size: int) -> None:
    """Emit a check that a slice of static length is in bounds. Negative or clipped starts are left to the plan."""
    reach = (count - 1) * (item.step or 1) + 1 if count else 0
    e.demand(e.b.icmp_signed(">=", start, e.word(0)))
    e.demand(e.b.icmp_signed("<=", start, e.word(size - reach)))


def selected(e: Emitter, parts: Sequence[Part | None], indices: Sequence[Register]) -> list[Register]:
    """Map an index of the selection to an index of the operand."""
    found = []
    rest = iter(indices)
    for part in parts:
        if part is None:
            next(rest)
        elif isinstance(part[1], tuple):
            start, step = part[1]
            found.append(e.plus(e.times(next(rest), step), start))
        else:
            found.append(part[1])
    return found


@lowers("getitem", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, *holes: LazyValue) -> LazyValue:
    if is_sized(node.shape) or None in (operation.outputs[0].shape or ()):
        parts, shape = sized_parts(region, operation, node.shape, operation.inputs[1:], holes)
        return moved(node, shape, lambda e, indices: selected(e, parts, indices))
    shape, source = shape_of(operation), node.storage or node
    parts = key_parts(region, operation, node.shape, operation.inputs[1:], holes, shape)
    can_stay = not region.e.is_in_nest and are_rows(parts, source.shape, shape)
    if isinstance(source, Buffer) and source.stays and can_stay:
        return rows(region.e, source, parts, shape)
    return moved(node, shape, lambda e, indices: selected(e, parts, indices))


@lowers("setitem")
def _(
    region: Region, operation: Operation, node: LazyValue, value: LazyValue, *holes: LazyValue
) -> LazyValue:
    e = region.e
    sizes = _selected_shape(region, operation, node.shape)
    parts = key_parts(region, operation, node.shape, operation.inputs[2:], holes, sizes)
    source = region.settled(value)
    where = region.own(operation, node)
    if 0 not in sizes:
        with e.nest(sizes) as numbers:
            index = Index.of(sizes, numbers)
            element = source.at(e, index.within(e, source.shape[-len(sizes) :] if sizes else ()))
            target = Index.of(node.shape, selected(e, parts, numbers)).flat(e)
            e.store(where.dtype, where.address, target, element)
    return where


def _selected_shape(region: Region, operation: Operation, shape: Shape) -> Shape:
    makers = {value: maker for maker in region.graph.operations for value in maker.outputs}
    index = index_of(operation.attrs["key"], list(operation.inputs[2:]))
    sizes = tuple(selected_sizes(index, shape, makers))
    if None in sizes:
        raise RefusedError("the size of a slice depends on values")
    return sizes  # type: ignore[return-value]


@lowers("put_back_item", sized=True)
def _(
    region: Region, operation: Operation, value: LazyValue, shape: LazyValue, *holes: LazyValue
) -> LazyValue:
    e = region.e
    whole = asked_shape(region, operation, shape)
    if is_sized(whole) or is_sized(value.shape):
        parts, sizes = sized_parts(region, operation, whole, operation.inputs[2:], holes)
        for own, size in zip(value.shape, sizes, strict=True):
            checked(e, own, size)
    else:
        parts = key_parts(region, operation, whole, operation.inputs[2:], holes, value.shape)
    source = region.readable(value)
    where = region.zeros(value.dtype, whole)
    if source.size:
        with e.nest(source.shape) as numbers:
            target = Index.of(whole, selected(e, parts, numbers)).flat(e)
            e.store(where.dtype, where.address, target, source.at(e, Index.of(source.shape, numbers)))
    return where


@lowers("slice")
def _(region: Region, operation: Operation, node: LazyValue, begin: LazyValue, size: LazyValue) -> LazyValue:
    shape = shape_of(operation)
    starts = part_starts(region, operation.inputs[1], begin, shape, node.shape)
    return moved(
        node,
        shape,
        lambda e, indices: [e.plus(position, start) for position, start in zip(indices, starts, strict=True)],
    )


def part_starts(
    region: Region, operand: Operand, begin: LazyValue, shape: Shape, whole: Shape
) -> list[Register]:
    """Return the start of a slice along each axis, with bounds checks."""
    e = region.e
    if isinstance(operand, Constant):
        starts = [e.word(int(start)) for start in operand.value.ravel()]
    else:
        found = region.settled(begin)
        indexes = [Index(begin.shape, [(0, len(begin.shape), e.word(i))]) for i in range(begin.size)]
        starts = [converted(e, found.at(e, index), found.dtype, dtypes.int64) for index in indexes]
    for start, count, size in zip(starts, shape, whole, strict=True):
        if is_known(start) and not 0 <= start.constant <= size - count:
            raise RefusedError("it is out of bounds")
        if not is_known(start):
            e.demand(e.b.icmp_signed(">=", start, e.word(0)))
            e.demand(e.b.icmp_signed("<=", start, e.word(size - count)))
    return starts


@lowers("put_back_part")
def _(
    region: Region, operation: Operation, value: LazyValue, begin: LazyValue, shape: LazyValue
) -> LazyValue:
    e = region.e
    whole = shape_of(operation)
    starts = part_starts(region, operation.inputs[1], begin, value.shape, whole)
    source = region.settled(value)
    where = region.zeros(value.dtype, whole)
    if source.size:
        with e.nest(source.shape) as indices:
            target = Index.of(whole, [e.plus(p, start) for p, start in zip(indices, starts, strict=True)])
            e.store(where.dtype, where.address, target.flat(e), source.at(e, Index.of(source.shape, indices)))
    return where


@lowers("unstack")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    axis = operation.attrs["axis"] % len(node.shape)
    shape = (*node.shape[:axis], *node.shape[axis + 1 :])
    found = region.readable(node)
    return [
        moved(found, shape, lambda e, outer, number=number: [*outer[:axis], e.word(number), *outer[axis:]])  # type: ignore[misc]
        for number in range(len(operation.outputs))
    ]


@lowers("split")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    axis = operation.attrs["axis"] % len(node.shape)
    return _parts(region, node, axis, [(value.shape or ())[axis] or 0 for value in operation.outputs])


@lowers("split_sizes", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, asked: LazyValue) -> list[LazyValue]:
    axis = operation.attrs["axis"] % len(node.shape)
    known = [(value.shape or ())[axis] for value in operation.outputs]
    checked(region.e, asked.shape[0], len(known))
    sizes = [size_at(region, asked, i) if size is None else size for i, size in enumerate(known)]
    if None in known or is_sized(node.shape):
        checked(region.e, node.shape[axis], sum(sizes))
    return _parts(region, node, axis, sizes)


def _parts(region: Region, node: LazyValue, axis: int, sizes: Sequence[int]) -> list[LazyValue]:
    """Split a node into parts of these sizes along an axis."""
    found, made, begin = region.readable(node), [], 0
    for size in sizes:

        def source_of(e: Emitter, indices: list[Register], begin: int = begin) -> list[Register]:
            return [e.plus(p, e.word(begin)) if i == axis else p for i, p in enumerate(indices)]

        made.append(moved(found, (*node.shape[:axis], size, *node.shape[axis + 1 :]), source_of))
        begin += size
    return made


@lowers("gather", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, indices: LazyValue) -> LazyValue:
    e = region.e
    axis = operation.attrs["axis"] % len(node.shape)
    shape = (*node.shape[:axis], *indices.shape[batch_rank(operation, indices) :], *node.shape[axis + 1 :])
    if not indices.shape:
        position = region.integer(indices)
        e.demand(e.b.icmp_unsigned("<", position, e.word(node.shape[axis])))
        return moved(node, shape, lambda e, indices: [*indices[:axis], position, *indices[axis:]])
    batch = batch_rank(operation, indices)
    _demand_checked(e, (*node.shape[batch:axis], *node.shape[axis + 1 :]), indices.shape)
    rows, wanted = region.readable(node), region.readable(indices)
    end = axis + len(indices.shape) - batch
    if not node.size and shape and 0 not in shape:
        raise RefusedError("the operand is empty")
    known = check_indices(region, operation.inputs[1], wanted, rows.shape[axis])

    def find(e: Emitter, index: Index) -> Element:
        indices = index.coordinates(e)
        chosen = wanted.at(e, Index.of(wanted.shape, [*indices[:batch], *indices[axis:end]]))
        coordinate = in_range(e, chosen, wanted.dtype, rows.shape[axis], known)
        return rows.at(e, Index.of(rows.shape, [*indices[:axis], coordinate, *indices[end:]]))

    return IndexMap(node.dtype, shape, [rows, wanted], find, cost=2, once=False, fails=not known)


def _demand_checked(e: Emitter, row: Shape, indices: Shape) -> None:
    """Emit a check that rows of this shape have elements, unless there is no index.

    The code checks an index while it computes an element. For rows without elements, the plan checks the indices.
    """
    if 0 in row and not is_sized(indices) and 0 not in indices:
        raise RefusedError("the rows are empty")
    for size in row:
        if size == 0 or isinstance(size, Size):
            has_elements = e.b.icmp_signed("!=", e.word(size), e.word(0))
            has_no_index = e.b.icmp_signed("==", e.word(math.prod(indices)), e.word(0))
            e.demand(e.b.or_(has_elements, has_no_index))


def batch_rank(operation: Operation, indices: LazyValue) -> int:
    """Return the number of batch axes of the indices."""
    count: int = operation.attrs["batch_dims"]
    return count if count >= 0 else count + len(indices.shape)


def check_indices(region: Region, operand: Operand, indices: LazyValue, size: int) -> bool:
    """Emit a loop that checks the bounds of all indices in memory; return whether they need no further checks.

    A gradient writes to the rows that the forward pass has read, after variables have been overwritten: a check there
    would be too late. Inside loops, indices are checked where they are used.
    """
    e = region.e
    if region.has_checked(operand, size):
        return True
    if region.is_inner or e.is_in_nest or not isinstance(indices, Buffer):
        return False
    with region.loops(indices.shape, [indices], threads=False) as index:
        in_range(e, indices.at(e, index), indices.dtype, size)
    region.note_checked(operand, size)
    return True


def in_range(
    e: Emitter, index: Register, dtype: dtypes.DType, size: int, is_checked: bool = False
) -> Register:
    """Emit a bounds check of a computed index; return the index, or 0 if it is out of bounds."""
    position = converted(e, index, dtype, dtypes.int64)
    if is_checked:
        return position
    fits = e.b.icmp_unsigned("<", position, e.word(size))
    e.demand(fits)
    return e.b.select(fits, position, e.word(0))


@lowers("gather_nd", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, indices: LazyValue) -> LazyValue:
    if not node.size:
        raise RefusedError("the operand is empty")
    rows, wanted = region.readable(node), region.readable(indices)
    rank, depth = len(indices.shape) - 1, coordinates_in(indices)
    batch = operation.attrs["batch_dims"]
    _demand_checked(region.e, node.shape[batch + depth :], indices.shape[:-1])

    def find(e: Emitter, index: Index) -> Element:
        indices = index.coordinates(e)
        found = coordinates(e, wanted, indices[:rank], depth, rows.shape[batch:])
        return rows.at(e, Index.of(rows.shape, [*indices[:batch], *found, *indices[rank:]]))

    shape = (*indices.shape[:-1], *node.shape[batch + depth :])
    return IndexMap(node.dtype, shape, [rows, wanted], find, cost=2, once=False, fails=True)


def coordinates_in(indices: LazyValue) -> int:
    """Return the number of coordinates of an index: the last size of indices, which cannot be dynamic."""
    depth = indices.shape[-1]
    if isinstance(depth, Size):
        raise RefusedError("the number of coordinates of an index is known only while the code runs")
    return depth


def coordinates(
    e: Emitter,
    indices: LazyValue,
    batch_index: Sequence[Register],
    depth: int,
    shape: Shape,
    are_checked: bool = False,
) -> list[Register]:
    """Return the index that a row of `indices` contains, with bounds checks unless they are known to be in bounds."""
    return [
        in_range(
            e,
            indices.at(e, Index.of(indices.shape, [*batch_index, e.word(axis)])),
            indices.dtype,
            shape[axis],
            are_checked,
        )
        for axis in range(depth)
    ]
