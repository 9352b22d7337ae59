"""TensorArrays and lists: elements behind each other in memory, changed in place.

    b = array_write a, i, x        0 ≤ i < length, or fail;  memory[i] ← x
    s.1 = list_append s, x         memory grows when it is full;  memory[length] ← x;  length ← length + 1
    y = array_stack b              the memory, as a tensor

In the graph each write makes a new version. Where nobody reads the old one any more, which is usual, the new one takes
its place; else it gets a copy. `lengths.py` has seen to it that readers come first. What was never written is zero.
"""

from __future__ import annotations

from .. import dtypes
from ..ir.graph import Operation, Value
from ..ir.specs import ArraySpec
from .cells import Cells, List, Unmade, copied, made
from .creating import shape_of, uniform
from .lengths import MAKING, SizedSpec
from .nodes import Buffer, Index, Node, Scalar
from .regions import Region
from .registry import RefusedError, lowers
from .types import Register, integer

_SAME_MEMORY = frozenset({"reshape", "expand_dims", "squeeze", "ensure_shape"})


def _changed(region: Region, operation: Operation, node: Node, grows: bool = False) -> Cells:
    """The cells that hold the next version of an operation's first operand: the same, or a copy."""
    spec = operation.outputs[0].spec
    found = made(region.e, node, spec.element)  # type: ignore[union-attr]
    size = None if grows else found.cells.size
    is_free = found is not node or (not found.is_shared and region.is_last_read(operation, node))
    return found.cells if is_free and size == found.cells.size else copied(region.e, found.cells, size)


def _put(region: Region, operation: Operation, cells: Cells, index: Register, value: Node) -> None:
    """Replace an element."""
    e = region.e
    if not cells.shape:
        number = region.scalar(value)
        e.store(cells.dtype, cells.at(e, index), e.word(0), number.value)
        return
    region.stored(_own(region, operation, value), Buffer(cells.dtype, cells.shape, cells.at(e, index)))


def _get(region: Region, operation: Operation, cells: Cells, index: Register, number: int = 0) -> Node:
    """An element: where it stands, as long as nobody changes the list; else a copy."""
    e = region.e
    value = operation.outputs[number]
    where = Buffer(cells.dtype, cells.shape, cells.at(e, index))
    if not cells.shape:
        return Scalar(cells.dtype, where.at(e, Index((), ())))
    if _changes_later(region, operation) or _escapes(region, value):
        copy = Buffer.new(e, cells.dtype, cells.shape)
        e.copy(copy.address, where.address, where.bytes)
        return copy
    return where


def _changes_later(region: Region, operation: Operation) -> bool:
    """Whether a list may change behind this operation, in its region, other than by getting shorter."""
    operations = region.graph.operations
    later = operations[operations.index(operation) + 1 :]
    kind = operation.inputs[0].spec
    assert isinstance(kind, ArraySpec)
    return any(
        other.type in MAKING
        and other.type != "list_pop"
        and any(
            isinstance(operand.spec, ArraySpec) and operand.spec.element == kind.element
            for operand in other.inputs
        )
        for other in later
    )


def _escapes(region: Region, value: Value) -> bool:
    """Whether the memory of a value may become that of a result of its region."""
    return value in region.graph.outputs or any(
        value in operation.inputs and operation.type in _SAME_MEMORY for operation in region.graph.operations
    )


def _place(region: Region, cells: Cells, node: Node, counts_back: bool = False) -> Register:
    """An index within a list, or the run fails."""
    e = region.e
    index, length = region.integer(node), cells.length(e)
    if counts_back:
        index = e.choose(e.b.icmp_signed("<", index, e.word(0)), e.b.add(index, length), index)
    e.demand(e.b.icmp_unsigned("<", index, length))
    return index


def _cells(region: Region, operation: Operation, node: Node) -> Cells:
    if isinstance(node, List):
        return node.cells
    raise RefusedError("a TensorArray is read of which nothing was written")


@lowers("array_new")
def _(region: Region, operation: Operation, size: Node) -> Node:
    spec = operation.outputs[0].spec
    length = region.integer(size)
    region.e.demand(region.e.b.icmp_signed(">=", length, region.e.word(0)))
    known = spec.size if isinstance(spec, SizedSpec) else None
    return Unmade(spec.element.dtype, length, known, operation.attrs["dynamic"])  # type: ignore[union-attr]


@lowers("list_new")
def _(region: Region, operation: Operation) -> Node:
    element = operation.outputs[0].spec.element  # type: ignore[union-attr]
    if isinstance(element, ArraySpec):
        raise RefusedError("lists of lists are not compiled")
    return Unmade(element.dtype, region.e.word(0), None, False)


@lowers("array_write")
def _(region: Region, operation: Operation, array: Node, index: Node, value: Node) -> Node:
    e = region.e
    cells = _changed(region, operation, array)
    if cells.may_grow:
        place = region.integer(index)
        e.demand(e.b.icmp_signed(">=", place, e.word(0)))
        cells.extend_to(e, e.plus(place, e.word(1)))
    else:
        place = _place(region, cells, index)
    _put(region, operation, cells, place, value)
    return List(cells)


@lowers("array_read", "list_get")
def _(region: Region, operation: Operation, array: Node, index: Node) -> Node:
    cells = _cells(region, operation, array)
    return _get(region, operation, cells, _place(region, cells, index, operation.type == "list_get"))


@lowers("array_size", "list_size")
def _(region: Region, operation: Operation, array: Node) -> Node:
    length = array.length if isinstance(array, Unmade) else _cells(region, operation, array).length(region.e)
    return Scalar(dtypes.int32, region.e.b.trunc(length, integer(32)))


@lowers("array_stack")
def _(region: Region, operation: Operation, array: Node) -> Node:
    cells = _cells(region, operation, array)
    shape = shape_of(operation)
    where = Buffer(cells.dtype, shape, cells.address(region.e))
    if _changes_later(region, operation) or _escapes(region, operation.outputs[0]):
        return region.stored(where, Buffer.new(region.e, cells.dtype, shape))
    return where


@lowers("array_of_rows")
def _(region: Region, operation: Operation, rows: Node) -> Node:
    return _of_rows(region, operation, rows, rows.shape[0])


def _of_rows(region: Region, operation: Operation, rows: Node, size: int) -> List:
    e = region.e
    spec = operation.outputs[0].spec
    cells = Cells(e, spec.element, size, False)  # type: ignore[union-attr]
    region.stored(_own(region, operation, rows), Buffer(cells.dtype, rows.shape, cells.address(e)))
    return List(cells)


def _own(region: Region, operation: Operation, value: Node) -> Node:
    """A value that is put into a list: computed elsewhere if others read it, who must not see how the list changes."""
    if value.is_lazy and not region.is_last_read(operation, value):
        region.stored(value)
    return value


@lowers("array_item")
def _(region: Region, operation: Operation, array: Node, index: Node, shape: Node) -> Node:
    e = region.e
    cells = _cells(region, operation, array)
    place = region.integer(index)
    e.demand(e.b.icmp_unsigned("<", place, cells.length(e)))
    return _get(region, operation, cells, place)


@lowers("array_without")
def _(region: Region, operation: Operation, array: Node, index: Node) -> Node:
    e = region.e
    if index.size != 1:
        raise RefusedError("several elements at once are not compiled")
    cells = _changed(region, operation, array)
    place = region.integer(index)
    e.demand(e.b.icmp_unsigned("<", place, cells.length(e)))
    e.clear_some(cells.at(e, place), e.word(cells.bytes))
    return List(cells)


@lowers("list_append")
def _(region: Region, operation: Operation, array: Node, value: Node) -> Node:
    e = region.e
    cells = _changed(region, operation, array, grows=True)
    length = cells.length(e)
    end = e.plus(length, e.word(1))
    cells.reserve(e, end)
    _put(region, operation, cells, length, value)
    cells.resize(e, end)
    return List(cells)


@lowers("list_set")
def _(region: Region, operation: Operation, array: Node, index: Node, value: Node) -> Node:
    cells = _changed(region, operation, array)
    _put(region, operation, cells, _place(region, cells, index, counts_back=True), value)
    return List(cells)


@lowers("list_pop")
def _(region: Region, operation: Operation, array: Node, index: Node) -> list[Node]:
    e = region.e
    cells = _changed(region, operation, array, grows=True)
    length = cells.length(e)
    e.demand(e.b.icmp_signed(">", length, e.word(0)))
    last = e.minus(length, e.word(1))
    place = _place(region, cells, index, counts_back=True)
    e.demand(e.b.icmp_signed("==", place, last))
    element = _get(region, operation, cells, last, 1)
    cells.resize(e, last)
    return [List(cells), element]


@lowers("array_unstack")
def _(region: Region, operation: Operation, array: Node, rows: Node) -> Node:
    e = region.e
    spec = operation.outputs[0].spec
    count = rows.shape[0]
    if not isinstance(spec, SizedSpec) and not (isinstance(array, Unmade) and array.may_grow):
        raise RefusedError("the number of elements of the TensorArray is not known")
    if isinstance(array, Unmade) and isinstance(spec, SizedSpec) and count == spec.size:
        return _of_rows(region, operation, rows, count)
    cells = _changed(region, operation, array)
    if cells.size is None:
        cells.extend_to(e, e.word(count))
    elif count > cells.size:
        raise RefusedError(f"{count} rows are unstacked into {cells.size} elements")
    region.stored(_own(region, operation, rows), Buffer(cells.dtype, rows.shape, cells.address(e)))
    return List(cells)


@lowers("array_rows")
def _(region: Region, operation: Operation, array: Node, shape: Node) -> Node:
    e = region.e
    wanted = shape_of(operation)
    if isinstance(array, Unmade):
        return uniform(operation.outputs[0].dtype, wanted, 0)
    cells = _cells(region, operation, array)
    length, size = cells.length(e), e.word(wanted[0])
    result = region.stored(uniform(cells.dtype, wanted, 0), Buffer.new(e, cells.dtype, wanted))
    count = e.choose(e.b.icmp_signed("<", length, size), length, size)
    e.copy_some(result.address, cells.address(e), e.b.mul(count, e.word(cells.bytes)))
    return result


class One(Node):
    """A gradient of which only one element is there."""

    def __init__(self, index: Register, value: Node) -> None:
        super().__init__(value.dtype, ())
        self.index = index
        self.value = value


@lowers("array_one")
def _(region: Region, operation: Operation, index: Node, value: Node) -> Node:
    place = region.integer(index)
    region.e.demand(region.e.b.icmp_signed(">=", place, region.e.word(0)))
    return One(place, region.scalar(value) if not value.shape else region.stored(value))


@lowers("array_sum")
def _(region: Region, operation: Operation, one: Node, other: Node) -> Node:
    if isinstance(one, One):
        one, other = other, one
    if isinstance(one, One) or not isinstance(other, One):
        raise RefusedError("sums of whole lists are not compiled")
    e = region.e
    cells = _changed(region, operation, one, grows=True)
    cells.extend_to(e, e.plus(other.index, e.word(1)))
    place = cells.at(e, other.index)
    with region.loops(cells.shape, []) as index:
        total = e.b.fadd(e.load(cells.dtype, place, index.flat(e)), other.value.at(e, index))
        e.store(cells.dtype, place, index.flat(e), total)
    return List(cells)
