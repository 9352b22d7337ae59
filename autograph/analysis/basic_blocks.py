"""Graph nodes for straight-line code: simple statements, expressions, and the short circuits in these.

    a.n = f(b)                          one node: reads a, f and b; `a.n` is an assigned location
    c and (n := g())      1 c ──▶ 2 g() ──▶ 3 store n ──▶ 4 …
                          └───────────────────────────────▲

An expression becomes several nodes only if it contains a walrus. Evaluation order matters only there."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import chain
from typing import Any

import gast

from ..syntax.tree_queries import COMPREHENSIONS, Statements, contains, is_call_of
from .cfg import ControlFlowGraph
from .scopes import Found, Reading, scan


class BasicBlocks(ControlFlowGraph):
    """Base class that adds nodes for simple statements and expressions. Compound statements have methods in
    subclasses."""

    def __init__(self, ag: str, changing: Container[int] = ()) -> None:
        super().__init__()
        self.ag = ag
        self.changing = changing  # ids of names at which a list changes in place (an assignment)
        self.captured: set[str] = set()  # by nested functions
        self.rebound: set[str] = set()  # captured names that a nested function assigns
        self.declared: dict[str, str] = {}  # name → 'global' or 'nonlocal'
        self.hoisted: list[gast.stmt] = []  # declarations inside of a block

    def _statements(self, body: Statements) -> None:
        for statement in body:
            method = getattr(self, "_" + type(statement).__name__, None)
            if method is not None:
                method(statement)
            else:
                self._evaluate(statement)

    # Expressions

    def _evaluate(self, *nodes: Any) -> None:
        """Add the node for one or more expressions (or simple statements) that are evaluated in a row."""
        found = Found()
        for node in nodes:
            if node is not None:
                scan(node, found)
        if found.walrus:
            for node in nodes:
                if node is not None:
                    self._in_order(node)
        else:
            self._add(found)

    def _add(self, found: Found) -> None:
        use = bind = may = unbind = 0
        node = len(self.nodes)
        for reading in found.reads:
            use |= self._bit(reading.node.id)
            if id(reading.node) in self.changing:
                bind |= self._bit(reading.node.id)
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
        """Add nodes for an expression that contains a walrus, with an edge for each short circuit."""
        if isinstance(node, gast.NamedExpr):
            self._in_order(node.value)
            self._node(bind=self._bit(node.target.id))
        elif isinstance(node, gast.IfExp):
            self._short_cuts([node.test], [node.body], [node.orelse])
        elif isinstance(node, gast.BoolOp):
            self._short_cuts(node.values[:1], node.values[1:], [])
        elif isinstance(node, gast.Compare):
            self._short_cuts([node.left, node.comparators[0]], node.comparators[1:], [])
        elif isinstance(node, _WHOLE) or not contains(node, gast.NamedExpr):
            found = Found()
            scan(node, found)
            self._add(found)
        else:
            for child in _parts(node):
                if isinstance(child, (gast.expr, gast.keyword)):
                    self._in_order(child)

    def _short_cuts(self, first: list[gast.expr], *paths: list[gast.expr]) -> None:
        """Evaluate `first`, then one of the `paths`. After each part of a path, control may skip the rest."""
        for part in first:
            self._in_order(part)
        start, readings = self._ends, len(self.readings)
        ends: list[int] = []
        for path in paths:
            self._ends = list(start)
            for part in path:
                self._in_order(part)
                ends += self._ends if part is not path[-1] else []
            ends += self._ends
        self._ends = list(dict.fromkeys(ends))
        self._delay(readings)

    def _delay(self, first: int) -> None:
        """Mark the readings from `first` on as lazy: their expressions will move into a lambda."""
        for position in range(first, len(self.readings)):
            node, reading, block = self.readings[position]
            self.readings[position] = (node, reading._replace(lazy=True), block)

    # Assignments and declarations

    def _Assign(self, node: Any) -> None:
        if is_call_of(node.value, self.ag, "put", "put_updated"):
            self._add_item_assignment(node)
            return
        self._add_locations(node.targets)
        self._evaluate(node.value, *node.targets)

    def _add_item_assignment(self, node: Any) -> None:
        """Record `x = ag__.put(value, x, key)`, which was `x[key] = value`."""
        target, *keys = node.value.args[1 if node.value.func.attr == "put" else 2 :]
        for key in keys:
            target = gast.Subscript(target, key, gast.Load())
        block = self._block
        while block is not None:
            block.puts.append(target)
            block = block.parent
        rebound = self._rebound
        self._evaluate(node.value, *node.targets)
        self._rebound = rebound

    def _AugAssign(self, node: Any) -> None:
        self._add_locations([node.target])
        if isinstance(node.target, gast.Name) and contains(node.value, gast.NamedExpr):
            found = Found()
            found.reads.append(Reading(node.target, False, False))
            self._add(found)
            self._evaluate(node.value, node.target)
        else:
            self._evaluate(node)

    def _AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self._add_locations([node.target])
            self._evaluate(node.value, node.target)  # functions do not evaluate annotations
        elif isinstance(node.target, gast.Name):
            self._bit(node.target.id)
            self._hoist(node)

    def _Global(self, node: Any) -> None:
        for name in node.names:
            self._bit(name)
            self.declared[name] = type(node).__name__.lower()
        self._hoist(node)

    _Nonlocal = _Global

    def _hoist(self, declaration: gast.stmt) -> None:
        if self._block is not None:
            self.hoisted.append(declaration)

    def _add_locations(self, targets: list[gast.expr]) -> None:
        """Record the attributes and items among `targets` in each enclosing block."""
        for target in targets:
            if isinstance(target, (gast.Attribute, gast.Subscript)):
                block = self._block
                while block is not None:
                    block.locations.append(target)
                    block = block.parent
            elif isinstance(target, (gast.Tuple, gast.List)):
                self._add_locations(target.elts)


def _parts(node: Any) -> Iterable[Any]:
    """Return the direct parts of a node in the order of evaluation."""
    if isinstance(node, gast.Dict):
        return chain.from_iterable(zip(node.keys, node.values, strict=True))
    return gast.iter_child_nodes(node)  # type: ignore[no-any-return]


# These are not split at a walrus: a comprehension binds its name conditionally, a lambda binds none of ours.
_WHOLE = (gast.Name, gast.Lambda, *COMPREHENSIONS)
