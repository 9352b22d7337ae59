"""Escape analysis: find the lists that do not escape a function, so that a staged block may work on copies.

    out = []
    for x in xs:
        if x > 0:
            out.append(x)          `out` is state of the `if` and of the loop, as if it were assigned
    return tf.stack(out)

A list is the function's own if the function creates it and it does not escape before its last change: no closure
captures it, and it is passed on, if at all, after that change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gast

from ..syntax.tree_queries import (
    COMPOUND,
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    Statements,
    blocks,
    children,
    is_call_of,
    root,
)
from .container_types import LIST_DISPLAYS, LISTS, Containers

CHANGES = frozenset({"append", "extend", "insert", "pop", "clear", "reverse"})
QUESTIONS = frozenset({"copy", "count", "index"})
# Built-in functions that keep no reference to a list argument. Libraries are trusted to keep none.
HARMLESS = frozenset({
    "len", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "enumerate", "zip",
    "reversed", "print", "repr", "str", "bool", "range", "isinstance", "type",
})  # fmt: skip
_READS = (
    gast.Subscript,
    gast.Compare,
    gast.UnaryOp,
    gast.FormattedValue,
    gast.BinOp,
    gast.Expr,
    gast.Starred,
)
_TESTS = (gast.If, gast.While, gast.Assert, gast.UnaryOp)


class _Use(NamedTuple):
    position: int  # in source order
    loops: tuple[gast.AST, ...]  # the enclosing loops


class UnescapedLists:
    """The variables that hold unescaped lists.

    `own` holds the variables, `reads` the names at which such a list is changed in place, and `changing` their ids."""

    def __init__(
        self,
        function: Any,
        ag: str,
        generated: set[str],
        is_builtin: Callable[[str], bool],
        is_library: Callable[[str], bool],
    ) -> None:
        self.ag, self._generated = ag, generated
        self._is_builtin, self._is_library = is_builtin, is_library
        self._names = self._variables(function) if _assigns_list(function.body) else set()
        self._changes: dict[str, list[_Use]] = {}
        self._gifts: dict[str, list[_Use]] = {}
        self._made: dict[str, list[_Use]] = {}  # assigned directly in the body of a loop
        self._lazily: set[str] = set()  # changed in an expression that may move into a lambda
        self._count = 0
        self._found: dict[int, gast.Name] = {}
        if self._names:
            for statement in function.body:
                self._visit(statement, (function, function), (), False)
        self.own = frozenset(filter(self._is_own, self._changes))
        self.reads = [name for name in self._found.values() if name.id in self.own]
        self.changing = set(map(id, self.reads))

    def _variables(self, function: Any) -> set[str]:
        """Return the local variables that can only hold lists and that no other function captures."""
        containers = Containers(function, self._is_builtin)
        names = {
            name
            for name, values in containers.bindings.items()
            if all(self._is_list(value, name, containers) for value in values)
        }
        return names & containers.local - containers.captured if names else names

    def _is_list(self, value: gast.expr | None, name: str, containers: Containers) -> bool:
        """Return whether a binding creates a new list or keeps the variable's list."""
        if value is None:
            return False
        if is_call_of(value, self.ag, "put", "put_updated"):
            return True
        if isinstance(value, gast.AugAssign):
            return isinstance(value.op, (gast.Add, gast.Mult))
        if isinstance(value, gast.BinOp) and isinstance(value.op, (gast.Mult, gast.Add)):
            return containers.is_list(value.left) or containers.is_list(value.right)
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return isinstance(value.value, gast.Name) and value.value.id == name
        return containers.is_list(value)

    def _is_own(self, name: str) -> bool:
        if name in self._lazily:
            return False
        gifts = self._gifts.get(name, ())
        return all(self._is_final(name, change, gift) for change in self._changes[name] for gift in gifts)

    def _is_final(self, name: str, change: _Use, gift: _Use) -> bool:
        """Return whether the list that escapes at `gift` is not affected by `change`."""
        common = [loop for loop in change.loops if loop in gift.loops]
        # An iteration that starts with a new list does not reach the list of the previous iteration.
        made = self._made.get(name, ())
        is_new = not common or any(
            use.position < change.position and use.loops == tuple(common) for use in made
        )
        return is_new and change.position < gift.position

    # The walk: `above` holds the enclosing nodes, outermost first.

    def _visit(self, node: Any, above: tuple[Any, ...], loops: tuple[gast.AST, ...], lazy: bool) -> None:
        if isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            return  # captured variables are excluded already
        if isinstance(node, gast.Name):
            if node.id in self._names:
                self._name(node, above, loops, lazy)
            return
        inner = (*loops, node) if isinstance(node, LOOPS) else loops
        for child in children(node):
            self._visit(child, (*above, node), inner, lazy or _is_lazy(node, child, above))

    def _name(self, node: Any, above: tuple[Any, ...], loops: tuple[gast.AST, ...], lazy: bool) -> None:
        self._count += 1
        use = _Use(self._count, loops)
        if self._changes_list(node, above):
            self._changes.setdefault(node.id, []).append(use)
            self._found[id(node)] = node
            if lazy:
                self._lazily.add(node.id)
        elif isinstance(node.ctx, gast.Store) and isinstance(above[-1], gast.Assign):
            if isinstance(above[-2], LOOPS):
                self._made.setdefault(node.id, []).append(use)
        elif isinstance(node.ctx, gast.Load) and self._gives_away(above):
            self._gifts.setdefault(node.id, []).append(use)

    def _changes_list(self, node: Any, above: tuple[Any, ...]) -> bool:
        parent, around = above[-1], above[-2]
        if isinstance(parent, gast.Attribute):
            return parent.attr in CHANGES and isinstance(around, gast.Call) and around.func is parent
        if isinstance(parent, gast.Subscript):
            return not isinstance(parent.ctx, gast.Load) and parent.value is node
        if isinstance(parent, gast.AugAssign):
            return bool(parent.target is node)
        return is_call_of(parent, self.ag, "put", "put_updated") and isinstance(node.ctx, gast.Load)

    def _gives_away(self, above: tuple[Any, ...]) -> bool:
        """Return whether other code may keep a reference to the list that is read here."""
        parent, around = above[-1], above[-2]
        if isinstance(parent, gast.Attribute):
            return parent.attr not in QUESTIONS or not isinstance(around, gast.Call)
        if isinstance(parent, (*_READS, *_TESTS, *LOOPS, gast.comprehension, gast.AugAssign, gast.Return)):
            return False
        if isinstance(parent, gast.BoolOp):
            return not isinstance(around, (*_TESTS, gast.BoolOp))
        if isinstance(parent, gast.Call):
            return not is_call_of(parent, self.ag, "until") and not self._is_harmless(parent.func)
        if isinstance(parent, gast.Tuple) and isinstance(around, gast.Return):
            return False
        targets = getattr(parent, "targets", ())
        return not any(isinstance(target, gast.Name) and target.id in self._generated for target in targets)

    def _is_harmless(self, func: Any) -> bool:
        if isinstance(func, gast.Attribute) and func.attr == "extend":
            return True
        name = root(func)
        if name is None:
            return False
        if isinstance(func, gast.Name) and self._is_builtin(name):
            return name in HARMLESS
        return self._is_library(name)


def _assigns_list(body: Statements) -> bool:
    """Return whether some statement seems to bind a variable to a new list.

    Most functions have no such statement, so this cheap check over statements comes first."""
    for statement in body:
        kind = type(statement)
        if kind in COMPOUND:
            if any(map(_assigns_list, blocks(statement))):
                return True
        elif kind is gast.Assign or kind is gast.AnnAssign:
            value = statement.value
            if any(map(_seems_list, value.elts if isinstance(value, gast.Tuple) else [value])):
                return True
    return False


def _seems_list(value: gast.expr | None) -> bool:
    """Return whether an expression creates a new list, provided that no name in it is rebound."""
    if isinstance(value, gast.BinOp):
        return _seems_list(value.left) or _seems_list(value.right)
    if isinstance(value, gast.Call):
        return isinstance(value.func, gast.Name) and value.func.id in LISTS
    return isinstance(value, LIST_DISPLAYS)


def _is_lazy(node: Any, child: Any, above: tuple[Any, ...]) -> bool:
    """Return whether `child` of `node` is evaluated conditionally or repeatedly."""
    match node:
        case gast.IfExp(test=first) | gast.BoolOp(values=[first, *_]):
            return child is not first
        case gast.Compare(comparators=[_, *later]):
            return child in later
        case gast.While(test=test):
            return child is test
        case gast.If(test=test):
            return child is test and isinstance(above[-1], gast.If) and above[-1].orelse == [node]
        case gast.Assert(msg=message):
            return child is message
    return isinstance(node, COMPREHENSIONS)
