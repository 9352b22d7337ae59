"""Memory of TensorArrays and lists: elements behind each other, as many as are known, or memory that grows.

size known      address ──► element 0, element 1, …
size unknown    address ──► how many fit, element 0, element 1, …      and a length beside it
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..ir.specs import Spec
from .emitter import Emitter
from .nodes import Node
from .registry import RefusedError
from .storage import FIRST, HEAD
from .types import Register, integer, ir, pointer


class Cells:
    """The memory of a list: an address, a length, and how much fits. A list of known size never moves or grows."""

    def __init__(self, e: Emitter, element: Spec, size: int | None, may_grow: bool) -> None:
        if element.shape is None or None in element.shape or not isinstance(element, Spec):
            raise RefusedError(f"the shape of its elements, {element}, is not known")
        self.dtype = element.dtype
        self.shape = tuple(int(length or 0) for length in element.shape)
        self.may_grow = may_grow  # when it is written past its end
        self.size = size
        count = 1
        for length in self.shape:
            count *= length
        self.bytes = max(count, 1) * element.dtype.size
        self._length = e.slot(integer(64))
        self._address = e.growing(self.bytes) if size is None else e.held(size * self.bytes)

    def length(self, e: Emitter) -> Register:
        return e.word(self.size) if self.size is not None else e.b.load(self._length, typ=integer(64))

    def address(self, e: Emitter) -> Register:
        address = e.b.load(self._address, typ=pointer())
        return address if self.size is not None else _behind_head(e, address)

    def at(self, e: Emitter, index: Register) -> Register:
        """Where an element stands."""
        offset = e.times(index, self.bytes)
        return e.b.gep(self.address(e), [offset], inbounds=True, source_etype=integer(8))

    def reset(self, e: Emitter, length: Register) -> None:
        """So many zeros."""
        self.resize(e, e.word(0))
        self.extend(e, length)

    def resize(self, e: Emitter, length: Register) -> None:
        """Another length; what is beyond it is forgotten."""
        if self.size is None:
            e.b.store(length, self._length)

    def extend_to(self, e: Emitter, length: Register) -> None:
        """Zeros at the end, if it is shorter."""
        grow, onward = e.block("grow"), e.block("onward")
        e.b.cbranch(e.b.icmp_signed(">", length, self.length(e)), grow, onward)
        with e.into(grow):
            self.extend(e, length)
            e.b.branch(onward)
        e.b.position_at_end(onward)

    def extend(self, e: Emitter, length: Register) -> None:
        """Zeros at the end, until it has this length."""
        start = e.word(0) if self.size is not None else self.length(e)
        self.reserve(e, length)
        count = e.b.mul(e.minus(length, start), e.word(self.bytes))
        e.clear_some(self.at(e, start), count)
        self.resize(e, length)

    def reserve(self, e: Emitter, length: Register) -> None:
        """Memory for so many elements."""
        if self.size is not None:
            return
        full, onward = e.block("full"), e.block("onward")
        address = e.b.load(self._address, typ=pointer())
        e.b.cbranch(e.b.icmp_signed(">", length, e.capacity(address)), full, onward)
        with e.into(full):
            wanted = e.plus(e.b.shl(length, e.word(1)), e.word(FIRST))
            size = e.plus(e.times(wanted, self.bytes), e.word(HEAD))
            found = e.call("PyMem_RawRealloc", pointer(), address, size)
            e.fail_unless(e.b.icmp_unsigned("!=", found, ir().Constant(pointer(), None)))
            e.b.store(found, self._address)
            e.b.store(wanted, found)
            e.b.branch(onward)
        e.b.position_at_end(onward)

    def take(self, e: Emitter, other: Cells) -> None:
        """The elements of another list."""
        if (self.dtype, self.shape) != (other.dtype, other.shape) or self.size not in (None, other.size):
            raise RefusedError("lists of other elements, or of other lengths, meet here")
        length = other.length(e)
        self.reserve(e, length)
        count = e.b.mul(length, e.word(self.bytes))
        e.copy_some(self.address(e), other.address(e), count)
        self.resize(e, length)


def _behind_head(e: Emitter, address: Register) -> Register:
    return e.b.gep(address, [e.word(HEAD)], inbounds=True, source_etype=integer(8))


class List(Node):
    """A version of a list. `is_shared` says that others still read it where it is used."""

    def __init__(self, cells: Cells, is_shared: bool = False) -> None:
        super().__init__(cells.dtype, ())
        self.cells = cells
        self.is_shared = is_shared


class Unmade(Node):
    """A TensorArray before the shape of its elements is known."""

    def __init__(self, dtype: dtypes.DType, length: Register, size: int | None, may_grow: bool) -> None:
        super().__init__(dtype, ())
        self.length = length
        self.known = size
        self.may_grow = may_grow


def made(e: Emitter, node: Node, element: Any) -> List:
    """A list whose elements are known by now."""
    if isinstance(node, List):
        return node
    assert isinstance(node, Unmade)
    cells = Cells(e, element, node.known, node.may_grow)
    cells.reset(e, node.length)
    return List(cells)


def copied(e: Emitter, cells: Cells, size: int | None) -> Cells:
    """Another list with the same elements."""
    new = Cells(e, Spec(cells.dtype, cells.shape), size, cells.may_grow)
    new.take(e, cells)
    return new
