"""Find the line of the user's file that each line of generated code comes from.

    tree, with the user's positions                 text printed from the tree

    7  while n > 1:                                 def loop_body(n):          7
    8      n = n // 2              ==>                  n = n // 2             8
                                                        return n               7
                                                    (n,) = ag__.while_loop(    7

The text parses to a tree of the same shape, so both trees are walked in parallel.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .nesting import deep_trees

Lines = tuple[int | None, ...]


def line_origins(tree: ast.AST, text: str) -> Lines:
    """Return for each line of `text`, printed from `tree`, the line of the user's file; None for an added line.

    >>> tree = ast.parse("x = 1\\n\\n\\ny = (x +\\n  2)")
    >>> line_origins(tree, "x = 1\\ny = x + 2\\n")
    (1, 4)
    """
    with deep_trees():
        printed = ast.parse(text)
        found: dict[
            int, tuple[int, int]
        ] = {}  # printed line → column of its first node, line of the user's file
        covered: dict[int, int] = {}
        for new, old in _pairs(printed, tree):
            line = _line_of(old)
            place = getattr(new, "lineno", None), getattr(new, "col_offset", 0)
            if line is None or place[0] is None:
                continue
            if place[0] not in found or place[1] < found[place[0]][0]:
                found[place[0]] = place[1], line
            if isinstance(new, ast.stmt):  # a later statement is nested in an earlier one
                covered.update(_covered(new, old, line))
    count = len(text.splitlines())
    return tuple(found[n][1] if n in found else covered.get(n) for n in range(1, count + 1))


def _line_of(node: ast.AST) -> int | None:
    """Return the line of a node; None for a node that a pass added without a position."""
    line: int | None = getattr(node, "lineno", None)
    is_empty = (line, getattr(node, "col_offset", 0)) == (
        getattr(node, "end_lineno", None),
        getattr(node, "end_col_offset", None),
    )
    return None if is_empty else line


def _covered(new: ast.stmt, old: ast.AST, line: int) -> dict[int, int]:
    """Return the lines of a statement up to its nested statements; one with as many lines as before has the same."""
    last = _end_of_head(new)
    step = int(last - new.lineno == getattr(old, "end_lineno", line) - line)
    return {number: line + step * (number - new.lineno) for number in range(new.lineno, last + 1)}


def _end_of_head(statement: ast.stmt) -> int:
    """Return the last line before the nested statements of a block; of another statement, its last line."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if body:
        first: int = getattr(body[0], "lineno", None) or body[0].pattern.lineno  # a case of `match`
        return max(statement.lineno, first - 1)
    return statement.end_lineno or statement.lineno


def _pairs(new: ast.AST, old: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the nodes of two trees that correspond, each before the nodes below it."""
    pending = [(new, old)]
    while pending:
        pair = pending.pop()
        if type(pair[0]) is not type(pair[1]):
            continue
        yield pair
        below = list(_below(*pair))
        pending += reversed(below)


def _below(new: ast.AST, old: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for name, value in ast.iter_fields(new):
        other = getattr(old, name, None)
        if isinstance(value, ast.AST) and isinstance(other, ast.AST):
            yield value, other
        elif isinstance(value, list) and isinstance(other, list):
            both = zip(value, other, strict=False)
            yield from ((a, b) for a, b in both if isinstance(a, ast.AST) and isinstance(b, ast.AST))
