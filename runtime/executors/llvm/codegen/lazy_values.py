"""Values while a graph is being lowered: known numbers, registers, memory, and expressions nobody has computed yet.

    Known      an array that the graph holds
    Scalar     rank 0, in a register
    Buffer     elements in memory, one behind the other
    Computed   an operation on each element, computed where it is read
    Mapped     elements of others, found under another index

Every node has a `shape` and a `dtype`, and gives the element at an `Index`. An element is computed once for an index
and kept while the nest of loops is written that counts through it.
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
    """A place in a shape. `groups` are (first axis, axis behind the last, number among their elements)."""

    __slots__ = ("_flat", "_within", "groups", "local", "shape")

    def __init__(self, shape: Shape, groups: Sequence[tuple[int, int, Register]]) -> None:
        self.shape = shape
        self.groups = tuple(groups)
        self._within: dict[Shape, Index] = {shape: self}
        self._flat: Register = None
        self.local: Register = None  # the number in a block, where elements are computed block by block

    @staticmethod
    def of(shape: Shape, places: Sequence[Register]) -> Index:
        """The index with a place along each axis."""
        return Index(shape, [(axis, axis + 1, place) for axis, place in enumerate(places)])

    def flat(self, e: Emitter) -> Register:
        """The number of the element among all."""
        if self._flat is None:
            total = e.word(0)
            for start, stop, value in self.groups:
                total = e.plus(e.times(total, math.prod(self.shape[start:stop])), value)
            self._flat = total
        return self._flat

    def along(self, e: Emitter, axis: int) -> Register:
        """The place along one axis."""
        for start, stop, value in self.groups:
            if start <= axis < stop:
                behind = math.prod(self.shape[axis + 1 : stop])
                found = e.over(value, behind)[0]
                return found if axis == start else e.over(found, self.shape[axis])[1]
        raise AssertionError(f"no axis {axis} in {self.shape}")

    def places(self, e: Emitter) -> list[Register]:
        """The place along each axis."""
        return [self.along(e, axis) for axis in range(len(self.shape))]

    def within(self, e: Emitter, shape: Shape) -> Index:
        """The index in a tensor of a shape that is broadcast to this one."""
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
                place = e.word(0) if size == 1 else self.along(e, axis)
                groups.append((axis - skipped, axis - skipped + 1, place))
        return Index(shape, groups)


def cuts_of_broadcast(shape: Shape, wide: Shape) -> Cuts:
    """Where axes of `wide` cannot count as one when a tensor of `shape` is read: between used and unused ones."""
    skipped = len(wide) - len(shape)
    used = [axis >= skipped and shape[axis - skipped] == size for axis, size in enumerate(wide)]
    relevant = [axis for axis, size in enumerate(wide) if size != 1]
    return frozenset(b for a, b in itertools.pairwise(relevant) if used[a] != used[b])


_NUMBERS = itertools.count(1)


class LazyValue:
    """A value of the graph. `storage` is where it stands, once it has been computed; `maker` is what gave it."""

    moved = 0  # the number of the last time that a node got another place
    memory: tuple[int, frozenset[Register]] = (-1, frozenset())  # see use_lists.py
    cost = 0
    fails = False
    depth = 0
    operands: Sequence[LazyValue] = ()
    maker: Operation | None = None

    def __init__(self, dtype: dtypes.DType, shape: Shape) -> None:
        self.dtype = dtype
        self.shape = shape
        self.size = math.prod(shape)
        self.storage: Buffer | None = None

    def stand(self, storage: Buffer | None) -> None:
        """Be found there from now on; nowhere means that it is computed where it is read."""
        self.storage = storage
        LazyValue.moved = next(_NUMBERS)  # each is there once, whatever threads compile

    def at(self, e: Emitter, index: Index) -> Element:
        """The element at an index, computed at most once for it."""
        node: LazyValue = self.storage or self
        key = (node, index)
        found = e.memo.get(key)
        if found is None:
            found = e.memo[key] = node.element(e, index)
        return found

    def element(self, e: Emitter, index: Index) -> Element:
        """Write the computation of the element at an index."""
        raise NotImplementedError

    def cuts(self) -> Cuts:
        """The axes before which loops must begin anew for the element to be found without divisions."""
        return NO_CUTS

    @property
    def is_lazy(self) -> bool:
        """Whether the value has not been computed yet."""
        return False


class Known(LazyValue):
    """An array that is known."""

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
        """Where the elements stand."""
        return e.module.host.constant(e, self.array)


class Scalar(LazyValue):
    """A number in a register."""

    def __init__(self, dtype: dtypes.DType, value: Element) -> None:
        super().__init__(dtype, ())
        self.value = value

    def element(self, e: Emitter, index: Index) -> Element:
        return self.value


class Buffer(LazyValue):
    """Elements in memory. `is_own` says that nobody outside reads them: they may be replaced when all have read them.

    `places` are the addresses under which others may know the same memory. What is `in_list` stands in a list, and is
    read where the list does not change any more.
    """

    in_list = False

    def __init__(self, dtype: dtypes.DType, shape: Shape, address: Register, is_own: bool = False) -> None:
        super().__init__(dtype, shape)
        self.address = address
        self.is_own = is_own
        self.places: frozenset[Register] = frozenset({address})
        self.slot: Register = None  # what its memory belongs to, if it has a size of its own

    @staticmethod
    def new(e: Emitter, dtype: dtypes.DType, shape: Shape) -> Buffer:
        """Memory for a tensor."""
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
        """The same memory under another name."""
        made = Buffer(self.dtype, shape, self.address, is_own)
        made.places = self.places
        made.in_list = self.in_list
        return made

    @property
    def stays(self) -> bool:
        """Whether nobody writes to this memory while it is read: it is an input, or a part of one."""
        return isinstance(self.address, ir().Argument) and not self.is_own

    @property
    def bytes(self) -> int:
        return self.size * self.dtype.size


Rule = Callable[..., Element]
"""Writes the computation of an element from those of the operands: `rule(e, site, *elements)`."""


class LazyElementwise(LazyValue):
    """An operation on each element. `site` is what the rule is told of the operation."""

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
        self.cost = cost + sum(operand.cost for operand in lazy)
        self.fails = site.may_fail or any(operand.fails for operand in lazy)
        self.depth = 1 + max((operand.depth for operand in lazy), default=0)

    def element(self, e: Emitter, index: Index) -> Element:
        elements = [operand.at(e, index.within(e, operand.shape)) for operand in self.operands]
        return self.rule(e, self.site, *elements)

    def cuts(self) -> Cuts:
        return cuts_of([self])

    def own_cuts(self) -> set[int]:
        """The cuts that it takes to read what is broadcast."""
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


def _cuts(node: LazyValue) -> Cuts:
    return NO_CUTS if node.storage is not None else node.cuts()


def cuts_of(nodes: Iterable[LazyValue]) -> Cuts:
    """The cuts of nodes that are read at one index, with what they read at this one."""
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
    """Elements of other nodes, which `find(e, index)` gives. It reads each of theirs at most `times` times."""

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
