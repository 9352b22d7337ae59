"""Exits in the control-flow graph: jumps, exceptions, and the `with` and `try` statements that they pass.

    try:                      1 f()  ──▶ 2 store a ──▶ 5 (after)
        a = f()               │          │
    except E as e:            └────┬─────┘  exceptional edges
        g(e)                       ▼
    h(a)                      3 store e ─▶ 4 g(e), unbind e ──▶ 5 h(a)

A `finally` block is in the graph twice: once for normal completion, once for exceptions and jumps."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gast

from .basic_blocks import BasicBlocks

# Context managers that never suppress an exception, by the last part of their names.
TRANSPARENT = frozenset({
    "open", "closing", "nullcontext", "redirect_stdout", "redirect_stderr", "catch_warnings", "Lock", "RLock",
    "GradientTape", "name_scope", "device", "control_dependencies", "init_scope", "no_grad",
})  # fmt: skip


class Frame:
    """A construct that a jump passes on its way out: a loop, a `finally`, or a handler that unbinds its name."""

    def __init__(self, kind: str, node: int = -1, unbinds: int = 0) -> None:
        self.kind, self.node, self.unbinds = kind, node, unbinds
        self.exits: list[int] = []  # of a loop: the ends of its breaks
        self.pending: set[str] = set()  # of a `finally`: the jumps that continue after it


class CfgExits(BasicBlocks):
    """Base class that adds jumps, exceptions, and the `with` and `try` statements that they pass."""

    def __init__(self, ag: str, changing: Container[int] = ()) -> None:
        super().__init__(ag, changing)
        self._frames: list[Frame] = []
        self.cleared = 0  # variables that a `finally` block deletes or sets to None

    @contextmanager
    def _framed(self, frame: Frame) -> Iterator[None]:
        self._frames.append(frame)
        yield
        self._frames.pop()

    @contextmanager
    def _escaping_to(self, target: int) -> Iterator[None]:
        """Send exceptions to `target` while the `with` block runs."""
        outer, self._target = self._target, target
        self.heads.add(target)
        yield
        self._target = outer

    # Jumps

    def _Return(self, node: Any) -> None:
        self._evaluate(node.value)
        self._jump("return")

    def _Raise(self, node: Any) -> None:
        self._evaluate(node.exc, node.cause)
        self._ends = []

    def _Break(self, node: Any) -> None:
        self._jump("break")

    def _Continue(self, node: Any) -> None:
        self._jump("continue")

    def _jump(self, kind: str) -> None:
        """Link the current ends to the first frame that stops the jump, or leave the function."""
        for frame in reversed(self._frames):
            if frame.kind == "finally":
                self._link(self._ends, frame.node)
                frame.pending.add(kind)
                break
            if frame.kind == "handler":
                self._node(unbind=frame.unbinds, quiet=True)
            elif kind == "break":
                frame.exits += self._ends
                break
            elif kind == "continue":
                self._link(self._ends, frame.node)
                break
        self._ends = []

    # Context managers

    def _With(self, node: Any) -> None:
        for item in node.items:
            self._evaluate(item.context_expr, item.optional_vars)
            if item.optional_vars is not None:
                self._add_locations([item.optional_vars])
        if all(_is_transparent(item.context_expr) for item in node.items):
            self._statements(node.body)
            return
        caught = self._aside()
        self._unless_caught([caught])
        with self._escaping_to(caught):
            self._statements(node.body)
        self._ends.append(caught)
        self._mark()

    _AsyncWith = _With

    # Exceptions

    def _Try(self, node: Any) -> None:
        if not node.finalbody:
            self._ends = self._guarded(node)
            if self._ends:
                self._mark()
            return
        for name in cleared_names(node.finalbody):
            self.cleared |= self._bit(name)
        final = self._aside()
        frame = Frame("finally", final)
        with self._framed(frame), self._escaping_to(final):
            ends = self._guarded(node)
        self._ends = [final]
        self._statements(node.finalbody)
        last = list(self._ends)
        self._unless_caught(last)
        for kind in sorted(frame.pending):
            self._ends = list(last)
            self._jump(kind)
        self._ends = ends
        if ends:
            self._mark()
            self._statements(node.finalbody)

    _TryStar = _Try

    def _guarded(self, node: Any) -> list[int]:
        """Add a `try` without its `finally`; return the nodes at which it ends."""
        if not node.handlers:
            self._statements(node.body)
            self._statements(node.orelse)
            return self._ends
        caught = self._aside()
        with self._escaping_to(caught):
            self._statements(node.body)
        self._statements(node.orelse)
        ends, untaken = self._ends, [caught]
        for handler in node.handlers:
            self._ends = untaken
            self._evaluate(handler.type)
            untaken = list(self._ends) if handler.type is not None else []
            self._handler(handler)
            ends = ends + self._ends
        self._unless_caught(untaken)
        return ends

    def _handler(self, handler: Any) -> None:
        """Add the body of an `except` clause, which binds its name and unbinds it on every exit."""
        if handler.name is None:
            self._statements(handler.body)
            return
        bit = self._bit(handler.name.id)
        self._node(bind=bit, quiet=True)
        with self._framed(Frame("handler", unbinds=bit)):
            self._statements(handler.body)
        if self._ends:
            self._node(unbind=bit, quiet=True)

    def _unless_caught(self, sources: list[int]) -> None:
        """Link `sources` to the next enclosing handler, if there is one in the function."""
        if self._target >= 0:
            self._link(sources, self._target)


def _is_transparent(manager: gast.expr) -> bool:
    named = manager.func if isinstance(manager, gast.Call) else manager
    return (getattr(named, "attr", None) or getattr(named, "id", None)) in TRANSPARENT


def cleared_names(body: Sequence[gast.stmt]) -> Iterator[str]:
    """Yield the variables that statements delete or set to None, mostly to break a cycle through a traceback."""
    for statement in body:
        value = statement.value if isinstance(statement, gast.Assign) else None
        is_none = isinstance(value, gast.Constant) and value.value is None
        if is_none or isinstance(statement, gast.Delete):
            yield from (target.id for target in statement.targets if isinstance(target, gast.Name))
