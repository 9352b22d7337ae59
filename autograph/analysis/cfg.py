"""What a flow graph is: nodes, ways between them, and sets of variables as ints with one bit for each.

    a = f(b)      node 3    use {f, b}   bind {a}   ──▶ 4      (escape: to the handler, should `f` raise)
    del b         node 4    use {b}      unbind {b} ──▶ 5

A node first reads variables, then it binds or unbinds some. Each `if` and loop leaves its landmarks in `blocks`, for
the analyses to be asked there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from .scopes import Reading


class Node(NamedTuple):
    """A piece of straight-line code."""

    use: int  # the variables that it reads
    bind: int
    may: int  # those that it binds perhaps
    unbind: int
    next: list[int]  # the nodes that may follow
    escape: int  # the one that follows if it raises; -1 is out of the function


class Landmarks(NamedTuple):
    """The nodes around an `if` or a loop."""

    before: int  # just before the branch is taken (of an `if`: the same as `body`), or the loop entered
    body: int  # start of the body; for a loop its header, to which each iteration comes back
    orelse: int  # start of the other branch (of a loop: the same as `body`)
    after: int  # where the ways meet again
    escape: int  # where an exception goes from here; -1 is out of the function


@dataclass
class Block:
    """An `if` or a loop: where it is in the graph, and which variables it assigns and reads."""

    statement: Any
    parent: Block | None
    landmarks: list[Landmarks] = field(default_factory=list)
    assigned: int = 0
    rebound: int = 0  # assigned in other ways than by `ag__.put`
    places: list[gast.expr] = field(default_factory=list)  # assigned attributes and items
    puts: list[gast.Subscript] = field(default_factory=list)  # items of variables assigned by `ag__.put`


class ControlFlowGraph:
    """The nodes, in the order in which they were added, and what the analyses ask about them."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}  # name → number of its bit
        self.nodes: list[Node] = []
        self.heads: set[int] = (
            set()
        )  # the nodes that some way leads back to, and those that an exception goes to
        self.readings: list[tuple[int, Reading, Block | None]] = []
        self.blocks: dict[int, Block] = {}
        self._names: list[str] = []  # the names of `index`, for `members`
        # Where building has come to
        self._ends: list[int] = []  # the nodes whose next node is yet to come
        self._target = -1  # where an exception goes
        self._block: Block | None = None
        self._assigned = 0  # in this block, so far
        self._rebound = 0

    def mask(self, names: Iterable[str]) -> int:
        """The set with those of the names that the function knows."""
        total = 0
        for name in names:
            if name in self.index:
                total |= 1 << self.index[name]
        return total

    def members(self, mask: int) -> list[str]:
        """The names in a set, in the order in which the function mentions them."""
        if not self._names:  # all of the function is known when the first is asked for
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
        """Add a node after those at which building has ended; a quiet one raises nothing."""
        node = len(self.nodes)
        self.nodes.append(Node(use, bind, may, unbind, [], -1 if quiet else self._target))
        self._link(self._ends, node)
        self._ends = [node]
        assigned = bind | may | unbind
        self._assigned |= assigned
        self._rebound |= assigned
        return node

    def _mark(self) -> int:
        """A node that does nothing: a point to go to, or to ask about."""
        return self._node(quiet=True)

    def _aside(self) -> int:
        """A marker that nothing leads to yet."""
        ends, self._ends = self._ends, []
        node = self._mark()
        self._ends = ends
        return node

    def _link(self, sources: list[int], node: int) -> None:
        for source in sources:
            self.nodes[source].next.append(node)
            if node <= source:
                self.heads.add(node)
