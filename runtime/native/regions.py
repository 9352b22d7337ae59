"""Lowering the operations of one graph, in order, and deciding when lazy values are computed.

    y = multiply x, 2.0        a Computed node: nothing is written yet
    z = add y, 1.0             another, which reads y where it is read itself
    s = reduce_sum z           one loop nest, which computes y and z on the way
    return z, s                z is read again: the same nest stores it

Rank 0 is computed at once, in registers. A tensor is computed when something needs it in memory, in one nest with all
that it reads at the same index; what others will read again is stored by the same nest, unless it costs next to
nothing to compute again.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import dtypes
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.specs import Spec
from .emitter import UNROLLED, Emitter
from .nodes import Buffer, Computed, Index, Known, Mapped, Node, Scalar
from .registry import ELEMENTWISE, LOWERINGS, RefusedError, Site
from .support import CannotCompileError, Reason
from .types import COMPILED, Element, Register, constant

CHEAP = 2
"""What costs no more than so many additions is computed again, rather than stored and read."""

DEEPEST = 200
"""Expressions nested deeper are computed, so that neither Python's stack nor LLVM suffers."""

OUT = "out"

_ELSEWHERE = (None,)


class Region:
    """A graph that is being lowered; `inputs` are the nodes that it is given."""

    def __init__(self, e: Emitter, graph: Graph, inputs: Sequence[Node]) -> None:
        self.e = e
        self.graph = graph
        self._nodes: dict[Operand, Node] = {}
        self._users: dict[Operand, list[Any]] = defaultdict(list)
        self._done: set[Any] = set()
        self._results: dict[Any, list[Node]] = {}  # of operations whose results are lazy
        self._readers: dict[Node, set[Any]] = defaultdict(set)
        self._stored: list[Node] = []
        for operation in graph.live_operations():
            for operand in operation.inputs:
                self._users[operand].append(operation)
        for operand in graph.outputs:
            self._users[operand].append(OUT)
        for value, node in zip(graph.inputs, inputs, strict=True):
            self._bind(value, node)

    # The walk

    def run(self, targets: Sequence[Buffer | None] = ()) -> list[Node]:
        """Lower everything. Outputs that have a target are stored there; other tensors may still be lazy."""
        for operation in self.graph.live_operations():
            nodes = [self.node(operand) for operand in operation.inputs]
            self._done.add(operation)  # what it reads is read while it is lowered, unless the result is lazy
            try:
                results = self._lowered(operation, nodes)
            except RefusedError as refusal:
                self.e.reasons.append(Reason(operation, str(refusal)))
                results = [_nothing(operation, value) for value in operation.outputs]
            for value, node in zip(operation.outputs, results, strict=True):
                self._bind(value, node)
            lazy = [node for node in results if node.is_lazy]
            if lazy:
                self._results[operation] = lazy
                self._done.discard(operation)
                for node in lazy:
                    if node.depth > DEEPEST:
                        self.stored(node)
        outputs = [self.node(operand) for operand in self.graph.outputs]
        self._store_outputs(outputs, targets)
        return outputs

    def _lowered(self, operation: Operation, nodes: list[Node]) -> list[Node]:
        for value in operation.outputs:
            if isinstance(value.spec, Spec) and value.dtype not in COMPILED:
                raise RefusedError(f"{value.dtype.name} is not compiled")
        if operation.type in ELEMENTWISE:
            return [self._elementwise(operation, nodes)]
        lower = LOWERINGS.get(operation.type)
        if lower is None:
            raise RefusedError("there is no native code for it")
        results = lower(self, operation, *nodes)
        results = results if isinstance(results, list) else [results]
        return [self._settled(node) for node in results]

    def _settled(self, node: Node) -> Node:
        """Rank 0 is computed at once."""
        if node.is_lazy and not node.shape:
            return self.scalar(node)
        return node

    def _elementwise(self, operation: Operation, nodes: list[Node]) -> Node:
        rule = ELEMENTWISE[operation.type]
        refusal = rule.takes(operation)
        if refusal is not None:
            raise RefusedError(refusal)
        (value,) = operation.outputs
        site = Site(operation.type, nodes[0].dtype, value.dtype, operation.attrs, rule.may_fail(operation))
        return self.computed(rule.write, site, value.dtype, value.shape, nodes, rule.cost)  # type: ignore[arg-type]

    def computed(
        self,
        write: Any,
        site: Site,
        dtype: dtypes.DType,
        shape: tuple[int, ...],
        nodes: Sequence[Node],
        cost: int = 1,
    ) -> Node:
        """An operation on each element of some nodes."""
        node = Computed(dtype, shape, write, site, list(nodes), cost)
        return self._settled(node)

    def node(self, operand: Operand) -> Node:
        """The node of an operand."""
        found = self._nodes.get(operand)
        if found is None:
            assert isinstance(operand, Constant), operand
            if operand.dtype not in COMPILED:  # of use only for what is not compiled, such as a message
                found = self._nodes[operand] = Node(operand.dtype, operand.shape)
                return found
            found = self._nodes[operand] = Known(operand.value)
            found = found if found.shape else self._settled_known(found, operand)
        return found

    def _settled_known(self, node: Node, operand: Operand) -> Node:
        scalar = self._nodes[operand] = Scalar(node.dtype, node.at(self.e, Index((), ())))
        return scalar

    def _bind(self, value: Value, node: Node) -> None:
        self._nodes[value] = node
        self._readers[node].update(self._users[value])

    # Where values stand

    def scalar(self, node: Node) -> Scalar:
        """A node of one element, in a register."""
        node = node.storage or node
        if isinstance(node, Scalar):
            return node
        for operand in node.operands:
            self._make_readable(operand, node)
        return Scalar(node.dtype, node.at(self.e, Index.of(node.shape, [self.e.word(0)] * len(node.shape))))

    def register(self, node: Node) -> Register:
        """The element of a node that has one only."""
        return self.scalar(node).value

    def integer(self, node: Node) -> Register:
        """An integer of one element, as an index."""
        value = self.register(node)
        width = value.type.width
        if width == 64:
            return value
        widen = self.e.b.zext if node.dtype.is_unsigned or node.dtype.is_bool else self.e.b.sext
        if isinstance(value, type(self.e.word(0))):
            return self.e.word(int(value.constant))
        return widen(value, self.e.word(0).type)

    def stored(self, node: Node, target: Buffer | None = None) -> Buffer:
        """A node in memory: in `target`, where one is given."""
        node = node.storage or node
        if isinstance(node, Buffer):
            if target is not None and target.address is not node.address:
                self.e.copy(target.address, node.address, node.bytes)
            return target or node
        if isinstance(node, Known) and target is None and node.size:
            return Buffer(node.dtype, node.shape, node.address(self.e))
        where = target or Buffer.new(self.e, node.dtype, node.shape)
        if node.is_lazy:
            self.compute([(node, where)])
        else:
            self._fill([(node, where)], [node])
        return where

    def readable(self, node: Node) -> Node:
        """A node whose elements can be read in any order and often: lazy ones only where they cost little."""
        if node.is_lazy and (node.cost > CHEAP or node.fails):
            self.stored(node)
        elif node.is_lazy:
            for operand in node.operands:
                self._make_readable(operand, node)
        return node.storage or node

    def settled(self, node: Node) -> Node:
        """A node that is computed: what is lazy goes into memory."""
        return self.stored(node) if node.is_lazy else (node.storage or node)

    def replace(self, pairs: Sequence[tuple[Node, Buffer]]) -> None:
        """Put small tensors into buffers that some of them may still be read from: all are read before."""
        found = []
        with self.e.nest([]):
            for node, where in pairs:
                self.prepared([node])
                for number in range(node.size):
                    index = Index(node.shape, [(0, len(node.shape), self.e.word(number))])
                    found.append((where, number, node.at(self.e, index)))
            for where, number, element in found:
                self.e.store(where.dtype, where.address, self.e.word(number), element)

    def leave(self, operation: Operation, nodes: Iterable[Node]) -> None:
        """Say that an operation has read what it reads."""
        for node in nodes:
            self._readers[node].discard(operation)

    # Computing lazy values

    def compute(self, wanted: Sequence[tuple[Node, Buffer]]) -> None:
        """Write one nest of loops that computes nodes of one shape into buffers, and what is worth keeping too."""
        order = self.prepared([node for node, _ in wanted])
        wanted = [*wanted, *self.kept(order, [node for node, _ in wanted])]
        self._fill(wanted, order)
        self.keep(wanted)

    def keep(self, computed: Sequence[tuple[Node, Buffer]]) -> None:
        """Nodes stand in these buffers from now on."""
        for node, where in computed:
            node.storage = where
            self._stored.append(node)

    def prepared(self, roots: Sequence[Node]) -> list[Node]:
        """The lazy nodes that are read at the same index as these, operands first; others are made readable."""
        order: dict[Node, None] = {}
        pending = [(root, False) for root in reversed(roots)]
        while pending:
            node, is_complete = pending.pop()
            if is_complete:
                order[node] = None
            elif node.is_lazy and node not in order:
                pending.append((node, True))
                for operand in node.operands:
                    if isinstance(node, Computed) and operand.shape == node.shape:
                        pending.append((operand, False))
                    else:
                        self._make_readable(operand, node)
        return list(order)

    def _make_readable(self, operand: Node, reader: Node) -> None:
        """See that a node reads an operand at another index without computing much twice."""
        if not operand.is_lazy:
            return
        once = isinstance(reader, Mapped) and reader.once and not self._has_other_readers(operand, {reader})
        if operand.fails or operand.depth > DEEPEST // 8 or (operand.cost > CHEAP and not once):
            self.stored(operand)
            return
        for inner in operand.operands:
            self._make_readable(inner, operand)

    def kept(self, order: Sequence[Node], roots: Sequence[Node]) -> list[tuple[Node, Buffer]]:
        """What a nest computes on the way and others read later."""
        inside = set(order)
        return [
            (node, Buffer.new(self.e, node.dtype, node.shape))
            for node in order
            if node not in roots and node.cost > CHEAP and self._has_other_readers(node, inside)
        ]

    def _has_other_readers(self, node: Node, inside: set[Node]) -> bool:
        return any(
            not inside.issuperset(self._results.get(reader, _ELSEWHERE)) and self._is_open(reader)
            for reader in self._readers[node]
        )

    def _is_open(self, reader: Any) -> bool:
        """Whether an operation, or one that reads its lazy result, is still to be lowered."""
        pending, seen = [reader], {reader}
        while pending:
            found = pending.pop()
            if found in self._done:
                continue
            lazy = self._results.get(found)
            if lazy is None:  # not lowered yet, or the graph's output
                return True
            for node in lazy:
                if node.storage is None:
                    pending.extend(self._readers[node] - seen)
                    seen |= self._readers[node]
        return False

    def _fill(self, wanted: Sequence[tuple[Node, Buffer]], order: Sequence[Node]) -> None:
        shape = wanted[0][0].shape
        if 0 in shape:
            return
        if math.prod(shape) <= UNROLLED:
            self._fill_in_registers(wanted)
            return
        with self.loops(shape, order or [node for node, _ in wanted]) as index:
            for node in order:
                node.at(self.e, index)
            for node, where in wanted:
                self.e.store(node.dtype, where.address, index.flat(self.e), node.at(self.e, index))

    def _fill_in_registers(self, wanted: Sequence[tuple[Node, Buffer]]) -> None:
        shape = wanted[0][0].shape
        found: list[tuple[Buffer, int, Element]] = []
        with self.e.nest([]):
            for number in range(math.prod(shape)):
                index = Index(shape, [(0, len(shape), self.e.word(number))])
                for node, where in wanted:
                    found.append((where, number, node.at(self.e, index)))
            for where, number, element in found:
                self.e.store(where.dtype, where.address, self.e.word(number), element)

    def spans(self, shape: tuple[int, ...], nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The axes that loops over a shape take together: from the first to the one behind the last."""
        cuts = sorted({0, len(shape)}.union(*[node.cuts() for node in nodes]))
        return list(itertools.pairwise(cuts))

    @contextmanager
    def loops(self, shape: tuple[int, ...], nodes: Sequence[Node], threads: bool = True) -> Iterator[Index]:
        """Loops over all places of a shape, as few as the nodes that are read allow."""
        spans = self.spans(shape, nodes)
        with self.e.nest([math.prod(shape[a:b]) for a, b in spans], threads=threads) as numbers:
            yield Index(shape, [(a, b, n) for (a, b), n in zip(spans, numbers, strict=True)])

    def _store_outputs(self, outputs: Sequence[Node], targets: Sequence[Buffer | None]) -> None:
        together: dict[tuple[int, ...], list[tuple[Node, Buffer]]] = defaultdict(list)
        for node, target in zip(outputs, targets, strict=False):
            if target is None:
                continue
            is_new = all(node is not other for other, _ in together[node.shape])
            if node.is_lazy and is_new:
                together[node.shape].append((node, target))
        for wanted in together.values():
            lazy = [pair for pair in wanted if pair[0].is_lazy]
            if lazy:
                self.compute(lazy)
        for node, target in zip(outputs, targets, strict=False):
            if target is not None:
                self.stored(node, target)

    def own(self, operation: Operation, node: Node) -> Buffer:
        """A buffer with a node's elements that an operation may replace: its own where nobody reads it again."""
        found = self.stored(node)
        if found.is_own and self.is_last_read(operation, node):
            return found
        return self.stored(node, Buffer.new(self.e, node.dtype, node.shape))

    def zeros(self, dtype: dtypes.DType, shape: tuple[int, ...]) -> Buffer:
        """A new buffer of zeros."""
        where = Buffer.new(self.e, dtype, shape)
        if where.size:
            self.e.clear(where.address, where.bytes)
        return where

    # Regions within

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is computed in a block that may not run is not there behind it."""
        start = len(self._stored)
        yield
        for node in self._stored[start:]:
            node.storage = None
        del self._stored[start:]

    def inner(self, graph: Graph, inputs: Sequence[Node]) -> Region:
        """A region of an operation of this one."""
        region = Region(self.e, graph, inputs)
        region._stored = self._stored
        return region

    def is_last_read(self, operation: Operation, node: Node) -> bool:
        """Whether nobody reads a node once this operation has, which reads it once: two states need two buffers."""
        if sum(self._nodes.get(operand) is node for operand in operation.inputs) > 1:
            return False
        return not any(reader is not operation and self._is_open(reader) for reader in self._readers[node])


def _nothing(operation: Operation, value: Value) -> Node:
    """What stands for the result of an operation that was refused, so that the others can be looked at."""
    if not isinstance(value.spec, Spec) or value.dtype not in COMPILED or value.shape is None:
        raise CannotCompileError([Reason(operation, f"{value.spec} is not compiled")])
    shape = tuple(size or 0 for size in value.shape)
    number = Scalar(value.dtype, constant(value.dtype, 0))
    return Mapped(value.dtype, shape, [], lambda e, index: number.value, cost=0) if shape else number
