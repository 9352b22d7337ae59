"""Function multiversioning: the converted version runs while values are staged, else the user's own code.

    def f(x):                          def f(x):
        while x > 1:                       if ag__.live:
            x = step(x)          ==>           def ag__version(x):
        return x                                   (x,) = ag__.while_loop(…)  the output of `agc convert`
                                                   return x
                                               return ag__version(x)
                                           else:
                                               while x > 1:                   the user's own code
                                                   x = step(x)
                                               return x

Code runs far more often with plain values than while a graph is built. Then its speed, its stack depth and its
lines for tools are the same as before. Only compiled code has both versions; printed code has the converted version.

A function of `convert` in which a graph may begin has the converted version, with both versions of its statements: see
statement_versions.py.

A module that is converted as a whole reads `ag__.live`. A function of `convert` reads `ag__.building`, because it is
staged in graphs of `tf.function(f, autograph=False)`, too. Its own version converts callees: `ag__.converted(step)(x)`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import gast

from ..passes.version_choices import may_begin_graph
from ..syntax.gast_bridge import Translation
from ..syntax.node_builders import load, parameter
from ..syntax.template import Template
from ..syntax.tree_queries import (
    DEFINITIONS,
    FUNCTIONS,
    Statements,
    at,
    blocks,
    contains,
    docstring_end,
    evolve,
    is_compound,
    parameters,
    with_blocks,
    with_children,
)
from .statement_versions import StatementVersions, without_marks

Key = tuple[type, str, int, int]

DECLARATIONS = (gast.Global, gast.Nonlocal)
LIVE = Template("$ag.live")
BUILDING = Template("$ag.building")
APART = Template("""
    def $name($parameters):
        $body
    return $name($arguments)
""")


def with_both_versions(
    translation: Translation,
    after: gast.Module,
    ag: str,
    own: gast.Module | None = None,
    test: Template = LIVE,
) -> gast.Module:
    """Return the tree before a conversion, with both versions in the functions that the conversion changed.

    `own` is the tree with the user's version, by default as it is.
    """
    before: gast.Module = own or translation.tree
    functions = (node for node in translation.made(after) if isinstance(node, FUNCTIONS))
    # A node without a position was generated.
    changed = {_key(function): function for function in functions if "lineno" in function.__dict__}
    if not changed:
        return before
    module: gast.Module = _Join(translation, changed, ag, test).visit(before)
    return module


def _key(function: Any) -> Key:
    """Return the properties of a function that conversion preserves."""
    return type(function), getattr(function, "name", ""), function.lineno, function.col_offset


class _Join:
    """Traverses the user's tree down to the functions that the conversion changed."""

    def __init__(self, translation: Translation, converted: dict[Key, Any], ag: str, test: Template) -> None:
        self.translation = translation
        self.converted = converted
        self.condition = test
        self.starts = sorted({line for _, _, line, _ in converted})
        self.ag = ag
        self.joined: dict[int, Any] = {}  # id of a converted function → the function with both versions

    def visit(self, node: Any) -> Any:
        if not self.reaches(node):
            return node
        new = self.children(node)
        if isinstance(node, FUNCTIONS):
            other = self.converted.get(_key(node))
            if other is not None and other.body is not node.body:
                new = self.joined[id(other)] = self.function(new, other)
            else:
                new = without_marks(new, self.translation)
        return new

    def reaches(self, node: Any) -> bool:
        """Return whether a changed function begins on one of the lines of a node."""
        first = node.__dict__.get("lineno")
        if first is None:  # for example, the signature of a function
            return True
        next_one = bisect_left(self.starts, first)
        return next_one < len(self.starts) and self.starts[next_one] <= node.end_lineno

    def children(self, node: Any) -> Any:
        return with_children(node, self.visit)

    def function(self, own: Any, converted: Any) -> Any:
        """Return the function with both versions.

        `own` is the user's version, in which the nested functions have both versions already.
        """
        if self.condition is BUILDING and may_begin_graph(own):
            versions = StatementVersions(own.body, self.ag, self.test)
            return evolve(own, body=self.with_both(converted, versions).body)
        if self.condition is BUILDING and contains(own.body, (*DEFINITIONS, gast.ClassDef)):
            converted = without_marks(converted, self.translation)
        if isinstance(own, gast.Lambda):
            choice = gast.IfExp(self.test(own.body), converted.body, own.body)
            return evolve(own, body=at(choice, own.body))
        start = docstring_end(own.body)
        head, rest = own.body[:start], own.body[start:]
        if not rest:
            return own
        end = docstring_end(converted.body)
        theirs = converted.body[end:]
        first = (getattr(rest[0], "decorator_list", None) or rest)[0]
        declared = _declarations(rest)
        if isinstance(own, gast.FunctionDef) and not contains(own.body, (gast.Yield, gast.YieldFrom)):
            theirs = self.apart([*_declarations(converted.body[:end]), *theirs], own, first)
        else:  # the frame of a generator or coroutine is what suspends
            theirs = _undeclared(theirs)
        rest = _undeclared(rest) if declared else rest
        choice = gast.If(self.test(first), theirs, rest)
        return evolve(own, body=[*head, *declared, at(choice, first)])

    def apart(self, converted: Statements, function: Any, first: Any) -> Statements:
        """Return the converted version as a function of its own, and its call.

        Otherwise the variables that its blocks read would be cells in the user's version, too. Python adds to a text
        in place (`text += part`) only in a plain local variable, and reads that faster.
        """
        names = [each.id for each in parameters(function)]
        return APART(
            _start(first),
            name=f"{self.ag}version",
            parameters=list(map(parameter, names)),
            body=converted,
            arguments=list(map(load, names)),
        )

    def with_both(self, converted: Any, versions: StatementVersions) -> Any:
        """Return a converted function in which nested functions and uninterrupted statements have both versions."""

        def visit(node: Any) -> Any:
            if self.translation.came_in(node):
                return node
            joined = self.joined.get(id(node))
            if joined is not None:  # the code around evaluates decorators and defaults
                return evolve(node, body=joined.body)
            return versions.resolved(node) or with_children(node, visit)

        return with_children(converted, visit)

    def test(self, first: Any) -> Any:
        """Return the test, on the first line of the function's own code: no tool sees an additional line."""
        return self.condition.expression(_start(first), ag=self.ag)


def _start(node: Any) -> Any:
    """Return a node at the place where `node` starts, without extent."""
    return evolve(node, end_lineno=node.lineno, end_col_offset=node.col_offset)


def _declarations(body: Statements) -> Statements:
    """Return the `global` and `nonlocal` statements.

    They apply to the whole function and may occur only once.
    """
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
