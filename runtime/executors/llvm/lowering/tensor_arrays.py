"""Lower TensorArrays and lists: elements in consecutive memory, changed in place.

    b = array_write a, i, x        0 ≤ i < length, or fail;  memory[i] ← x
    s.1 = list_append s, x         grow the memory if it is full;  memory[length] ← x;  length ← length + 1
    y = array_stack b              the memory, as a tensor

In the graph each write makes a new version. If the old version has no later reader, which is usual, the new version
reuses its memory; otherwise it gets a copy. `list_lengths.py` has moved readers first. Elements that were
never written are zero.
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....core.shapes import is_static
from ....functionalize.list_lengths import SizedSpec
from ....ir.graph import Operation
from ....ir.value_types import TensorType
from ..codegen.dynamic_sizes import Size
from ..codegen.lazy_values import Buffer, Index, LazyValue, Scalar
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from ..codegen.scalar_builder import is_known
from .fill import asked_shape, shape_of, uniform
from .list_changes import change_later, is_overwritten
from .list_memory import Cells, List, Lists, One, UnallocatedArray, View, copied, made
from .reshape import checked


def changed(region: Region, operation: Operation, node: LazyValue, grows: bool = False) -> Any:
    """Return the list for the next version of the first operand: the same memory if possible, or a copy."""
    e = region.e
    found = made(e, node, operation.outputs[0].spec.element)  # type: ignore[union-attr]
    size, is_shared = None if grows else found.cells.size, found.is_shared
    is_free = found is not node or (not is_shared and region.is_last_read(operation, node))
    if is_free and size == found.cells.size:
        return found
    return found.of([copied(e, cells, size) for cells in found.parts])


def _changed(region: Region, operation: Operation, node: LazyValue, grows: bool = False) -> Cells:
    cells: Cells = changed(region, operation, node, grows).cells
    return cells


def shortened(region: Region, operation: Operation, node: LazyValue) -> Any:
    """Return the list for a version that only has fewer elements. Unlike in `changed`, a view stays a view."""
    if isinstance(node, (List, Lists)) and isinstance(node.cells, View):
        return node.of([cells.again(region.e) for cells in node.parts])  # type: ignore[attr-defined]
    return changed(region, operation, node, grows=True)


def _put(region: Region, operation: Operation, cells: Cells, index: Register, value: LazyValue) -> None:
    """Replace an element. A value that is not computed yet is computed there, if the list stays as it is."""
    e = region.e
    cells.demand_shape(e, value.shape)
    if not cells.shape:
        number = region.scalar(value)
        e.store(cells.dtype, cells.at(e, index), e.word(0), number.value)
        return
    where = Buffer(cells.dtype, cells.shape, cells.at(e, index))
    if value.is_lazy and region.is_inner and not change_later(region, operation, operation.inputs[0]):
        where.in_list = True
        region.items.append((value, where))
    else:
        region.stored(own_value(region, operation, value), where)


def _get(region: Region, operation: Operation, cells: Cells, index: Register) -> LazyValue:
    """Return an element: a view if the list is not changed later, else a copy."""
    e = region.e
    where = Buffer(cells.dtype, cells.shape, cells.at(e, index))
    if not cells.shape:
        return Scalar(cells.dtype, where.at(e, Index((), ())))
    return _read(region, operation, where)


def _read(region: Region, operation: Operation, where: Buffer) -> Buffer:
    """Return `where` as a view into a list, or as a copy if the list may change later in this region."""
    if change_later(region, operation, operation.inputs[0]):
        return region.stored(where, Buffer.new(region.e, where.dtype, where.shape))
    where.in_list = True
    return where


def place_in(region: Region, cells: Cells, node: LazyValue, counts_back: bool = False) -> Register:
    """Return an index with a bounds check."""
    e = region.e
    index, length = region.integer(node), cells.length(e)
    if counts_back:
        index = e.choose(e.b.icmp_signed("<", index, e.word(0)), e.b.add(index, length), index)
    e.demand(e.b.icmp_unsigned("<", index, length))
    return index


def cells_of(node: LazyValue) -> Cells:
    if isinstance(node, List):
        return node.cells
    raise RefusedError("a TensorArray is read before any element is written")


@lowers("array_new")
def _(region: Region, operation: Operation, size: LazyValue) -> LazyValue:
    spec = operation.outputs[0].spec
    length = region.integer(size)
    region.e.demand(region.e.b.icmp_signed(">=", length, region.e.word(0)))
    known = spec.size if isinstance(spec, SizedSpec) else None
    is_written = is_known(length) and is_overwritten(region.graph, operation.outputs[0], length.constant)
    return UnallocatedArray(spec.element.dtype, length, known, operation.attrs["dynamic"], is_written)  # type: ignore[union-attr]


@lowers("list_new")
def _(region: Region, operation: Operation) -> LazyValue:
    element = operation.outputs[0].spec.element  # type: ignore[union-attr]
    return UnallocatedArray(element.dtype, region.e.word(0), None, False)


@lowers("array_write")
def _(
    region: Region, operation: Operation, array: LazyValue, index: LazyValue, value: LazyValue
) -> LazyValue:
    e = region.e
    cells = _changed(region, operation, array)
    if cells.may_grow:
        position = region.integer(index)
        e.demand(e.b.icmp_signed(">=", position, e.word(0)))
        cells.extend_to(e, e.plus(position, e.word(1)))
    else:
        position = place_in(region, cells, index)
    _put(region, operation, cells, position, value)
    return List(cells)


@lowers("array_read", "list_get")
def _(region: Region, operation: Operation, array: LazyValue, index: LazyValue) -> LazyValue:
    element = operation.outputs[0].spec
    if isinstance(array, UnallocatedArray) and isinstance(element, TensorType) and is_static(element.shape):
        array = made(region.e, array, element)  # of zeros
    cells = cells_of(array)
    return _get(region, operation, cells, place_in(region, cells, index, operation.type == "list_get"))


@lowers("array_size", "list_size")
def _(region: Region, operation: Operation, array: LazyValue) -> LazyValue:
    if isinstance(array, UnallocatedArray):
        length = array.length
    else:
        length = (array.counts if isinstance(array, Lists) else cells_of(array)).length(region.e)
    return Scalar(dtypes.int32, region.e.b.trunc(length, integer(32)))


@lowers("array_stack", sized=True)
def _(region: Region, operation: Operation, array: LazyValue) -> LazyValue:
    if isinstance(array, UnallocatedArray):
        (value,) = operation.outputs
        if None in (value.shape or ())[1:]:
            raise RefusedError("a TensorArray whose elements have no known shape is stacked")
        return uniform(array.dtype, (_length(array.known, array.length), *value.shape[1:]), 0)  # type: ignore[index]
    cells = cells_of(array)
    length = _length(cells.size, cells.length(region.e))
    if (size := operation.attrs["size"]) is not None:
        length = checked(region.e, size, length)
    where = Buffer(cells.dtype, (length, *cells.shape), cells.address(region.e))
    return _read(region, operation, where)


def _length(known: int | None, length: Register) -> int:
    return Size.of(length) if known is None else known


@lowers("array_of_rows", sized=True)
def _(region: Region, operation: Operation, rows: LazyValue) -> LazyValue:
    return _of_rows(region, operation, rows, rows.shape[0])


def _of_rows(region: Region, operation: Operation, rows: LazyValue, size: int) -> List:
    e = region.e
    spec = operation.outputs[0].spec
    is_sized = isinstance(size, Size)
    cells = Cells(e, spec.element, None if is_sized else size, False)  # type: ignore[union-attr]
    cells.demand_shape(e, rows.shape[1:])
    if is_sized:
        cells.reserve(e, e.word(size))
        cells.resize(e, e.word(size))
    region.stored(own_value(region, operation, rows), Buffer(cells.dtype, rows.shape, cells.address(e)))
    return List(cells)


def own_value(region: Region, operation: Operation, value: LazyValue) -> LazyValue:
    """Return a value to be stored in a list. A value with other readers is evaluated to separate memory first."""
    if value.is_lazy and not region.is_given_up(operation, value):
        region.stored(value)
    return value


@lowers("array_item")
def _(
    region: Region, operation: Operation, array: LazyValue, index: LazyValue, shape: LazyValue
) -> LazyValue:
    """Read an element of a list of gradients; a missing gradient is zero."""
    e = region.e
    if isinstance(array, UnallocatedArray):
        return uniform(array.dtype, shape_of(operation), 0)
    cells = made(e, array, operation.outputs[0].spec).cells
    cells.demand_shape(e, shape_of(operation))
    position = region.integer(index)
    if cells.size is None and not isinstance(cells, View):
        e.demand(e.b.icmp_signed(">=", position, e.word(0)))
        cells.extend_to(e, e.plus(position, e.word(1)))
    else:
        e.demand(e.b.icmp_unsigned("<", position, cells.length(e)))
    return _get(region, operation, cells, position)


@lowers("array_without")
def _(region: Region, operation: Operation, array: LazyValue, index: LazyValue) -> LazyValue:
    """Clear an element of a list of gradients; an element beyond the end has no gradient."""
    e = region.e
    if index.size != 1:
        raise RefusedError("several elements at once are not compiled")
    cells = _changed(region, operation, array)
    position = region.integer(index)
    with e.where(e.b.icmp_unsigned("<", position, cells.length(e))):
        e.clear_some(cells.at(e, position), e.word(cells.bytes))
    return List(cells)


@lowers("list_append")
def _(region: Region, operation: Operation, array: LazyValue, value: LazyValue) -> LazyValue:
    e = region.e
    cells = _changed(region, operation, array, grows=True)
    length = cells.length(e)
    end = e.plus(length, e.word(1))
    cells.reserve(e, end)
    _put(region, operation, cells, length, value)
    cells.resize(e, end)
    return List(cells)


@lowers("list_set")
def _(
    region: Region, operation: Operation, array: LazyValue, index: LazyValue, value: LazyValue
) -> LazyValue:
    cells = _changed(region, operation, array)
    _put(region, operation, cells, place_in(region, cells, index, counts_back=True), value)
    return List(cells)


@lowers("list_pop")
def _(region: Region, operation: Operation, array: LazyValue, index: LazyValue) -> list[LazyValue]:
    e = region.e
    cells = shortened(region, operation, array).cells
    length = cells.length(e)
    e.demand(e.b.icmp_signed(">", length, e.word(0)))
    last = e.minus(length, e.word(1))
    position = place_in(region, cells, index, counts_back=True)
    e.demand(e.b.icmp_signed("==", position, last))
    element = _get(region, operation, cells, last)
    cells.resize(e, last)
    return [List(cells), element]


@lowers("array_unstack", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, rows: LazyValue) -> LazyValue:
    e = region.e
    spec = operation.outputs[0].spec
    count = rows.shape[0]
    if isinstance(array, UnallocatedArray) and isinstance(spec, SizedSpec) and count == spec.size:
        return _of_rows(region, operation, rows, count)
    cells = _changed(region, operation, array)
    cells.demand_shape(e, rows.shape[1:])
    if cells.size is None and cells.may_grow:
        cells.extend_to(e, e.word(count))
    elif cells.size is None or isinstance(count, Size):
        e.demand(e.b.icmp_signed("<=", e.word(count), cells.length(e)))
    elif count > cells.size:
        raise RefusedError(f"{count} rows are unstacked into {cells.size} elements")
    region.stored(own_value(region, operation, rows), Buffer(cells.dtype, rows.shape, cells.address(e)))
    return List(cells)


@lowers("array_rows", sized=True)
def _(region: Region, operation: Operation, array: LazyValue, shape: LazyValue) -> LazyValue:
    e = region.e
    wanted = asked_shape(region, operation, shape)
    if isinstance(array, UnallocatedArray):
        return uniform(operation.outputs[0].dtype, wanted, 0)
    if isinstance(array, One):
        array = made(e, array, TensorType(array.dtype, array.value.shape))
    cells = cells_of(array)
    cells.demand_shape(e, wanted[1:])
    length, size = cells.length(e), e.word(wanted[0])
    result = region.stored(uniform(cells.dtype, wanted, 0), Buffer.new(e, cells.dtype, wanted))
    count = e.choose(e.b.icmp_signed("<", length, size), length, size)
    e.copy_some(result.address, cells.address(e), e.b.mul(count, e.word(cells.bytes)))
    return result
