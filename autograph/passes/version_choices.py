"""Split the statements of a function that may begin a graph while it runs into choices between two versions.

    for x in xs:                       for x in xs:
        t = 0                              if ag__.building:
        if x > 0:                              t = 0
            t = x                              if x > 0:
                               ==>                 t = x
                                           else:
                                               …                               the same statements again
        if t and x:                        if (t and x if ag__.building else t and x):
            yield t                            yield t

No graph begins inside of statements that neither suspend the function nor contain a `with` block. The passes then
change both branches, in which they see the same variables. `conversion/statement_versions.py` replaces the second
branch by the user's version, so this pass serves compiled code only."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import reads_own_frame, static
from ..syntax.template import Template
from ..syntax.tree_queries import (
    ASYNC,
    FUNCTIONS,
    LOOPS,
    SUSPENSIONS,
    WITHS,
    Statements,
    at,
    blocks,
    contains,
    docstring_end,
    evolve,
    inside,
    is_compound,
    walk,
    with_blocks,
    with_children,
)

BUILDING = Template("$ag.building")

# Nested functions have both versions already. A `return` may be lowered to assignments, and an annotated variable may
# become one of the function around.
_SCOPES = (*FUNCTIONS, gast.ClassDef, gast.Global, gast.Nonlocal)
_KEPT = (*SUSPENSIONS, *WITHS, *ASYNC, *_SCOPES, gast.Return, gast.AnnAssign)
_LISTS = (gast.ListComp, gast.SetComp, gast.DictComp)
_LOGIC = (gast.BoolOp, gast.UnaryOp, gast.IfExp, gast.Compare)
_CHANGED = (*_LOGIC, *_LISTS, gast.GeneratorExp, gast.Call, gast.Subscript, gast.If, gast.Match, *LOOPS)


def may_begin_graph(function: Any) -> bool:
    """Return whether a graph may begin while the function runs: in a `with` block, or while it is suspended."""
    body = function.body
    return contains(body, (*WITHS, *SUSPENSIONS, gast.AsyncFor)) or _has_async_comprehension(body)


def split(tree: Any, ag: str) -> Any:
    """Return the tree with choices in all functions that may begin a graph. The second version is the first one."""
    if {*map(type, walk(tree))}.isdisjoint((*WITHS, *SUSPENSIONS, gast.AsyncFunctionDef)):
        return tree  # as most functions
    return _Split(ag).visit(tree)


class _Split:
    def __init__(self, ag: str) -> None:
        self.ag = ag

    def visit(self, node: Any) -> Any:
        new = with_children(node, self.visit)
        if not isinstance(node, FUNCTIONS) or isinstance(node, gast.Lambda):
            return new
        if not may_begin_graph(node) or reads_own_frame(node.body):
            return new
        start = docstring_end(new.body)
        return evolve(new, body=[*new.body[:start], *self.block(new.body[start:])])

    def block(self, body: Statements) -> Statements:
        """Return a block in which each run of statements that no graph can interrupt is a choice."""
        new: Statements = []
        run: Statements = []
        for statement in body:
            if _is_uninterrupted(statement):
                run.append(statement)
            else:
                new += [*self.choice(run), self.statement(statement)]
                run = []
        return new + self.choice(run)

    def blocks(self, statement: Any) -> list[Statements]:
        if isinstance(statement, gast.If) and not contains(statement, (*SUSPENSIONS, *ASYNC)):
            match statement.orelse:
                case [gast.If() as elif_]:  # a chain of `elif` is staged as a whole
                    return [self.block(statement.body), [self.statement(elif_)]]
        return [self.block(part) for part in blocks(statement)]

    def choice(self, run: Statements) -> Statements:
        if not contains(run, _CHANGED):
            return run
        return [at(gast.If(self.test(run[0]), run, run), run[0])]

    def statement(self, statement: Any) -> Any:
        """Return a statement that has no choice as a whole."""
        if isinstance(statement, (*FUNCTIONS, gast.ClassDef)):
            return statement
        if is_compound(statement):
            statement = with_blocks(statement, self.blocks(statement))
            field = "test"
        else:
            field = "value"
        value = statement.__dict__.get(field)
        return statement if value is None else evolve(statement, **{field: self.expression(value)})

    def expression(self, node: Any) -> Any:
        """Return an expression in which each outermost logical expression is a choice."""
        if isinstance(node, (gast.Yield, gast.Await, gast.NamedExpr, gast.Tuple)):
            return with_children(node, self.expression)
        is_logic = isinstance(node, _LOGIC) and not static(node)
        if not is_logic and not isinstance(node, _LISTS):
            return node
        if contains(node, (*_KEPT, gast.NamedExpr)) or _has_async_comprehension(node):
            return node
        return at(gast.IfExp(self.test(node), node, node), node)

    def test(self, first: Any) -> Any:
        start = evolve(first, end_lineno=first.lineno, end_col_offset=first.col_offset)
        return BUILDING.expression(start, ag=self.ag)


def _is_uninterrupted(statement: gast.stmt) -> bool:
    """Return whether no graph begins inside of the statement, and no jump leads out of it."""
    return not (contains(statement, _KEPT) or _has_async_comprehension(statement) or _leaves_loop(statement))


def _has_async_comprehension(node: Any) -> bool:
    return any(isinstance(part, gast.comprehension) and part.is_async for part in inside(node))


def _leaves_loop(statement: gast.stmt) -> bool:
    if isinstance(statement, (gast.Break, gast.Continue)):
        return True
    parts = [statement.orelse] if isinstance(statement, LOOPS) else blocks(statement)
    return any(_leaves_loop(inner) for part in parts for inner in part)


def is_choice(node: Any, ag: str) -> bool:
    """Return whether a node is a choice that `split` has made."""
    test = node.test if isinstance(node, (gast.If, gast.IfExp)) else None
    if not isinstance(test, gast.Attribute) or test.attr != "building":
        return False
    return isinstance(test.value, gast.Name) and test.value.id == ag
