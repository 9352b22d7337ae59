"""Lists and tensors of dynamic size at the boundary of a graph: descriptors (list_abi.py) become values and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import dtypes
from ....functionalize.list_lengths import GrowingSpec, SizedSpec
from ....functionalize.varying_shapes import VaryingType
from ....ir.value_types import ListType, TensorType
from ..arena import HEAD
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, LazyValue
from ..codegen.llvm_types import Register, integer, pointer
from ..list_abi import parts_of
from .list_memory import List, Lists, View, made


def import_list(e: Emitter, spec: ListType, address: Register) -> LazyValue:
    """Import the list that an argument's descriptor refers to."""
    parts = []
    size = spec.size if isinstance(spec, SizedSpec) else None
    for number, element in enumerate(parts_of(spec)):
        data, length = (e.load(dtypes.int64, address, e.word(2 * number + i)) for i in range(2))
        cells = View(e, element, e.b.inttoptr(data, pointer()), length, size)
        cells.may_grow = isinstance(spec, GrowingSpec)
        parts.append(cells)
    return List(*parts) if len(parts) == 1 else Lists(*parts)


def import_tensor(e: Emitter, spec: VaryingType, address: Register, sizes: dict[int, Size]) -> Buffer:
    """Import the tensor that an argument's descriptor refers to. `sizes` has the dynamic sizes of earlier inputs."""
    data = e.b.inttoptr(e.load(dtypes.int64, address, e.word(0)), pointer())
    shape = []
    for axis, size in enumerate(spec.sizes):
        if size < 0 and size not in sizes:
            sizes[size] = Size.of(e.load(dtypes.int64, address, e.word(1 + axis)))
        shape.append(sizes.get(size, size))
    return Buffer(spec.dtype, tuple(shape), data)


def export_list(
    e: Emitter, nodes: Sequence[LazyValue], specs: Sequence[Any], targets: Sequence[Buffer]
) -> list[ListType]:
    """Store the descriptors of resulting lists. After this point a run may fail only for lack of memory.

    Return the types of the results.
    """
    lists = [made(e, node, spec.element) for node, spec in zip(nodes, specs, strict=True)]
    all_parts = [cells for found in lists for cells in found.parts]
    for found, target in zip(lists, targets, strict=True):
        for number, cells in enumerate(found.parts):
            length = cells.length(e)
            is_alone = sum(cells is other for other in all_parts) == 1
            if is_alone and cells.size is None and not isinstance(cells, View):
                address = cells.release(e)
            else:
                address = e.new_memory(e.plus(e.times(length, cells.bytes), e.word(HEAD)))
                elements = e.b.gep(address, [e.word(HEAD)], inbounds=True, source_etype=integer(8))
                e.copy_some(elements, cells.address(e), e.times(length, cells.bytes))
            for position, value in enumerate((e.b.ptrtoint(address, integer(64)), length)):
                e.store(dtypes.int64, target.address, e.word(2 * number + position), value)
    return [_type_of(found) for found in lists]


def _type_of(found: List | Lists) -> ListType:
    """Return the type of a list with the shape of its elements, which the graph may not know."""
    element = TensorType(found.cells.dtype, found.cells.shape)
    if isinstance(found, Lists):
        return ListType(ListType(element))
    return GrowingSpec(element) if found.cells.may_grow else ListType(element)


def tensors_handed_over(e: Emitter, nodes: Sequence[LazyValue], targets: Sequence[Buffer]) -> None:
    """Store the descriptors of tensors of dynamic size. After this point a run may fail only for lack of memory."""
    slots = [node.slot for node in nodes if isinstance(node, Buffer) and node.is_own]
    for node, target in zip(nodes, targets, strict=True):
        if isinstance(node, Buffer) and node.is_own and node.slot and slots.count(node.slot) == 1:
            address = e.release(node.slot)
        else:
            size = e.word(node.size * node.dtype.size)
            address = e.new_memory(e.plus(size, e.word(HEAD)))
            where = e.b.gep(address, [e.word(HEAD)], inbounds=True, source_etype=integer(8))
            e.copy_some(where, node.address, size)  # type: ignore[attr-defined]
        numbers = [e.b.ptrtoint(address, integer(64)), *map(e.word, node.shape)]
        for position, number in enumerate(numbers):
            e.store(dtypes.int64, target.address, e.word(position), number)
