"""Materialization of lazy values: one loop nest computes a value together with all lazy operands.

y = multiply x, 2.0        a LazyElementwise node: no code is emitted yet
z = add y, 1.0             another one, which computes y where it is read
s = reduce_sum z           one loop nest, which computes y and z for each element
return z, s                z is read again: the same nest stores it
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from .... import dtypes
from ....ir.graph import Graph
from . import blockwise
from .dynamic_sizes import is_sized
from .function_builder import UNROLLED, Emitter
from .lazy_values import (
    Buffer,
    ConstantArray,
    Index,
    IndexMap,
    LazyElementwise,
    LazyValue,
    Reshaped,
    Scalar,
    cuts_of,
)
from .llvm_types import Element, Register
from .output_groups import output_groups
from .parallel_loops import WAKES
from .use_lists import UseLists

T = TypeVar("T")

CHEAP = 2
"""Values that cost at most as much as this many additions are recomputed instead of stored."""

READ_ONCE = 8
"""Values that are read once, and cost at most as much as this many additions, are not stored: memory costs more."""

DEEPEST = 200
"""Expressions deeper than this are materialized, to bound recursion in Python and LLVM."""

HEAVIEST = 256
"""Expressions that cost more than this are materialized: LLVM's time grows faster than the body of a loop."""


class Values:
    """The values of a region, lazy or materialized."""

    def __init__(self, e: Emitter, graph: Graph) -> None:
        self.e = e
        self.readers = UseLists(graph)
        self._stored: list[LazyValue] = []
        self._once: dict[Any, Any] = {}
        self.wanted: set[LazyValue] = set()  # values to store in the first nest that computes them
        self.items: list[tuple[LazyValue, Buffer]] = []  # lazy values that will be computed in a list

    # Materializing values

    def scalar(self, node: LazyValue) -> Scalar:
        """Return a node with one element as a register."""
        node = node.storage or node
        if isinstance(node, Scalar):
            return node
        if node.in_blocks and node.is_lazy:
            node = self.stored(node)
        for operand in node.operands:
            self._make_readable(operand, node)
        return Scalar(node.dtype, node.at(self.e, Index.of(node.shape, [self.e.word(0)] * len(node.shape))))

    def register(self, node: LazyValue) -> Register:
        """Return the register of a node with one element."""
        return self.scalar(node).value

    def integer(self, node: LazyValue) -> Register:
        """Emit an integer node with one element as a 64-bit index."""
        value = self.register(node)
        width = value.type.width
        if width == 64:
            return value
        widen = self.e.b.zext if node.dtype.is_unsigned or node.dtype.is_bool else self.e.b.sext
        if isinstance(value, type(self.e.word(0))):
            return self.e.word(int(value.constant))
        return widen(value, self.e.word(0).type)

    def stored(self, node: LazyValue, target: Buffer | None = None) -> Buffer:
        """Materialize a node in memory, in `target` if given."""
        node = node.storage or node
        if isinstance(node, Buffer):
            if target is not None and target.address is not node.address:
                self.e.copy(target.address, node.address, node.bytes)
            return target or node
        if isinstance(node, ConstantArray) and target is None and node.size:
            return Buffer(node.dtype, node.shape, node.address(self.e))
        if _is_of_lazy(node):
            return self._stored_as_operand(node, target)
        where = target or Buffer.new(self.e, node.dtype, node.shape)
        if isinstance(node, ConstantArray) and node.is_zero and node.size < WAKES:
            self.e.clear(where.address, where.bytes)
        elif node.is_lazy:
            self.compute([(node, where)])
        else:
            self._fill([(node, where)], [node])
        return where

    def _stored_as_operand(self, node: LazyValue, target: Buffer | None) -> Buffer:
        """Materialize the operand instead, whose axes the loops can follow without divisions."""
        (operand,) = node.operands
        where = target or Buffer.new(self.e, node.dtype, node.shape)
        self.stored(operand, where.also(operand.shape, where.is_own))
        self.keep([(node, where)])
        return where

    def readable(self, node: LazyValue) -> LazyValue:
        """Return a node that can be read often and in any order: lazy values are kept only if they are cheap."""
        if node.is_lazy and (node.cost > CHEAP or node.fails):
            self.stored(node)
        elif node.is_lazy:
            for operand in node.operands:
                self._make_readable(operand, node)
        return node.storage or node

    def read_once(self, node: LazyValue) -> LazyValue:
        """Return a node whose elements are read once each, in any order.

        It is computed where it is read, if that costs little more than memory and nothing else reads it. So the
        rows that a sum of many rows scatters are never all in memory.
        """
        if node.is_lazy and not node.in_blocks and node.cost <= READ_ONCE:
            order = self.prepared([node])
            if not any(self._is_kept(each, set(order)) for each in order):
                return node.storage or node
        return self.readable(node)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Return the object that several operations of the region share, made by `make` at the first request."""
        found = self._once.get(key)
        if found is None:
            found = self._once[key] = make()
        return found

    def settled(self, node: LazyValue) -> LazyValue:
        """Materialize a node if it is lazy."""
        return self.stored(node) if node.is_lazy else (node.storage or node)

    def replace(self, pairs: Sequence[tuple[LazyValue, Buffer]]) -> None:
        """Store small tensors in buffers that may alias their operands: all elements are read before any is written."""
        found = []
        with self.e.nest([]):
            for node, where in pairs:
                self.prepared([node])
                for number in range(node.size):
                    index = Index(node.shape, [(0, len(node.shape), self.e.word(number))])
                    found.append((where, number, node.at(self.e, index)))
            for where, number, element in found:
                self.e.store(where.dtype, where.address, self.e.word(number), element)

    # Computing lazy values

    def compute(self, wanted: Sequence[tuple[LazyValue, Buffer]]) -> None:
        """Emit one loop nest that computes nodes of one shape, and also stores values that are read later."""
        order = self.prepared([node for node, _ in wanted], takes_blocks=True)
        wanted = [*wanted, *self.kept(order, [node for node, _ in wanted])]
        self._fill(wanted, order)
        self.keep(wanted)

    def keep(self, computed: Sequence[tuple[LazyValue, Buffer]]) -> None:
        """Record that nodes are stored in these buffers from now on."""
        for node, where in computed:
            node.stand(where)
            self._stored.append(node)
            self.readers.stands(node)

    def prepared(self, roots: Sequence[LazyValue], takes_blocks: bool = False) -> list[LazyValue]:
        """Return the lazy nodes read at the same index as `roots`, operands first; make the others readable.

        Nodes that are computed in blocks are stored unless `takes_blocks`.
        """
        order: dict[LazyValue, None] = {}
        pending = [(root, False) for root in reversed(roots)]
        while pending:
            node, is_complete = pending.pop()
            if is_complete:
                order[node] = None
            elif node.is_lazy and node.in_blocks and not takes_blocks:
                self.stored(node)
            elif node.is_lazy and node not in order:
                pending.append((node, True))
                for operand in node.operands:
                    if isinstance(node, LazyElementwise) and operand.shape == node.shape:
                        pending.append((operand, False))
                    else:
                        self._make_readable(operand, node)
        self.e.group = found = list(order)
        return found

    def _make_readable(self, operand: LazyValue, reader: LazyValue) -> None:
        """Materialize `operand` if reading it at another index would compute much repeatedly."""
        if not operand.is_lazy:
            return
        once = isinstance(reader, IndexMap) and reader.once and not self.readers.has_others(operand, {reader})
        if (
            operand.fails
            or operand.in_blocks
            or operand.depth > DEEPEST // 8
            or (operand.cost > CHEAP and not once)
        ):
            self.stored(operand)
            return
        for inner in operand.operands:
            self._make_readable(inner, operand)

    def kept(self, order: Sequence[LazyValue], roots: Sequence[LazyValue]) -> list[tuple[LazyValue, Buffer]]:
        """Return the nodes of a nest that are worth storing for later readers, with new buffers."""
        inside = set(order)
        return [
            (node, Buffer.new(self.e, node.dtype, node.shape))
            for node in order
            if node not in roots and self._is_kept(node, inside)
        ]

    def _is_kept(self, node: LazyValue, inside: set[LazyValue]) -> bool:
        """Return whether storing `node` for its other readers is better than computing it again."""
        is_worth_it = node.cost > CHEAP or (node.shape and self.readers.is_factor(node))
        return node in self.wanted or (bool(is_worth_it) and self.readers.has_others(node, inside))

    def _fill(self, wanted: Sequence[tuple[LazyValue, Buffer]], order: Sequence[LazyValue]) -> None:
        shape = wanted[0][0].shape
        if 0 in shape:
            return
        if any(node.in_blocks for node in order):
            blockwise.fill(self.e, wanted, order, cuts_of(order))
            return
        if math.prod(shape) <= (UNROLLED if self.e.is_repeated else 1):
            self._fill_in_registers(wanted)
            return
        with self.loops(shape, order or [node for node, _ in wanted], each_once=True) as index:
            for node in order:
                node.at(self.e, index)
            for node, where in wanted:
                self.e.store(node.dtype, where.address, index.flat(self.e), node.at(self.e, index))

    def _fill_in_registers(self, wanted: Sequence[tuple[LazyValue, Buffer]]) -> None:
        shape = wanted[0][0].shape
        found: list[tuple[Buffer, int, Element]] = []
        with self.e.nest([]):
            for number in range(math.prod(shape)):
                index = Index(shape, [(0, len(shape), self.e.word(number))])
                for node, where in wanted:
                    found.append((where, number, node.at(self.e, index)))
            for where, number, element in found:
                self.e.store(where.dtype, where.address, self.e.word(number), element)

    def spans(self, shape: tuple[int, ...], nodes: Sequence[LazyValue]) -> list[tuple[int, int]]:
        """Return the ranges of axes that loops over `shape` can collapse."""
        cuts = sorted({0, len(shape)} | cuts_of(nodes))
        return list(itertools.pairwise(cuts))

    @contextmanager
    def loops(
        self,
        shape: tuple[int, ...],
        nodes: Sequence[LazyValue],
        threads: bool = True,
        each_once: bool = False,
    ) -> Iterator[Index]:
        """Emit loops over all indices of a shape, collapsed as far as `nodes` allow."""
        spans = self.spans(shape, nodes)
        counts = [math.prod(shape[a:b]) for a, b in spans]
        with self.e.nest(counts, threads=threads, each_once=each_once) as numbers:
            yield Index(shape, [(a, b, n) for (a, b), n in zip(spans, numbers, strict=True)])

    def store_outputs(self, outputs: Sequence[LazyValue], targets: Sequence[Buffer | None]) -> None:
        together: dict[tuple[int, ...], dict[LazyValue, Buffer]] = defaultdict(dict)
        for node, target in zip(outputs, targets, strict=False):
            if target is None:
                continue
            if node.is_lazy:
                together[node.shape].setdefault(node, target)
        for wanted in together.values():
            for nodes in output_groups(wanted):
                lazy = [(node, wanted[node]) for node in nodes if node.is_lazy]
                if lazy:
                    self.compute(lazy)
        for node, target in zip(outputs, targets, strict=False):
            if target is not None:
                self.stored(node, target)

    def zeros(self, dtype: dtypes.DType, shape: tuple[int, ...]) -> Buffer:
        """Allocate a buffer of zeros."""
        where = Buffer.new(self.e, dtype, shape)
        if where.size:
            self.e.clear(where.address, where.bytes)
        return where

    # Regions of operations

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Discard storage of values that are materialized in this block, since the block may not be executed."""
        start = len(self._stored)
        yield
        for node in self._stored[start:]:
            node.stand(None)
        del self._stored[start:]


def _is_of_lazy(node: LazyValue) -> bool:
    """Return whether a node is a reshape of one that is not computed yet."""
    return isinstance(node, Reshaped) and node.operands[0].is_lazy and not is_sized(node.shape)
