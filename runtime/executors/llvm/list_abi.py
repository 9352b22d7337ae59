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
from ...ir.value_types import ListType, TensorType, VariableType
from ...kernels.persistent_array import Growing, PersistentArray
from .arena import HEAD
from .codegen.llvm_types import CONVERTED
from .codegen.rule_registry import RefusedError

COUNT = TensorType(dtypes.int64, ())
"""The type of the lengths of inner lists."""


def parts_of(spec: ListType) -> list[TensorType]:
    """Return the element type of each part of a list's memory."""
    if not isinstance(spec.element, ListType):
        return [spec.element]
    if isinstance(spec.element.element, ListType):
        raise RefusedError("lists of lists of lists are not compiled")
    return [spec.element.element, COUNT]


def description(spec: ListType) -> TensorType:
    """Return the type of a list's descriptor at the boundary of a graph."""
    return TensorType(dtypes.int64, (2 * len(parts_of(spec)),))


def sizes_described(spec: TensorType) -> TensorType:
    """Return the type of the descriptor of a tensor of dynamic size: an address, and its shape."""
    return TensorType(dtypes.int64, (1 + len(spec.shape or ()),))


def content(spec: Any) -> TensorType:
    """Return the tensor type of an input, of a variable's content, or of the descriptor of a list or dynamic tensor."""
    if isinstance(spec, ListType):
        return description(spec)
    found = spec.content if isinstance(spec, VariableType) else spec
    assert isinstance(found, TensorType), found
    return sizes_described(found) if has_dynamic_size(found) else found


def has_dynamic_size(spec: Any) -> bool:
    """Return whether a result is a tensor of dynamic size."""
    return isinstance(spec, TensorType) and spec.shape is not None and None in spec.shape


def with_descriptors(
    code: Callable[[Sequence[Any]], Any], varying: Sequence[VaryingType | None]
) -> Callable[[Sequence[Any]], Any]:
    """Return a function of arrays that calls `code` with descriptors of those that have dynamic sizes."""
    described = [(i, spec.dtype.numpy_dtype) for i, spec in enumerate(varying) if spec is not None]

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


_free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyMem_RawFree", ctypes.pythonapi))


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

    def __del__(self, free: Any = _free) -> None:
        free(self._address)  # a default value, since the module's names are gone when Python ends


def received(description: Any, spec: ListType | TensorType) -> Any:
    """Return the list or tensor that a result's descriptor refers to."""
    if isinstance(spec, TensorType):
        address, *shape = description.tolist()
        return _owned(address, tuple(shape), spec.dtype.numpy_dtype)
    numbers = iter(description.tolist())
    arrays = []
    for element in parts_of(spec):
        address, length = next(numbers), next(numbers)
        shape = (length, *[size or 0 for size in element.shape or ()])
        arrays.append(_owned(address, shape, element.dtype.numpy_dtype))
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
    rows = np.zeros((len(items), *shape), element.dtype.numpy_dtype)
    for position, item in enumerate(items):
        if item is not None:
            rows[position] = item
    return rows


def _rows_of_lists(value: PersistentArray, spec: ListType) -> tuple[Any, Any]:
    if isinstance(value, ListRows):
        return np.ascontiguousarray(value.rows), value.counts
    inner = [item or PersistentArray([]) for item in value.items()]
    counts = np.array([len(item.items()) for item in inner], COUNT.dtype.numpy_dtype)
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
    if any(element.dtype not in CONVERTED for element in elements):
        raise CannotCompileError([f"{spec} is not compiled"])
