"""Values of a graph during lowering: constants, registers, memory and expressions that are not computed yet.

    Known            a constant array of the graph
    Scalar           rank 0, in a register
    Buffer           elements in contiguous memory
    LazyElementwise  an elementwise operation, computed where it is read
    IndexMap         elements of other values, read at another index

Every node has a `shape` and a `dtype`, and emits the element at an `Index`. An element is computed once for
each index, and memoized while the loop nest of that index is emitted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from .dynamic_sizes import Size
from .function_builder import Emitter
from .llvm_types import Element, Register, constant, ir

Shape = tuple[int, ...]
Cuts = frozenset[int]
NO_CUTS: Cuts = frozenset()


class Index:
    """An index into a shape.

    `groups` are triples (first axis, axis after the last, linear index within these axes).
    """

    __slots__ = ("_flat", "_within", "groups", "local", "shape")

    def __init__(self, shape: Shape, groups: Sequence[tuple[int, int, Register]]) -> None:
        self.shape = shape
        self.groups = tuple(groups)
        self._within: dict[Shape, Index] = {shape: self}
        self._flat: Register = None
        self.local: Register = None  # the index within a block, for values that are computed in blocks

    @staticmethod
    def of(shape: Shape, coordinates: Sequence[Register]) -> Index:
        """Return the index with one coordinate along each axis."""
        return Index(shape, [(axis, axis + 1, coordinate) for axis, coordinate in enumerate(coordinates)])

    def flat(self, e: Emitter) -> Register:
        """Emit the linear index of the element in row-major order."""
        if self._flat is None:
            key = self.shape, self.groups
            total = e.memo.get(key)
            if total is not None:
                return total
            total = e.word(0)
            for start, stop, value in self.groups:
                total = e.plus(e.times(total, math.prod(self.shape[start:stop])), value)
            self._flat = e.memo[key] = total
        return self._flat

    def linear(self, e: Emitter, first: int, last: int) -> Register | None:
        """Emit the linear index within the axes from `first` to `last`; None if a group crosses their ends."""
        total = e.word(0)
        for start, stop, value in self.groups:
            if start < last and stop > first:
                if start < first or stop > last:
                    return None
                total = e.plus(e.times(total, math.prod(self.shape[start:stop])), value)
        return total

    def along(self, e: Emitter, axis: int) -> Register:
        """Emit the coordinate along one axis."""
        for start, stop, value in self.groups:
            if start <= axis < stop:
                stride = math.prod(self.shape[axis + 1 : stop])
                found = e.over(value, stride)[0]
                return found if axis == start else e.over(found, self.shape[axis])[1]
        raise AssertionError(f"no axis {axis} in {self.shape}")

    def coordinates(self, e: Emitter) -> list[Register]:
        """Emit the coordinates along all axes."""
        return [self.along(e, axis) for axis in range(len(self.shape))]

    def within(self, e: Emitter, shape: Shape) -> Index:
        """Return the corresponding index into a tensor of `shape` that is broadcast to this shape."""
        found = self._within.get(shape)
        if found is None:
            found = self._within[shape] = self._narrowed(e, shape)
        return found

    def _narrowed(self, e: Emitter, shape: Shape) -> Index:
        skipped = len(self.shape) - len(shape)
        groups = []
        for start, stop, value in self.groups:
            own = shape[max(start - skipped, 0) : max(stop - skipped, 0)]
            if own == self.shape[start:stop]:
                groups.append((start - skipped, stop - skipped, value))
                continue
            for axis in range(max(start, skipped), stop):
                size = shape[axis - skipped]
                coordinate = e.word(0) if size == 1 else self.along(e, axis)
                groups.append((axis - skipped, axis - skipped + 1, coordinate))
        return Index(shape, groups)


def cuts_of_broadcast(shape: Shape, wide: Shape) -> Cuts:
    """Return the axes of `wide` before which loops cannot be collapsed, if `shape` is broadcast to it."""
    skipped = len(wide) - len(shape)
    used = [axis >= skipped and shape[axis - skipped] == size for axis, size in enumerate(wide)]
    relevant = [axis for axis, size in enumerate(wide) if size != 1]
    return frozenset(b for a, b in itertools.pairwise(relevant) if used[a] != used[b])


_NUMBERS = itertools.count(1)


class LazyValue:
    """A value of the graph.

    `storage` is its memory once it is computed; `maker` is the operation that produced it.
    """

    moved = 0  # number of the last change of any node's storage
    # cache of use_lists.py: (`moved` when filled, addresses)
    memory: tuple[int, frozenset[Register]] = (-1, frozenset())
    cost = 0  # of all operations that compute it, counted as often as they are read
    own_cost = 0
    fails = False
    depth = 0
    in_blocks = False  # computed in blocks, and read at another index only from memory (blockwise.py)
    operands: Sequence[LazyValue] = ()
    maker: Operation | None = None

    def __init__(self, dtype: dtypes.DType, shape: Shape) -> None:
        self.dtype = dtype
        self.shape = shape
        self.size = math.prod(shape)
        self.storage: Buffer | None = None

    def stand(self, storage: Buffer | None) -> None:
        """Read the value from `storage` from now on; None means that it is computed where it is read."""
        self.storage = storage
        LazyValue.moved = next(_NUMBERS)  # the count never repeats, even with several compiling threads

    def at(self, e: Emitter, index: Index) -> Element:
        """Emit the element at an index, at most once for each index."""
        node: LazyValue = self.storage or self
        key = (node, index)
        found = e.memo.get(key)
        if found is None:
            found = e.memo[key] = node.element(e, index)
        return found

    def element(self, e: Emitter, index: Index) -> Element:
        """Emit the computation of the element at an index."""
        raise NotImplementedError

    def cuts(self) -> Cuts:
        """Return the axes before which loops must not be collapsed, so that no index needs a division."""
        return NO_CUTS

    @property
    def is_lazy(self) -> bool:
        """Return whether the value is not computed yet."""
        return False


class ConstantArray(LazyValue):
    """A constant array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__(dtypes.of_array(array), array.shape)
        self.array = np.ascontiguousarray(array).reshape(array.shape)
        flat = self.array.ravel()
        bits = flat.view(f"V{flat.itemsize}") if flat.size else flat
        self.is_uniform = bool(flat.size) and bool((bits == bits[0]).all())
        self.is_zero = self.is_uniform and not any(flat[:1].tobytes())

    def element(self, e: Emitter, index: Index) -> Element:
        if self.is_uniform:
            return constant(self.dtype, self.array.ravel()[0])
        return e.load(self.dtype, self.address(e), index.flat(e))

    def address(self, e: Emitter) -> Register:
        """Emit the address of the elements."""
        return e.module.host.constant(e, self.array)


class Scalar(LazyValue):
    """A rank-0 value in a register."""

    def __init__(self, dtype: dtypes.DType, value: Element) -> None:
        super().__init__(dtype, ())
        self.value = value

    def element(self, e: Emitter, index: Index) -> Element:
        return self.value


class Buffer(LazyValue):
    """Elements in memory. An `is_own` buffer is read only here, so it may be overwritten after its last read.

    `places` are the addresses under which other nodes may alias this memory. An `in_list` buffer is an
    element of a list, and is read where the list no longer changes.
    """

    in_list = False

    def __init__(self, dtype: dtypes.DType, shape: Shape, address: Register, is_own: bool = False) -> None:
        super().__init__(dtype, shape)
        self.address = address
        self.is_own = is_own
        self.addresses: frozenset[Register] = frozenset({address})
        self.slot: Register = None  # the growing memory that it belongs to, if its size is dynamic

    @staticmethod
    def new(e: Emitter, dtype: dtypes.DType, shape: Shape) -> Buffer:
        """Allocate memory for a tensor."""
        size = math.prod(shape) * dtype.size
        if not isinstance(size, Size):
            return Buffer(dtype, shape, e.buffer(size), is_own=True)
        address, slot = e.sized(size)
        made = Buffer(dtype, shape, address, is_own=True)
        made.slot = slot
        return made

    def element(self, e: Emitter, index: Index) -> Element:
        return e.load(self.dtype, self.address, index.flat(e))

    def also(self, shape: Shape, is_own: bool = False) -> Buffer:
        """Return an alias of this memory with another shape."""
        made = Buffer(self.dtype, shape, self.address, is_own)
        made.addresses = self.addresses
        made.in_list = self.in_list
        return made

    @property
    def stays(self) -> bool:
        """Return whether this memory is never written while it is read: an input, or a part of one."""
        return isinstance(self.address, ir().Argument) and not self.is_own

    @property
    def bytes(self) -> int:
        return self.size * self.dtype.size


Rule = Callable[..., Element]
"""Emits an element from those of the operands: `rule(e, site, *elements)`."""


class LazyElementwise(LazyValue):
    """An elementwise operation. `site` describes the operation to the rule."""

    def __init__(
        self,
        dtype: dtypes.DType,
        shape: Shape,
        rule: Rule,
        site: Any,
        operands: Sequence[LazyValue],
        cost: int,
    ) -> None:
        super().__init__(dtype, shape)
        self.rule = rule
        self.site = site
        self.operands = operands
        lazy = [operand for operand in operands if operand.is_lazy]
        self.own_cost = cost
        self.cost = cost + sum(operand.cost for operand in lazy)
        self.fails = site.may_fail or any(operand.fails for operand in lazy)
        self.depth = 1 + max((operand.depth for operand in lazy), default=0)

    def element(self, e: Emitter, index: Index) -> Element:
        elements = [operand.at(e, index.within(e, operand.shape)) for operand in self.operands]
        if e.located is None or self.maker is None:
            return self.rule(e, self.site, *elements)
        with e.lowering(self.maker):
            return self.rule(e, self.site, *elements)

    def cuts(self) -> Cuts:
        return cuts_of([self])

    def own_cuts(self) -> set[int]:
        """Return the cuts that are needed to read broadcast operands."""
        found: set[int] = set()
        for operand in self.operands:
            if operand.shape != self.shape and operand.size > 1:
                found |= cuts_of_broadcast(operand.shape, self.shape)
                skipped = len(self.shape) - len(operand.shape)
                found |= {cut + skipped for cut in _cuts(operand)}
        return found

    @property
    def is_lazy(self) -> bool:
        return self.storage is None


def is_heavier(node: LazyValue, most: int) -> bool:
    """Return whether the operations that compute a lazy value cost more than `most` together."""
    if node.cost <= most:
        return False
    total, pending, seen = 0, [node], {node}
    while pending and total <= most:
        each = pending.pop()
        total += each.own_cost
        new = {operand for operand in each.operands if operand.is_lazy} - seen
        seen |= new
        pending += new
    return total > most


def _cuts(node: LazyValue) -> Cuts:
    return NO_CUTS if node.storage is not None else node.cuts()


def cuts_of(nodes: Iterable[LazyValue]) -> Cuts:
    """Return the cuts of `nodes` and of all lazy values that they read at the same index."""
    found: set[int] = set()
    pending = list(nodes)
    seen = set(pending)
    while pending:
        node = pending.pop()
        if not isinstance(node, LazyElementwise):
            found |= node.cuts()
            continue
        found |= node.own_cuts()
        for operand in node.operands:
            if operand.shape == node.shape and operand.storage is None and operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return frozenset(found)


class IndexMap(LazyValue):
    """Elements of other nodes at indices computed by `find(e, index)`.

    With `once`, it reads each element once at most.
    """

    def __init__(
        self,
        dtype: dtypes.DType,
        shape: Shape,
        operands: Sequence[LazyValue],
        find: Callable[[Emitter, Index], Element],
        cost: int = 1,
        once: bool = True,
        fails: bool = False,
        cuts: Callable[[], Cuts] | None = None,
    ) -> None:
        super().__init__(dtype, shape)
        self.operands = operands
        self.find = find
        lazy = [operand for operand in operands if operand.is_lazy]
        self.own_cost = cost
        self.cost = cost + sum(operand.cost for operand in lazy)
        self.once = once
        self.fails = fails or any(operand.fails for operand in lazy)
        self.depth = 1 + max((operand.depth for operand in lazy), default=0)
        self._find_cuts = cuts

    def element(self, e: Emitter, index: Index) -> Element:
        return self.find(e, index)

    def cuts(self) -> Cuts:
        if self._find_cuts is not None:
            return self._find_cuts()
        return frozenset(range(1, len(self.shape)))

    @property
    def is_lazy(self) -> bool:
        return self.storage is None


class Changed(LazyValue):
    """A tensor, the first operand, of which `write` changes elements in memory that holds it.

    Only an output that replaces a variable is such a value, so that nothing reads its elements.
    """

    def __init__(self, operands: Sequence[LazyValue], write: Callable[[Buffer], None]) -> None:
        super().__init__(operands[0].dtype, operands[0].shape)
        self.operands = operands
        self.write = write

    @property
    def is_lazy(self) -> bool:
        return self.storage is None


class Reshaped(IndexMap):
    """The elements of another node in row-major order, in another shape."""
