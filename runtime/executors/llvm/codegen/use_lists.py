"""Use lists: the operations that still read each value.

Lowering stores a lazy value if it has further readers, and overwrites a buffer after its last reader.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from ....ir.graph import Graph, Operand, Operation
from ....ops.linalg.matmul import matmul_op, matvec
from .lazy_values import Buffer, LazyValue
from .llvm_types import Register

OUT = "out"
"""The pseudo-reader of a graph's outputs."""

_ELSEWHERE = (None,)

_PRODUCTS = frozenset({matmul_op, matvec})


def factors(graph: Graph) -> set[Operand]:
    """Return the values that matrix products of a graph read, which must be in memory then."""
    return {each for operation in graph.operations if operation.op in _PRODUCTS for each in operation.inputs}


class UseLists:
    """Use lists of a graph's nodes, and the set of operations that are already lowered."""

    def __init__(self, graph: Graph) -> None:
        self._users: dict[Operand, list[Any]] = defaultdict(list)
        self._done: set[Any] = set()
        self._results: dict[Any, list[LazyValue]] = {}  # lazy results of each lowered operation
        self._readers: dict[LazyValue, set[Any]] = defaultdict(set)
        self._at: dict[Register, dict[LazyValue, None]] = defaultdict(dict)  # nodes that read each address
        self._given: list[LazyValue] = []  # lazy inputs, computed from values outside this graph
        for operation in graph.live_operations():
            for operand in operation.inputs:
                self._users[operand].append(operation)
        for operand in graph.outputs:
            self._users[operand].append(OUT)

    def bind(self, value: Operand, node: LazyValue) -> None:
        """Register the users of `value` as readers of `node`."""
        self._readers[node].update(self._users[value])
        self.stands(node)

    def give(self, value: Operand, node: LazyValue) -> None:
        """Bind the graph input `value` to `node`."""
        self.bind(value, node)
        if node.is_lazy:
            self._given.append(node)

    def stands(self, node: LazyValue) -> None:
        """Record the addresses that `node` reads its memory from now."""
        for memory in memory_of(node):
            self._at[memory][node] = None

    def begin(self, operation: Operation) -> None:
        """Mark `operation` as lowered: it reads its operands now, unless its results are lazy."""
        self._done.add(operation)

    def end(self, operation: Operation, nodes: list[LazyValue], lazy: list[LazyValue]) -> None:
        """Record the `lazy` results of `operation`; while they are not computed, it keeps reading `nodes`."""
        if lazy:
            self._results[operation] = lazy
            self._done.discard(operation)
        else:
            self.leave(operation, nodes)

    def leave(self, operation: Operation, nodes: Iterable[LazyValue]) -> None:
        """Remove `operation` from the readers of `nodes`."""
        for node in nodes:
            self._readers[node].discard(operation)

    def is_only_output(self, value: Operand) -> bool:
        """Return whether `value` is one output of the graph, and nothing else reads it."""
        return self._users[value] == [OUT]

    def has_others(self, node: LazyValue, inside: set[LazyValue]) -> bool:
        """Return whether an operation will still read `node`, except those with all results in `inside`."""
        return any(
            not inside.issuperset(self._results.get(reader, _ELSEWHERE)) and self._is_open(reader)
            for reader in self._readers[node]
        )

    def is_factor(self, node: LazyValue) -> bool:
        """Return whether a matrix product will still read `node`, which must be in memory then."""
        return any(
            reader is not OUT and reader.op in _PRODUCTS and reader not in self._done
            for reader in self._readers[node]
        )

    def is_last(self, operation: Operation, node: LazyValue) -> bool:
        """Return whether no operation but `operation` will still read `node`."""
        return not any(reader is not operation and self._is_open(reader) for reader in self._readers[node])

    def is_alone(self, operation: Operation, node: LazyValue) -> bool:
        """Return whether no other node aliases this node's memory from `operation` on."""
        memory = memory_of(node) if node.storage is not None or isinstance(node, Buffer) else frozenset()
        for register in memory:  # nodes without readers get none before they are bound, and recorded, again
            for each in [each for each in self._at[register] if not self._readers[each]]:
                del self._at[register][each]
        others = itertools.chain(self._given, *[self._at[register] for register in memory])
        return not any(
            other is not node and self._is_needed(operation, other) and _reads(other, node, memory)
            for other in others
        )

    def is_read_outside(self, node: Buffer, inside: set[LazyValue]) -> bool:
        """Return whether other nodes than those in `inside` will still be read from the memory of `node`."""
        if any(reader not in self._done and reader not in self._results for reader in self._readers[node]):
            return True
        return any(
            other is not node
            and other not in inside
            and not node.addresses.isdisjoint(memory_of(other))
            and any(map(self._is_open, self._readers[other]))
            for other in itertools.chain(self._given, self._at[node.address])
        )

    def _is_needed(self, operation: Operation, node: LazyValue) -> bool:
        return any(reader is operation or self._is_open(reader) for reader in self._readers[node])

    def _is_open(self, reader: Any) -> bool:
        """Return whether `reader`, or an operation that reads its lazy results, is still to be lowered."""
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


def memory_of(node: LazyValue) -> frozenset[Register]:
    """Return the addresses that elements of `node` are read from; those of its operands if it is lazy."""
    found = _noted(node)
    if found is None:
        parts = [_noted(operand) for operand in node.operands]
        if None in parts:
            parts = [each.addresses for each in _sources(node) if isinstance(each, Buffer)]
        found = frozenset().union(*parts)  # type: ignore[arg-type]
        node.memory = (LazyValue.moved, found)
    return found


def _noted(node: LazyValue) -> frozenset[Register] | None:
    """Return these addresses if they are cached or `node` is in memory, else None."""
    stored = node.storage or node
    if isinstance(stored, Buffer):
        return stored.addresses
    known_at, found = node.memory
    return found if known_at == LazyValue.moved else None


def _reads(reader: LazyValue, node: LazyValue, memory: frozenset[Register]) -> bool:
    return any(
        each is node or (isinstance(each, Buffer) and not memory.isdisjoint(each.addresses))
        for each in _sources(reader)
    )


def _sources(node: LazyValue) -> Iterator[LazyValue]:
    """Yield `node` and everything that its elements are computed from, down to stored values."""
    pending, seen = [node], {node}
    while pending:
        each = pending.pop()
        yield each
        for found in each.operands if each.storage is None else (each.storage,):
            if found not in seen:
                seen.add(found)
                pending.append(found)
