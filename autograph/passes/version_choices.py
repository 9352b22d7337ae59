"""Mark the code of a function that has two versions, if a graph may begin while the function runs.

    for x in xs:                       for x in xs:
        t = 0                              VersionedBlock(
        if x > 0:                              t = 0
            t = x              ==>             if x > 0:
                                                   t = x)
        if t and x:                        if VersionedValue(t and x):
            yield t                            yield t

No graph begins inside of statements that neither suspend the function nor contain a `with` block. The passes change
what is inside of a mark. `conversion/statement_versions.py` replaces it by a choice between the converted version and
the user's version, so this pass serves compiled code only.

A mark contains a `return` only if the `return` is the first one of the function, and no block but `with` is around it.
Other blocks become functions, and so does the code after a `return`: the user's `return` would leave these functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from ..analysis.binding_time import reads_own_frame, static
from ..syntax.tree_queries import (
    ASYNC,
    BLOCK_FIELDS,
    DEFINITIONS,
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
from ..syntax.versioned import VersionedBlock, VersionedValue

# Nested functions have both versions already. An annotated variable may become one of the function around.
_SCOPES = (*FUNCTIONS, gast.ClassDef, gast.Global, gast.Nonlocal)
_KEPT = frozenset({*SUSPENSIONS, *WITHS, *ASYNC, *_SCOPES, gast.AnnAssign})
_LISTS = (gast.ListComp, gast.SetComp, gast.DictComp)
_LOGIC = (gast.BoolOp, gast.UnaryOp, gast.IfExp, gast.Compare)
_CHANGED = (*_LOGIC, *_LISTS, gast.GeneratorExp, gast.Call, gast.Subscript, gast.If, gast.Match, *LOOPS)
_GRAPHS = (*WITHS, *SUSPENSIONS, gast.AsyncFor)


def may_begin_graph(function: Any) -> bool:
    """Return whether a graph may begin while the function runs: in a `with` block, or while it is suspended."""
    return _may_begin_graph(inside(function.body))


def _may_begin_graph(nodes: list[gast.AST]) -> bool:
    return not {*map(type, nodes)}.isdisjoint(_GRAPHS) or _has_async_comprehension(nodes)


def split(tree: Any) -> Any:
    """Return the tree with marks in all functions that may begin a graph."""
    return _split(tree) if _may_begin_graph(walk(tree)) else tree


def _split(node: Any) -> Any:
    """Return a node with marks in the functions among its statements."""
    if type(node) not in BLOCK_FIELDS:
        return node
    parts = [(part, [_split(statement) for statement in part]) for part in blocks(node)]
    new = with_blocks(node, [part if after == part else after for part, after in parts])
    if not isinstance(node, DEFINITIONS) or not may_begin_graph(node) or reads_own_frame(node.body):
        return new
    start = docstring_end(new.body)
    return evolve(new, body=[*new.body[:start], *_block(new.body[start:], returns=True)])


def _block(body: Statements, returns: bool = False) -> Statements:
    """Return a block in which each run of statements that no graph can interrupt is marked.

    With `returns`, a mark may contain the first `return`."""
    new: Statements = []
    run: Statements = []
    is_changed = False
    for statement in body:
        nodes = inside(statement)
        kinds = {*map(type, nodes)}
        if _is_uninterrupted(statement, nodes, kinds) and (returns or gast.Return not in kinds):
            run.append(statement)
            is_changed |= not kinds.isdisjoint(_CHANGED)
        else:
            returns &= not contains(run, gast.Return)
            new += [*_marked(run, is_changed), _statement(statement, returns)]
            returns &= gast.Return not in kinds
            run, is_changed = [], False
    return new + _marked(run, is_changed)


def _marked(run: Statements, is_changed: bool) -> Statements:
    return [at(VersionedBlock(run), run[0])] if is_changed else run


def _statement(statement: Any, returns: bool = False) -> Any:
    """Return a statement that is not marked as a whole."""
    if isinstance(statement, (*FUNCTIONS, gast.ClassDef)):
        return statement
    if is_compound(statement):
        statement = with_blocks(statement, _blocks(statement, returns and isinstance(statement, WITHS)))
        field = "test"
    else:
        field = "value"
    value = statement.__dict__.get(field)
    return statement if value is None else evolve(statement, **{field: _expression(value)})


def _blocks(statement: Any, returns: bool) -> list[Statements]:
    if isinstance(statement, gast.If) and not contains(statement, (*SUSPENSIONS, *ASYNC)):
        match statement.orelse:
            case [gast.If() as elif_]:  # a chain of `elif` is staged as a whole
                return [_block(statement.body), [_statement(elif_)]]
    return [_block(part, returns) for part in blocks(statement)]


def _expression(node: Any) -> Any:
    """Return an expression in which each outermost logical expression is marked."""
    if isinstance(node, (gast.Yield, gast.Await, gast.NamedExpr, gast.Tuple)):
        return with_children(node, _expression)
    is_logic = isinstance(node, _LOGIC) and not static(node)
    if not is_logic and not isinstance(node, _LISTS):
        return node
    nodes = inside(node)
    if not {*map(type, nodes)}.isdisjoint((*_KEPT, gast.NamedExpr)) or _has_async_comprehension(nodes):
        return node
    return at(VersionedValue(node), node)


def _is_uninterrupted(statement: gast.stmt, nodes: list[gast.AST], kinds: set[type]) -> bool:
    """Return whether no graph begins inside of the statement, and no jump leads out of it.

    `nodes` are those inside of it, and `kinds` their types."""
    if not kinds.isdisjoint(_KEPT) or _has_async_comprehension(nodes):
        return False
    return kinds.isdisjoint((gast.Break, gast.Continue)) or not _leaves_loop(statement)


def _has_async_comprehension(nodes: Iterable[gast.AST]) -> bool:
    return any(isinstance(part, gast.comprehension) and part.is_async for part in nodes)


def _leaves_loop(statement: gast.stmt) -> bool:
    if isinstance(statement, (gast.Break, gast.Continue)):
        return True
    parts = [statement.orelse] if isinstance(statement, LOOPS) else blocks(statement)
    return any(_leaves_loop(inner) for part in parts for inner in part)
