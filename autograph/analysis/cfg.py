"""Control-flow graph: nodes, edges, and sets of variables as bit masks.

    a = f(b)      node 3    use {f, b}   bind {a}   ──▶ 4      (escape: to the handler, should `f` raise)
    del b         node 4    use {b}      unbind {b} ──▶ 5

A node first reads variables, then binds or unbinds some. `blocks` holds the landmark nodes of each `if` and loop, at
which the analyses read their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import gast

from .scopes import Reading


class Node(NamedTuple):
    """One node of the graph: straight-line code with its uses and definitions."""

    use: int  # the variables that the node reads
    bind: int
    may: int  # variables that the node may bind
    unbind: int
    next: list[int]  # successors
    escape: int  # the successor if the node raises; -1 leaves the function


class Landmarks(NamedTuple):
    """The nodes around an `if` or a loop."""

    before: int  # before the branch (of an `if`: the same as `body`) or the loop
    body: int  # start of the body; for a loop its header, the target of the back edge
    orelse: int  # start of the other branch (of a loop: the same as `body`)
    after: int  # where control flow joins again
    escape: int  # where an exception goes from here; -1 leaves the function


class Block:
    """An `if` or a loop: its landmarks in the graph, and the variables and locations that it assigns."""

    def __init__(self, statement: Any, parent: Block | None) -> None:
        self.statement = statement
        self.parent = parent
        self.landmarks: list[Landmarks] = []
        self.assigned = 0
        self.rebound = 0  # assigned other than by `ag__.put`
        self.locations: list[gast.expr] = []  # assigned attributes and items
        self.puts: list[gast.Subscript] = []  # items of variables, assigned by `ag__.put`


class ControlFlowGraph:
    """The nodes in the order of their creation, and the tables that the analyses read."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}  # name → number of its bit
        self.nodes: list[Node] = []
        self.heads: set[int] = set()  # the targets of back edges and of exceptions
        self.readings: list[tuple[int, Reading, Block | None]] = []
        self.blocks: dict[int, Block] = {}
        self._names: list[str] = []  # the names of `index`, for `members`
        # State of the construction
        self._ends: list[int] = []  # nodes whose successor is not created yet
        self._target = -1  # the node that an exception goes to
        self._block: Block | None = None
        self._assigned = 0  # in this block so far
        self._rebound = 0

    def mask(self, names: Iterable[str]) -> int:
        """Return the set of those `names` that occur in the function."""
        total = 0
        for name in names:
            if name in self.index:
                total |= 1 << self.index[name]
        return total

    def members(self, mask: int) -> list[str]:
        """Return the names in a set, in the order of their first occurrence in the function."""
        if not self._names:  # `index` is complete before the first call
            self._names = [*self.index]
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self._names[lowest.bit_length() - 1])
            mask ^= lowest
        return found

    def _bit(self, name: str) -> int:
        return 1 << self.index.setdefault(name, len(self.index))

    def _node(self, use: int = 0, bind: int = 0, may: int = 0, unbind: int = 0, quiet: bool = False) -> int:
        """Add a node after the current ends. With `quiet`, the node raises nothing."""
        node = len(self.nodes)
        self.nodes.append(Node(use, bind, may, unbind, [], -1 if quiet else self._target))
        self._link(self._ends, node)
        self._ends = [node]
        assigned = bind | may | unbind
        self._assigned |= assigned
        self._rebound |= assigned
        return node

    def _mark(self) -> int:
        """Add an empty node, which serves as a landmark or jump target."""
        return self._node(quiet=True)

    def _aside(self) -> int:
        """Add an empty node without predecessors."""
        ends, self._ends = self._ends, []
        node = self._mark()
        self._ends = ends
        return node

    def _link(self, sources: list[int], node: int) -> None:
        for source in sources:
            self.nodes[source].next.append(node)
            if node <= source:
                self.heads.add(node)
