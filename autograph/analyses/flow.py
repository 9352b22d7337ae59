"""The control flow graph of one function, exceptions included.

    try:                      1 f()  ──▶ 2 store a ──▶ 5 (after)
        a = f()               │          │
    except E as e:            └────┬─────┘  exceptional edges
        g(e)                       ▼
    h(a)                      3 store e ─▶ 4 g(e), unbind e ──▶ 5 h(a)

A node is a piece of straight-line code: first it reads variables, then it binds or unbinds some. Sets of
variables are ints with one bit for each. Each `if` and loop leaves its landmarks in `blocks`, for the
analyses to be asked there. A `finally` block stands in the graph twice: once for the normal way, once for
exceptions and jumps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from ..syntax.tree import Statements, contains, is_call_of, parameters
from .scopes import Found, Reading, scan

# Context managers that never swallow an exception, by the last part of their names.
TRANSPARENT = frozenset(
    {
        "open",
        "closing",
        "nullcontext",
        "redirect_stdout",
        "redirect_stderr",
        "catch_warnings",
        "Lock",
        "RLock",
    }
    | {"GradientTape", "name_scope", "device", "control_dependencies", "init_scope", "no_grad"}
)


class Landmarks(NamedTuple):
    """The nodes around an `if` or a loop."""

    before: int  # just before the branch is taken, or the loop entered
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
    places: list[gast.expr] = field(default_factory=list)  # assigned attributes and items


class Frame:
    """What a jump passes on its way out: a loop, a `finally`, or a handler that will unbind its name."""

    def __init__(self, kind: str, node: int = -1, unbinds: int = 0) -> None:
        self.kind, self.node, self.unbinds = kind, node, unbinds
        self.exits: list[int] = []  # of a loop: where its breaks come from
        self.pending: set[str] = set()  # of a `finally`: the jumps that go on after it


class Flow:
    """The graph. Node i reads `use[i]`, binds `bind[i]`, perhaps binds `may[i]`, unbinds `unbind[i]`."""

    def __init__(self, function: Any, ag: str) -> None:
        self.ag = ag
        self.index: dict[str, int] = {}
        self._names: list[str] = []  # the names of `index`, for `members`
        self.use: list[int] = []
        self.bind: list[int] = []
        self.may: list[int] = []
        self.unbind: list[int] = []
        self.next: list[list[int]] = []
        self.escape: list[int] = []
        self.readings: list[tuple[int, Reading, Block | None]] = []
        self.blocks: dict[int, Block] = {}
        self.captured: set[str] = set()
        self.rebound: set[str] = set()
        self.declared: dict[str, str] = {}  # name → 'global' or 'nonlocal'
        self.hoisted: list[gast.stmt] = []
        self._frames: list[Frame] = []
        self._target = -1  # where an exception goes
        self._ends: list[int] = []  # the nodes whose next node is yet to come
        self._block: Block | None = None
        self._assigned = 0
        for name in parameters(function):
            self._bit(name.id)
        self.parameters = (1 << len(self.index)) - 1
        self.entry = self._node(bind=self.parameters, quiet=True)
        self._statements(function.body)
        self.exit = self._node(quiet=True)
        local = self.parameters
        for node in range(len(self.use)):
            local |= self.bind[node] | self.may[node] | self.unbind[node]
        # Names that the function shares with a scope around it.
        self.elsewhere = ((1 << len(self.index)) - 1) & ~local | self.mask(self.declared)

    def mask(self, names: Any) -> int:
        """The set with those of the names that the function knows."""
        total = 0
        for name in names:
            if name in self.index:
                total |= 1 << self.index[name]
        return total

    def members(self, mask: int) -> list[str]:
        """The names in a set, in the order in which the function mentions them."""
        if len(self._names) != len(self.index):
            self._names = list(self.index)
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self._names[lowest.bit_length() - 1])
            mask ^= lowest
        return found

    # Nodes and edges

    def _bit(self, name: str) -> int:
        return 1 << self.index.setdefault(name, len(self.index))

    def _node(self, use: int = 0, bind: int = 0, may: int = 0, unbind: int = 0, quiet: bool = False) -> int:
        node = len(self.use)
        self.use.append(use)
        self.bind.append(bind)
        self.may.append(may)
        self.unbind.append(unbind)
        self.next.append([])
        self.escape.append(-1 if quiet else self._target)
        for end in self._ends:
            self.next[end].append(node)
        self._ends = [node]
        self._assigned |= bind | may | unbind
        return node

    def _mark(self) -> int:
        return self._node(quiet=True)

    def _aside(self) -> int:
        """A marker that nothing leads to yet."""
        ends, self._ends = self._ends, []
        node = self._mark()
        self._ends = ends
        return node

    def _link(self, sources: list[int], node: int) -> None:
        for source in sources:
            self.next[source].append(node)

    def _evaluate(self, *nodes: Any) -> None:
        """Add the node for one or more expressions (or simple statements) evaluated in a row."""
        found = Found()
        for node in nodes:
            if node is not None:
                scan(node, found)
        if found.walrus:
            for node in nodes:
                if node is not None:
                    self._in_order(node)
        elif found.reads or found.stores or found.deleted or found.captured or nodes:
            self._add(found)

    def _add(self, found: Found) -> None:
        use = bind = may = unbind = 0
        node = len(self.use)
        for reading in found.reads:
            use |= self._bit(reading.node.id)
            self.readings.append((node, reading, self._block))
        for deleted in found.deleted:
            bit = self._bit(deleted.id)
            use |= bit
            unbind |= bit
            self.readings.append((node, Reading(deleted, False, False), self._block))
        for name in found.stores:
            bind |= self._bit(name)
        for name in found.conditional:
            may |= self._bit(name)
        self.captured |= found.captured
        self.rebound |= found.rebound
        self._node(use, bind, may & ~bind, unbind & ~bind)

    def _in_order(self, node: Any) -> None:
        """Evaluate an expression with a walrus in it piece by piece, with its short cuts as edges."""
        if isinstance(node, gast.NamedExpr):
            self._in_order(node.value)
            self._node(bind=self._bit(node.target.id))
        elif isinstance(node, (gast.BoolOp, gast.IfExp, gast.Compare)):
            if isinstance(node, gast.IfExp):
                first, ways = [node.test], [[node.body], [node.orelse]]
            elif isinstance(node, gast.BoolOp):
                first, ways = node.values[:1], [node.values[1:], []]
            else:
                first, ways = [node.left, node.comparators[0]], [node.comparators[1:], []]
            for part in first:
                self._in_order(part)
            start, ends, readings = self._ends, [], len(self.readings)
            for way in ways:
                self._ends = list(start)
                for part in way:
                    self._in_order(part)
                    ends += self._ends if part is not way[-1] else []
                ends += self._ends
            self._ends = list(dict.fromkeys(ends))
            self._delay(readings)
        elif not contains(node, gast.NamedExpr) or isinstance(
            node, (gast.Name, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda)
        ):
            found = Found()
            scan(node, found)
            self._add(found)
        else:
            for child in gast.iter_child_nodes(node):
                if isinstance(child, (gast.expr, gast.keyword)) and not (
                    isinstance(node, gast.AnnAssign) and child is node.annotation
                ):
                    self._in_order(child)

    def _delay(self, first: int) -> None:
        """Note that the readings from `first` on will stand in a lambda."""
        for position in range(first, len(self.readings)):
            node, reading, block = self.readings[position]
            self.readings[position] = (node, reading._replace(lazy=True), block)

    # Statements

    def _statements(self, body: Statements) -> None:
        for statement in body:
            method = getattr(self, "_" + type(statement).__name__, None)
            if method is not None:
                method(statement)
            else:
                self._evaluate(statement)

    def _Assign(self, node: Any) -> None:
        self._places(node.targets)
        self._evaluate(node.value, *node.targets)

    def _AugAssign(self, node: Any) -> None:
        self._places([node.target])
        self._evaluate(node)

    def _AnnAssign(self, node: Any) -> None:
        if node.value is None:
            if isinstance(node.target, gast.Name):
                self._bit(node.target.id)
                if self._block is not None:
                    self.hoisted.append(node)
        else:
            self._places([node.target])
            self._evaluate(node)

    def _places(self, targets: list[gast.expr]) -> None:
        for target in targets:
            if isinstance(target, (gast.Attribute, gast.Subscript)):
                block = self._block
                while block is not None:
                    block.places.append(target)
                    block = block.parent
            elif isinstance(target, (gast.Tuple, gast.List)):
                self._places(target.elts)

    def _Global(self, node: Any) -> None:
        for name in node.names:
            self._bit(name)
            self.declared[name] = type(node).__name__.lower()
        if self._block is not None:
            self.hoisted.append(node)

    _Nonlocal = _Global

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

    def _Assert(self, node: Any) -> None:
        self._evaluate(node.test)
        if node.msg is not None:
            ends = list(self._ends)
            first = len(self.readings)
            self._evaluate(node.msg)
            self._delay(first)
            self._ends = ends

    def _jump(self, kind: str) -> None:
        for frame in reversed(self._frames):
            if frame.kind == "finally":
                self._link(self._ends, frame.node)
                frame.pending.add(kind)
                self._ends = []
                return
            if frame.kind == "handler":
                self._node(unbind=frame.unbinds, quiet=True)
            elif kind == "break":
                frame.exits += self._ends
                self._ends = []
                return
            elif kind == "continue":
                self._link(self._ends, frame.node)
                self._ends = []
                return
        self._ends = []

    def _enter(self, statement: Any) -> tuple[Block, Block | None, int]:
        outer, assigned = self._block, self._assigned
        block = self.blocks.get(id(statement))
        if block is None:
            block = self.blocks[id(statement)] = Block(statement, outer)
        self._assigned = 0
        return block, outer, assigned

    def _leave(self, block: Block, outer: Block | None, assigned: int, landmarks: Landmarks) -> None:
        block.landmarks.append(landmarks)
        block.assigned |= self._assigned
        self._assigned |= assigned
        self._block = outer

    def _If(self, node: Any) -> None:
        first = len(self.readings)
        self._evaluate(node.test)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], gast.If):
            self._delay(first)  # the tests of an `elif` chain become lambdas
        before = self._mark()
        block, outer, assigned = self._enter(node)
        self._block = block
        body = self._mark()
        self._statements(node.body)
        ends, self._ends = self._ends, [before]
        orelse = self._mark()
        self._statements(node.orelse)
        self._ends += ends
        after = self._mark()
        self._leave(block, outer, assigned, Landmarks(before, body, orelse, after, self._target))

    def _While(self, node: Any) -> None:
        before = self._mark()
        block, outer, assigned = self._enter(node)
        self._block = block
        header = self._mark()
        first = len(self.readings)
        self._evaluate(node.test)
        self._delay(first)
        self._round(node, block, outer, assigned, before, header, list(self._ends))

    def _For(self, node: Any) -> None:
        items, flag = node.iter, None
        if is_call_of(items, self.ag, "until"):
            items, flag = items.args[0], items.args[1].body
        self._evaluate(items)
        before = self._mark()
        block, outer, assigned = self._enter(node)
        self._block = block
        header = self._node(use=self._bit(flag.id) if flag is not None else 0)
        self._places([node.target])
        leaving = [header]
        self._evaluate(node.target)
        self._round(node, block, outer, assigned, before, header, leaving)

    _AsyncFor = _For

    def _round(
        self,
        node: Any,
        block: Block,
        outer: Block | None,
        assigned: int,
        before: int,
        header: int,
        leaving: list[int],
    ) -> None:
        """A loop from its body on."""
        frame = Frame("loop", header)
        self._frames.append(frame)
        self._statements(node.body)
        self._link(self._ends, header)
        self._frames.pop()
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value
        self._ends = [] if endless else leaving
        self._block = outer
        inner = self._assigned
        self._statements(node.orelse)
        self._ends += frame.exits
        after = self._mark()
        rest, self._assigned = self._assigned, inner
        self._leave(block, outer, assigned, Landmarks(before, header, header, after, self._target))
        self._assigned |= rest

    def _With(self, node: Any) -> None:
        outer = self._target
        swallows = False
        for item in node.items:
            self._evaluate(item.context_expr, item.optional_vars)
            if item.optional_vars is not None:
                self._places([item.optional_vars])
            call = item.context_expr.func if isinstance(item.context_expr, gast.Call) else item.context_expr
            name = getattr(call, "attr", None) or getattr(call, "id", None)
            swallows |= name not in TRANSPARENT
        if not swallows:
            self._statements(node.body)
            return
        caught = self._aside()
        if outer >= 0:
            self.next[caught].append(outer)
        self._target = caught
        self._statements(node.body)
        self._target = outer
        self._ends.append(caught)
        self._mark()

    _AsyncWith = _With

    def _Try(self, node: Any) -> None:
        outer = self._target
        final = self._aside() if node.finalbody else -1
        frame = Frame("finally", final)
        if node.finalbody:
            self._frames.append(frame)
            self._target = final
        ends = self._guarded(node)
        self._target = outer
        if node.finalbody:
            self._frames.pop()
            self._ends = [final]
            self._statements(node.finalbody)
            last = list(self._ends)
            if outer >= 0:
                self._link(last, outer)
            for kind in sorted(frame.pending):
                self._ends = list(last)
                self._jump(kind)
        self._ends = ends
        if ends:
            self._mark()
            self._statements(node.finalbody)

    _TryStar = _Try

    def _guarded(self, node: Any) -> list[int]:
        """A `try` without its `finally`; the nodes at which it ends."""
        outer = self._target
        if not node.handlers:
            self._statements(node.body)
            self._statements(node.orelse)
            return self._ends
        caught = self._aside()
        self._target = caught
        self._statements(node.body)
        self._target = outer
        self._statements(node.orelse)
        ends, untaken = self._ends, [caught]
        for handler in node.handlers:
            self._ends = untaken
            self._evaluate(handler.type)
            untaken = list(self._ends) if handler.type is not None else []
            name = handler.name.id if handler.name is not None else None
            if name is None:
                self._statements(handler.body)
            else:
                bit = self._bit(name)
                self._node(bind=bit, quiet=True)
                self._frames.append(Frame("handler", unbinds=bit))
                self._statements(handler.body)
                self._frames.pop()
                if self._ends:
                    self._node(unbind=bit, quiet=True)
            ends = ends + self._ends
        if outer >= 0:
            self._link(untaken, outer)
        return ends

    def _Match(self, node: Any) -> None:
        self._evaluate(node.subject)
        ends: list[int] = []
        for case in node.cases:
            found = Found()
            scan(case.pattern, found)
            stores, found.stores = found.stores, []
            found.conditional = list(stores)
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
