"""Two halves of a function: the converted one while values are staged, the user's own at all other times.

    def f(x):                          def f(x):
        while x > 1:                       if ag__.live:
            x = step(x)          ==>           (x,) = ag__.while_loop(…)      as `agc convert` shows it
        return x                               return x
                                           else:
                                               while x > 1:                   the user's very own code
                                                   x = step(x)
                                               return x

For code that is converted where it is: a module that is imported or run, a method that Python calls. It runs far
more often with plain values than while a graph is built, and then it is as fast as before, as deep on the stack, and
the same for every tool. This is how such code is compiled; what is printed is the conversion alone.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import is_not
from typing import Any

import gast

from ..syntax.gast_bridge import Translation
from ..syntax.template import Template
from ..syntax.tree_queries import (
    FUNCTIONS,
    INNER,
    Statements,
    at,
    blocks,
    docstring_end,
    evolve,
    is_compound,
    with_blocks,
)

Key = tuple[type, str, int, int]

DECLARATIONS = (gast.Global, gast.Nonlocal)
LIVE = Template("$ag.live")


def with_both_versions(translation: Translation, after: gast.Module, ag: str) -> gast.Module:
    """The tree before a conversion, in which the functions that it changed have both halves."""
    before: gast.Module = translation.tree
    functions = (node for node in translation.made(after) if isinstance(node, FUNCTIONS))
    # What has no position of its own was generated.
    changed = {_key(function): function for function in functions if "lineno" in function.__dict__}
    if not changed:
        return before
    module: gast.Module = _Join(changed, ag).visit(before)
    return module


def _key(function: Any) -> Key:
    """What a function keeps when it is converted."""
    return type(function), getattr(function, "name", ""), function.lineno, function.col_offset


class _Join:
    """Goes over the user's own tree, to where the functions that were changed begin."""

    def __init__(self, converted: dict[Key, Any], ag: str) -> None:
        self.converted = converted
        self.starts = sorted({line for _, _, line, _ in converted})
        self.ag = ag

    def visit(self, node: Any) -> Any:
        if not self.reaches(node):
            return node
        new = self.children(node)
        if isinstance(node, FUNCTIONS):
            other = self.converted.get(_key(node))
            if other is not None and other.body is not node.body:
                return self.function(new, other)
        return new

    def reaches(self, node: Any) -> bool:
        """Whether a function that was changed begins on one of the lines of a node."""
        first = node.__dict__.get("lineno")
        if first is None:  # such as the signature of a function
            return True
        next_one = bisect_left(self.starts, first)
        return next_one < len(self.starts) and self.starts[next_one] <= node.end_lineno

    def children(self, node: Any) -> Any:
        changes = {}
        for field in INNER[type(node)]:
            value = node.__dict__.get(field)
            if type(value) is list:
                new: Any = [part and self.visit(part) for part in value]
                if any(map(is_not, new, value)):
                    changes[field] = new
            elif value is not None:
                new = self.visit(value)
                if new is not value:
                    changes[field] = new
        return evolve(node, **changes) if changes else node

    def function(self, own: Any, converted: Any) -> Any:
        """The function with both halves; `own` is the user's, with the functions inside it joined."""
        if isinstance(own, gast.Lambda):
            choice = gast.IfExp(self.test(own.body), converted.body, own.body)
            return evolve(own, body=at(choice, own.body))
        start = docstring_end(own.body)
        head, rest = own.body[:start], own.body[start:]
        if not rest:
            return own
        theirs = converted.body[docstring_end(converted.body) :]
        first = (getattr(rest[0], "decorator_list", None) or rest)[0]
        declared = _declarations(rest)
        if declared:
            theirs, rest = _undeclared(theirs), _undeclared(rest)
        choice = gast.If(self.test(first), theirs, rest)
        return evolve(own, body=[*head, *declared, at(choice, first)])

    def test(self, first: Any) -> Any:
        """`ag__.live`, on the line where the function's own code starts, so that no tool sees a line more."""
        start = evolve(first, end_lineno=first.lineno, end_col_offset=first.col_offset)
        return LIVE.expression(start, ag=self.ag)


def _declarations(body: Statements) -> Statements:
    """The `global` and `nonlocal` statements, which hold for the whole function and may stand there once."""
    found: Statements = []
    for statement in body:
        if isinstance(statement, DECLARATIONS):
            found.append(statement)
        elif is_compound(statement):
            for block in blocks(statement):
                found += _declarations(block)
    return found


def _undeclared(body: Statements) -> Statements:
    result: Statements = []
    for statement in body:
        if isinstance(statement, DECLARATIONS):
            result.append(at(gast.Pass(), statement))
        elif is_compound(statement):
            result.append(with_blocks(statement, map(_undeclared, blocks(statement))))
        else:
            result.append(statement)
    return result
