"""The ABI of lists: an address and a length in native code, a `PersistentArray` outside of it.

    h: array float32[2, 3]          int64[2]: the address of the elements, and their number
    hs: array array float32[2]      int64[4]: the elements of all lists, and the length of each list

Input lists are read only. A resulting list owns the memory that it was computed in. The memory is freed with
the last array of its elements.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...functionalize.errors import CannotCompileError
from ...functionalize.list_lengths import GrowingSpec, SizedSpec
from ...functionalize.varying_shapes import VaryingType
from ...ir.value_types import ListType, TensorType
from ...ops.lists.tensor_array import Growing, PersistentArray
from .arena import HEAD
from .codegen.dynamic_sizes import Size
from .codegen.function_builder import Emitter
from .codegen.lazy_values import Buffer, LazyValue
from .codegen.llvm_types import COMPILED, Register, integer, pointer
from .codegen.rule_registry import RefusedError
from .lowering.list_memory import COUNT, List, Lists, View, made, parts_of


def description(spec: ListType) -> TensorType:
    """Return the type of a list's descriptor at the boundary of a graph."""
    return TensorType(dtypes.int64, (2 * len(parts_of(spec)),))


# In native code


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
    return [
        GrowingSpec(spec.element) if found.cells.may_grow else spec
        for found, spec in zip(lists, specs, strict=True)
    ]


def sizes_described(spec: TensorType) -> TensorType:
    """Return the type of the descriptor of a tensor of dynamic size: an address, and its shape."""
    return TensorType(dtypes.int64, (1 + len(spec.shape or ()),))


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


# In Python


def with_descriptors(
    code: Callable[[Sequence[Any]], Any], varying: Sequence[VaryingType | None]
) -> Callable[[Sequence[Any]], Any]:
    """Return a function of arrays that calls `code` with descriptors of those that have dynamic sizes."""
    described = [(i, spec.dtype.numpy) for i, spec in enumerate(varying) if spec is not None]

    def run(given: Sequence[Any]) -> Any:
        arrays = list(given)
        needed = []  # until the code has run
        for i, dtype in described:
            array = np.require(arrays[i], dtype, ["C", "A"])
            needed.append(array)
            arrays[i] = np.array((array.ctypes.data, *array.shape), np.int64)
        return code(arrays)

    return run


def _owned(address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of this dtype that owns its memory."""
    return np.asarray(_Memory(address, shape, dtype)).view(dtype)


class ListRows(PersistentArray):
    """A list of the rows of an array, or of lists of rows, if `counts` has the number of rows of each list."""

    __slots__ = ("counts", "rows")

    def __init__(self, rows: Any, counts: Any = None) -> None:
        super().__init__([])
        self._items = None
        self.rows = rows
        self.counts = counts

    def _split_off(self) -> None:
        if self._newer is not None:
            super()._split_off()
        elif self.counts is None:
            self._items = list(self.rows)
        else:
            ends = np.cumsum(self.counts)
            self._items = [
                ListRows(self.rows[end - count : end]) for end, count in zip(ends, self.counts, strict=True)
            ]


class _Memory:
    """Memory from native code in NumPy's array interface.

    Its type is bytes, since not all dtypes have a type string.
    """

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._address = address
        self.__array_interface__ = {
            "version": 3,
            "data": (address + HEAD, False),
            "shape": shape,
            "typestr": f"|V{dtype.itemsize}",
        }

    def __del__(self) -> None:
        ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(self._address))


def received(description: Any, spec: ListType | TensorType) -> Any:
    """Return the list or tensor that a result's descriptor refers to."""
    if isinstance(spec, TensorType):
        address, *shape = description.tolist()
        return _owned(address, tuple(shape), spec.dtype.numpy)
    numbers = iter(description.tolist())
    arrays = []
    for element in parts_of(spec):
        address, length = next(numbers), next(numbers)
        shape = (length, *[size or 0 for size in element.shape or ()])
        arrays.append(_owned(address, shape, element.dtype.numpy))
    return Growing(list(arrays[0])) if isinstance(spec, GrowingSpec) else ListRows(*arrays)


def described(
    value: PersistentArray, spec: ListType, by_length: bool = False
) -> tuple[Any, ListType, list[Any]]:
    """Return the descriptor of an input list, its type with the elements' shape, and the arrays that it refers to."""
    if isinstance(spec.element, ListType):
        rows, counts = _rows_of_lists(value, spec)
        arrays = [rows, counts]
        found = ListType(ListType(TensorType(spec.element.element.dtype, rows.shape[1:])))
    else:
        rows = _rows(value, spec.element)
        arrays = [rows]
        element = TensorType(spec.element.dtype, rows.shape[1:])
        found = SizedSpec(element, len(rows)) if by_length else ListType(element)
        if type(value) is Growing:
            found = GrowingSpec(element)
    numbers = [number for array in arrays for number in (array.ctypes.data, len(array))]
    return np.array(numbers, np.int64), found, arrays


def _rows(value: PersistentArray, element: TensorType) -> Any:
    if isinstance(value, ListRows):
        return np.ascontiguousarray(value.rows)
    return _stacked(value.items(), element)


def _stacked(items: Sequence[Any], element: TensorType) -> Any:
    known = [np.shape(item) for item in items if item is not None]
    shape = known[0] if known else element.shape
    if shape is None or None in shape or any(other != shape for other in known):
        raise CannotCompileError(["the elements of a list argument do not have one known shape"])
    rows = np.zeros((len(items), *shape), element.dtype.numpy)
    for position, item in enumerate(items):
        if item is not None:
            rows[position] = item
    return rows


def _rows_of_lists(value: PersistentArray, spec: ListType) -> tuple[Any, Any]:
    if isinstance(value, ListRows):
        return np.ascontiguousarray(value.rows), value.counts
    inner = [item or PersistentArray([]) for item in value.items()]
    counts = np.array([len(item.items()) for item in inner], COUNT.dtype.numpy)
    return _stacked(list(_all_items(inner)), spec.element.element), counts


def _all_items(lists: Sequence[PersistentArray]) -> Iterator[Any]:
    for one in lists:
        yield from one.items()


def demand_compiled(spec: ListType) -> None:
    """Refuse lists that native code does not support."""
    try:
        elements = parts_of(spec)
    except RefusedError as refusal:
        raise CannotCompileError([str(refusal)]) from None
    if any(element.dtype not in COMPILED for element in elements):
        raise CannotCompileError([f"{spec} is not compiled"])
