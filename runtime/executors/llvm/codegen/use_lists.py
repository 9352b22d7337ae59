"""Who is still to read which values of a region: what decides whether a value is kept, or its memory replaced."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from ....ir.graph import Graph, Operand, Operation
from .lazy_values import Buffer, LazyValue
from .llvm_types import Register

OUT = "out"
"""What reads the outputs of a graph."""

_ELSEWHERE = (None,)

_PRODUCTS = frozenset({"matmul", "matvec"})


class UseLists:
    """The operations of a graph that read each node, and those of them that have been lowered."""

    def __init__(self, graph: Graph) -> None:
        self._users: dict[Operand, list[Any]] = defaultdict(list)
        self._done: set[Any] = set()
        self._results: dict[Any, list[LazyValue]] = {}  # of operations whose results are lazy
        self._readers: dict[LazyValue, set[Any]] = defaultdict(set)
        self._at: dict[Register, list[LazyValue]] = defaultdict(list)  # what reads the memory at an address
        self._given: list[LazyValue] = []  # what is computed here, but out of what others know
        for operation in graph.live_operations():
            for operand in operation.inputs:
                self._users[operand].append(operation)
        for operand in graph.outputs:
            self._users[operand].append(OUT)

    def bind(self, value: Operand, node: LazyValue) -> None:
        """What reads a value, reads this node."""
        self._readers[node].update(self._users[value])
        self.stands(node)

    def give(self, value: Operand, node: LazyValue) -> None:
        """The graph is given a node for an input."""
        self.bind(value, node)
        if node.is_lazy:
            self._given.append(node)

    def stands(self, node: LazyValue) -> None:
        """A node reads its memory from where it does now."""
        for place in memory_of(node):
            self._at[place].append(node)

    def begin(self, operation: Operation) -> None:
        """An operation is being lowered: what it reads is read now, unless its result is lazy."""
        self._done.add(operation)

    def end(self, operation: Operation, lazy: list[LazyValue]) -> None:
        """It has been; these of its results are lazy."""
        if lazy:
            self._results[operation] = lazy
            self._done.discard(operation)

    def leave(self, operation: Operation, nodes: Iterable[LazyValue]) -> None:
        """Say that an operation has read what it reads."""
        for node in nodes:
            self._readers[node].discard(operation)

    def has_others(self, node: LazyValue, inside: set[LazyValue]) -> bool:
        """Whether somebody will read a node but for some nodes that are being computed."""
        return any(
            not inside.issuperset(self._results.get(reader, _ELSEWHERE)) and self._is_open(reader)
            for reader in self._readers[node]
        )

    def is_factor(self, node: LazyValue) -> bool:
        """Whether a product will read a node, which must stand in memory for that."""
        return any(
            reader is not OUT and reader.type in _PRODUCTS and reader not in self._done
            for reader in self._readers[node]
        )

    def is_last(self, operation: Operation, node: LazyValue) -> bool:
        """Whether nobody else will read a node once this operation has."""
        return not any(reader is not operation and self._is_open(reader) for reader in self._readers[node])

    def is_alone(self, operation: Operation, node: LazyValue) -> bool:
        """Whether nobody reads what a node holds by another way, while an operation reads it or behind that."""
        places = memory_of(node) if node.storage is not None or isinstance(node, Buffer) else frozenset()
        others = itertools.chain(self._given, *[self._at[place] for place in places])
        return not any(
            other is not node and self._is_needed(operation, other) and _reads(other, node, places)
            for other in others
        )

    def _is_needed(self, operation: Operation, node: LazyValue) -> bool:
        return any(reader is operation or self._is_open(reader) for reader in self._readers[node])

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


def memory_of(node: LazyValue) -> frozenset[Register]:
    """The addresses that the elements of a node are read from: where it stands, or what it is to be computed from."""
    found = _noted(node)
    if found is None:
        parts = [_noted(operand) for operand in node.operands]
        if None in parts:
            parts = [each.places for each in _sources(node) if isinstance(each, Buffer)]
        found = frozenset().union(*parts)  # type: ignore[arg-type]
        node.memory = (LazyValue.moved, found)
    return found


def _noted(node: LazyValue) -> frozenset[Register] | None:
    """These addresses, where they are known without a look at what the node is computed from."""
    stored = node.storage or node
    if isinstance(stored, Buffer):
        return stored.places
    known_at, found = node.memory
    return found if known_at == LazyValue.moved else None


def _reads(reader: LazyValue, node: LazyValue, places: frozenset[Register]) -> bool:
    return any(
        each is node or (isinstance(each, Buffer) and not places.isdisjoint(each.places))
        for each in _sources(reader)
    )


def _sources(node: LazyValue) -> Iterator[LazyValue]:
    """A node, and what its elements are computed from, up to what stands in memory."""
    pending, seen = [node], {node}
    while pending:
        each = pending.pop()
        yield each
        for found in each.operands if each.storage is None else (each.storage,):
            if found not in seen:
                seen.add(found)
                pending.append(found)
