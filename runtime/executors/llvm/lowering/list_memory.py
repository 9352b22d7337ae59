"""Memory of TensorArrays and lists: consecutive elements of a static number, or in memory that grows.

static size     address ──► element 0, element 1, …
dynamic size    address ──► capacity, element 0, element 1, …      and a separate length
view            address ──► element 0, element 1, …                and a separate length
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .... import dtypes
from ....ir.value_types import ListType, TensorType
from ..arena import HEAD
from ..codegen.dynamic_sizes import is_sized
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, integer, null, pointer
from ..codegen.memory_builder import FIRST
from ..codegen.rule_registry import RefusedError
from ..codegen.scalar_builder import is_known
from ..list_abi import parts_of
from .reshape import demand_shape


class Cells:
    """The memory of a list: an address, a length and a capacity. A list of static size never moves or grows."""

    def __init__(self, e: Emitter, element: TensorType, size: int | None, may_grow: bool) -> None:
        self._describe(element, size, may_grow)
        self._length = e.slot(integer(64))
        self._address = e.growing(self.bytes) if size is None else e.held((size or 0) * self.bytes)

    def _describe(self, element: TensorType, size: int | None, may_grow: bool) -> None:
        if not isinstance(element, TensorType) or element.shape is None or None in element.shape:
            raise RefusedError(f"the shape of its elements, {element}, is not known")
        self.dtype = element.dtype
        self.shape = tuple(int(length or 0) for length in element.shape)
        self.may_grow = may_grow  # when an index past the end is written
        self.size = size
        self.bytes = max(math.prod(self.shape), 1) * element.dtype.size

    def demand_shape(self, e: Emitter, shape: Shape) -> None:
        """Refuse elements of another shape than the memory is for; check dynamic sizes at run time."""
        if not is_sized(shape) and shape != self.shape:
            raise RefusedError(f"the list has elements of the shapes {self.shape} and {shape}")
        demand_shape(e, shape, self.shape)

    def length(self, e: Emitter) -> Register:
        return e.word(self.size) if self.size is not None else e.b.load(self._length, typ=integer(64))

    def address(self, e: Emitter) -> Register:
        address = e.b.load(self._address, typ=pointer())
        return address if self.size is not None else _behind_head(e, address)

    def at(self, e: Emitter, index: Register) -> Register:
        """Return the address of an element."""
        offset = e.times(index, self.bytes)
        return e.b.gep(self.address(e), [offset], inbounds=True, source_etype=integer(8))

    def reset(self, e: Emitter, length: Register) -> None:
        """Fill the list with `length` zeros."""
        self.resize(e, e.word(0))
        if not is_known(length) or length.constant:
            self.extend(e, length)

    def resize(self, e: Emitter, length: Register) -> None:
        """Set the length; elements beyond it are dropped."""
        if self.size is None:
            e.b.store(length, self._length)

    def extend_to(self, e: Emitter, length: Register) -> None:
        """Append zeros up to this length, if the list is shorter."""
        with e.where(e.b.icmp_signed(">", length, self.length(e))):
            self.extend(e, length)

    def extend(self, e: Emitter, length: Register) -> None:
        """Append zeros up to this length."""
        start = e.word(0) if self.size is not None else self.length(e)
        self.reserve(e, length)
        count = e.b.mul(e.minus(length, start), e.word(self.bytes))
        e.clear_some(self.at(e, start), count)
        self.resize(e, length)

    def reserve(self, e: Emitter, length: Register) -> None:
        """Grow the memory to at least `length` elements."""
        if self.size is not None or (is_known(length) and length.constant <= FIRST):
            return
        address = e.b.load(self._address, typ=pointer())
        with e.where(e.b.icmp_signed(">", length, e.capacity(address))):
            wanted = e.plus(e.b.shl(length, e.word(1)), e.word(FIRST))
            size = e.plus(e.times(wanted, self.bytes), e.word(HEAD))
            found = e.call("PyMem_RawRealloc", pointer(), address, size)
            e.fail_unless(e.b.icmp_unsigned("!=", found, null()))
            e.b.store(found, self._address)
            e.b.store(wanted, found)

    def release(self, e: Emitter) -> Register:
        """Transfer the memory to the caller of the compiled function, and allocate new memory."""
        address = e.b.load(self._address, typ=pointer())
        capacity = e.capacity(address)
        e.b.store(e.new_memory(e.plus(e.times(capacity, self.bytes), e.word(HEAD))), self._address)
        e.b.store(capacity, e.b.load(self._address, typ=pointer()))
        return address

    def take(self, e: Emitter, other: Cells) -> None:
        """Copy the elements of another list."""
        if (self.dtype, self.shape) != (other.dtype, other.shape) or self.size not in (None, other.size):
            raise RefusedError("lists with different element types or lengths are merged here")
        length = other.length(e)
        self.reserve(e, length)
        count = e.b.mul(length, e.word(self.bytes))
        e.copy_some(self.address(e), other.address(e), count)
        self.resize(e, length)


def _behind_head(e: Emitter, address: Register) -> Register:
    return e.b.gep(address, [e.word(HEAD)], inbounds=True, source_etype=integer(8))


class View(Cells):
    """Elements in memory of another owner: never changed, but a version may have fewer of them."""

    def __init__(
        self, e: Emitter, element: TensorType, address: Register, length: Register, size: int | None = None
    ) -> None:
        self._describe(element, size, False)
        self._length = e.slot(integer(64))
        self._address = e.slot(pointer())
        self.point(e, address, length)

    def point(self, e: Emitter, address: Register, length: Register) -> None:
        """Point to other elements."""
        e.b.store(address, self._address)
        e.b.store(length, self._length)

    def again(self, e: Emitter) -> View:
        """Return another view of the same elements, with a length of its own."""
        return View(e, TensorType(self.dtype, self.shape), self.address(e), self.length(e))

    def address(self, e: Emitter) -> Register:
        return e.b.load(self._address, typ=pointer())

    def reserve(self, e: Emitter, length: Register) -> None:
        raise RefusedError("a list in memory of another owner is changed")

    def take(self, e: Emitter, other: Cells) -> None:
        if not isinstance(other, View):
            raise RefusedError("lists in memory of different owners are merged here")
        self.point(e, other.address(e), other.length(e))


class List(LazyValue):
    """A version of a list. If `is_shared`, it has other readers."""

    def __init__(self, cells: Cells, *, is_shared: bool = False) -> None:
        super().__init__(cells.dtype, ())
        self.cells = cells
        self.is_shared = is_shared or isinstance(cells, View)

    @property
    def parts(self) -> tuple[Cells, ...]:
        """Memory of the list."""
        return (self.cells,)

    def of(self, parts: Sequence[Cells], is_shared: bool = False) -> Any:
        """Return a list of this kind with other memory."""
        return List(*parts, is_shared=is_shared)


class Lists(LazyValue):
    """A version of a list of lists: the elements of all inner lists, and their lengths."""

    def __init__(self, cells: Cells, counts: Cells, *, is_shared: bool = False) -> None:
        super().__init__(cells.dtype, ())
        self.cells = cells
        self.counts = counts
        self.is_shared = is_shared or isinstance(cells, View)

    @property
    def parts(self) -> tuple[Cells, ...]:
        return (self.cells, self.counts)

    def of(self, parts: Sequence[Cells], is_shared: bool = False) -> Any:
        return Lists(*parts, is_shared=is_shared)


class UnallocatedArray(LazyValue):
    """A TensorArray before the shape of its elements is known. They are zeros, unless all are written unread."""

    def __init__(
        self,
        dtype: dtypes.DType,
        length: Register,
        size: int | None,
        may_grow: bool,
        is_written: bool = False,
    ) -> None:
        super().__init__(dtype, ())
        self.length = length
        self.known = size
        self.may_grow = may_grow
        self.is_written = is_written


class One(LazyValue):
    """A gradient list with a single nonzero element."""

    def __init__(self, index: Register, value: LazyValue) -> None:
        super().__init__(value.dtype, ())
        self.index = index
        self.value = value
        self.operands = [value]  # keeps the memory of `value` unchanged until this is read


def made(e: Emitter, node: LazyValue, element: Any) -> Any:
    """Return a list with allocated memory, for a known element type."""
    if isinstance(node, (List, Lists)):
        return node
    if isinstance(node, One):
        return _with_zeros(e, node, element)
    assert isinstance(node, UnallocatedArray)
    if isinstance(element, ListType):
        return Lists(*[_zeros(e, spec, node) for spec in parts_of(ListType(element))])
    return List(_zeros(e, element, node))


def _with_zeros(e: Emitter, one: One, element: TensorType) -> List:
    cells = Cells(e, element, None, False)
    cells.reset(e, e.plus(one.index, e.word(1)))
    cell = cells.at(e, one.index)
    if isinstance(one.value, Buffer):
        e.copy(cell, one.value.address, one.value.bytes)
    else:
        e.store(cells.dtype, cell, e.word(0), one.value.at(e, Index((), ())))
    return List(cells)


def _zeros(e: Emitter, element: TensorType, node: UnallocatedArray) -> Cells:
    cells = Cells(e, element, node.known, node.may_grow)
    if node.is_written:
        cells.reserve(e, node.length)
        cells.resize(e, node.length)
    else:
        cells.reset(e, node.length)
    return cells


def copied(e: Emitter, cells: Cells, size: int | None) -> Cells:
    """Return a copy of a list."""
    new = Cells(e, TensorType(cells.dtype, cells.shape), size, cells.may_grow)
    new.take(e, cells)
    return new
