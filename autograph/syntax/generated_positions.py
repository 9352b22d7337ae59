"""Positions of generated code: the user's statement that it was generated for, on one line.

for x in xs:            line 1              def loop_body(x): …      line 1
    f(x)                line 2    ==>           f(x)                 line 2
                                            ag__.for_loop(…)         line 1
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from .positions import Extent, extent_of, lines_of
from .tree_queries import BLOCK_FIELDS, INNER, Node, evolve, position

if TYPE_CHECKING:
    from .gast_bridge import NewNodes

# Operators whose first argument is a function; of the others it is a value.
_ONLY_FUNCTIONS = ("while_loop", "cell", "attr", "item")


def settle(new: NewNodes, calls: Sequence[ast.Call], generated: Collection[str], text: str) -> None:
    """Move what was generated for a compound statement to the first line of that statement, in place.

    `new` are the nodes of a tree that are not the user's, `calls` those that call operators.

        for x in xs:            line 1              def loop_body(x): …      line 1, not 2, where its body is
            f(x)                line 2    ==>           f(x)                 line 2
                                                    ag__.for_loop(…)         line 1, not 1 to 2

    A statement's position reaches to the end of its last block. Python puts a method call that does so on the
    last line, and a debugger would jump there.
    """
    statements = [statement for kind in _SIMPLE for statement in new[kind]]
    if any(node.end_lineno != node.lineno for node in chain(statements, calls)):
        known = {id(node) for nodes in new.values() for node in nodes}
        of_operators = set(map(id, calls))
        for statement in statements:
            _settle_statement(statement, of_operators, lines_of(text), known)
    for kind, fields in _BLOCKS.items():
        for node in new[kind]:
            for field in fields:
                _move_functions(getattr(node, field), generated)


_BLOCKS = {
    getattr(ast, kind.__name__): [field for field in fields if field not in ("handlers", "cases")]
    for kind, fields in BLOCK_FIELDS.items()
    if hasattr(ast, kind.__name__)
}
_SIMPLE = (ast.Assign, ast.Expr, ast.Return)


def _move_functions(block: list[Any], generated: Collection[str]) -> None:
    """Move each generated function of a block to what it was generated for, which comes after it."""
    origin = None
    for statement in reversed(block):
        if type(statement) is not ast.FunctionDef or statement.name not in generated:
            origin = statement
        elif origin is not None:
            statement.__dict__.update(position(origin))


def _settle_statement(
    statement: ast.stmt, calls: Collection[int], lines: Sequence[str], new: Collection[int]
) -> None:
    """End the operators' calls in a statement on their first line, and all that goes just as far as one of them."""
    nodes: list[Any] = list(_walk(statement, new))
    extents = {extent_of(node) for node in nodes if id(node) in calls}
    own = extent_of(statement)
    ends = {extent: _end_on_first_line(extent, lines) for extent in extents if extent[0] != extent[2]}
    for node in nodes:
        end = ends.get(extent_of(node)) if "lineno" in node._attributes else None
        if end is not None:
            node.end_lineno, node.end_col_offset = end
    if extents and own[0] != own[2]:
        statement.end_lineno, statement.end_col_offset = _end_on_first_line(own, lines)


def _walk(node: ast.AST, new: Collection[int]) -> Iterator[ast.AST]:
    """Yield the node and the new ones below it; below the user's nodes there is nothing new."""
    pending: list[Any] = [node]
    while pending:
        node = pending.pop()
        yield node
        values = node.__dict__
        for field in INNER[type(node)]:
            value = values.get(field)
            if type(value) is list:
                pending += [part for part in value if id(part) in new]
            elif id(value) in new:
                pending.append(value)


def on_first_line(statement: Node, text: str) -> Node:
    """Return the extent of a statement on its first line; nodes that `stage_blocks` makes for it get this extent."""
    lines = lines_of(text)
    if statement.end_lineno == statement.lineno or statement.lineno > len(lines):
        return statement
    line, column = _end_on_first_line(extent_of(statement), lines)
    return evolve(statement, end_lineno=line, end_col_offset=column)


def _end_on_first_line(extent: Extent, lines: Sequence[str]) -> tuple[int, int]:
    """Return the end of a node that begins there, limited to that line."""
    line, column, _, _ = extent
    return line, max(len(lines[line - 1].rstrip().encode()), column)


def operator_calls(new: NewNodes, ag: str) -> list[ast.Call]:
    """Return the calls of operators, such as `ag__.cond(…)`, among the nodes that are not the user's."""
    return [call for call in new[ast.Call] if _is_operator(call.func, ag)]


def _is_operator(function: Any, ag: str) -> bool:
    return type(function) is ast.Attribute and type(function.value) is ast.Name and function.value.id == ag


def generated_lambdas(calls: Sequence[Any]) -> set[Extent]:
    """Return the positions of the bodies of lambdas that these operators take as arguments."""
    parts = (part for call in calls for part in _functions_of(call, call.func.attr))
    return {extent_of(part.body) for part in parts if type(part) is ast.Lambda}


def _functions_of(call: Any, operator: str) -> list[ast.expr]:
    """Return the arguments that an operator calls; those of `cases` come in pairs, a test and a branch."""
    if operator == "cases":
        pairs = [part for argument in call.args if isinstance(argument, ast.Tuple) for part in argument.elts]
        return pairs + [keyword.value for keyword in call.keywords if keyword.arg == "orelse"]
    arguments: list[ast.expr] = call.args
    return arguments if operator in _ONLY_FUNCTIONS else arguments[1:]
