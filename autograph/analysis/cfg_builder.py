"""The control-flow graph of one function, exceptions included.

    while c:                  1 ▶ 2 c ──▶ 3 f(x) ─╮          landmarks of the loop:
        f(x)                      ▲  ╰────╮       │          before 1, body and orelse 2, after 4
    g()                           ╰───────│───────╯
                                          ▼
                                          4 ▶ 5 g()

The classes build on one another: the graph (`cfg.py`), straight-line code (`basic_blocks.py`), exits
(`cfg_exits.py`), and here branches and loops."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

import gast

from ..syntax.tree_queries import is_call_of, parameters
from .cfg import Block, Landmarks
from .cfg_exits import CfgExits, Frame
from .scopes import Found, scan


class Flow(CfgExits):
    """The control-flow graph of a function from its `entry` to its `exit`."""

    def __init__(self, function: Any, ag: str, changing: Container[int] = ()) -> None:
        super().__init__(ag, changing)
        for name in parameters(function):
            self._bit(name.id)
        self.parameters = (1 << len(self.index)) - 1
        self.entry = self._node(bind=self.parameters, quiet=True)
        self._statements(function.body)
        self.exit = self._node(quiet=True)
        # Names that the function shares with an enclosing scope.
        self.elsewhere = ((1 << len(self.index)) - 1) & ~self._assigned | self.mask(self.declared)

    @contextmanager
    def _within(self, statement: gast.stmt) -> Iterator[Block]:
        """Assign the nodes that are added in the `with` block to the block of `statement`."""
        outer, assigned, rebound = self._block, self._assigned, self._rebound
        block = self.blocks.get(id(statement))
        if block is None:
            block = self.blocks[id(statement)] = Block(statement, outer)
        self._block, self._assigned, self._rebound = block, 0, 0
        yield block
        block.assigned |= self._assigned
        block.rebound |= self._rebound
        self._block, self._assigned, self._rebound = outer, self._assigned | assigned, self._rebound | rebound

    # Branches

    def _If(self, node: Any) -> None:
        first = len(self.readings)
        self._evaluate(node.test)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], gast.If):
            self._delay(first)  # the tests of an `elif` chain become lambdas
        tested = self._ends
        with self._within(node) as block:
            body = self._mark()
            self._statements(node.body)
            ends, self._ends = self._ends, tested
            orelse = self._mark()
            self._statements(node.orelse)
            self._ends += ends
        block.landmarks.append(Landmarks(body, body, orelse, self._mark(), self._target))

    def _VersionedBlock(self, node: Any) -> None:
        self._statements(node.body)

    def _Assert(self, node: Any) -> None:
        self._evaluate(node.test)
        if node.msg is not None:
            ends = list(self._ends)
            first = len(self.readings)
            self._evaluate(node.msg)
            self._delay(first)
            self._ends = ends

    def _Match(self, node: Any) -> None:
        self._evaluate(node.subject)
        ends: list[int] = []
        for case in node.cases:
            found = Found()
            scan(case.pattern, found)
            # A pattern that fails may have bound some of its names.
            stores, found.stores, found.conditional = found.stores, [], list(found.stores)
            self._add(found)
            failed = list(self._ends)
            if stores:
                self._node(bind=self.mask(stores))
            if case.guard is not None:
                self._evaluate(case.guard)
                failed += self._ends
            self._statements(case.body)
            ends += self._ends
            self._ends = failed
        self._ends += ends
        self._mark()

    # Loops

    def _While(self, node: Any) -> None:
        before = self._mark()
        with self._within(node) as block:
            header = self._mark()
            first = len(self.readings)
            self._evaluate(node.test)
            self._delay(first)
            leaving = [] if isinstance(node.test, gast.Constant) and node.test.value else list(self._ends)
            frame = self._round(node, header)
        self._leave(node, block, frame, before, leaving)

    def _For(self, node: Any) -> None:
        items, flag = node.iter, None
        if is_call_of(items, self.ag, "until"):
            items, flag = items.args[0], items.args[1].body
        self._evaluate(items)
        before = self._mark()
        with self._within(node) as block:
            header = self._node(use=self._bit(flag.id) if flag is not None else 0)
            self._add_locations([node.target])
            self._evaluate(node.target)
            frame = self._round(node, header)
        self._leave(node, block, frame, before, [header])

    _AsyncFor = _For

    def _round(self, node: Any, header: int) -> Frame:
        """Add the body of a loop and its back edge."""
        frame = Frame("loop", header)
        with self._framed(frame):
            self._statements(node.body)
            self._link(self._ends, header)
        return frame

    def _leave(self, node: Any, block: Block, frame: Frame, before: int, leaving: list[int]) -> None:
        """Add the `else` block, which follows exhaustion, then the join node, which the breaks reach too."""
        self._ends = leaving
        self._statements(node.orelse)
        self._ends += frame.exits
        header = frame.node
        block.landmarks.append(Landmarks(before, header, header, self._mark(), self._target))
