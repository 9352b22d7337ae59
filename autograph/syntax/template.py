"""Code templates whose holes are visible.

    FLAGGED = Template('''
        $flag = False
        $body
        if not $flag:
            $rest
    ''')
    FLAGGED(origin, flag="stop", body=[loop], rest=statements)

A hole takes a name (a string), an expression, a list of expressions (among arguments or elements) or a list
of statements. A hole that is missing or unknown raises. A statement whose body comes out empty is left out.
New nodes get the position of `origin`; what fills a hole keeps its own, if it has one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import Any, TypeAlias

import gast

from .tree import Statements, at, position

Filling: TypeAlias = Any  # a string, a node, or a sequence of nodes

_MARK = "hole__"


class Template:
    """Statements with `$holes`, parsed once."""

    def __init__(self, code: str) -> None:
        self.holes = frozenset(re.findall(r"\$(\w+)", code))
        self.body: Statements = gast.parse(re.sub(r"\$(\w+)", rf"{_MARK}\1", dedent(code))).body

    def __call__(self, origin: gast.AST, **fillings: Filling) -> Statements:
        """The statements, with every hole filled."""
        if fillings.keys() != self.holes:
            missing, extra = sorted(self.holes - fillings.keys()), sorted(fillings.keys() - self.holes)
            raise TypeError(f"template holes do not match: missing {missing}, unknown {extra}")
        statements: Statements = _Expansion(fillings, origin).several(self.body)
        return statements

    def expression(self, origin: gast.AST, **fillings: Filling) -> gast.expr:
        """The same for a template that is one expression."""
        (statement,) = self(origin, **fillings)
        return statement.value


class _Expansion:
    def __init__(self, fillings: dict[str, Any], origin: gast.AST) -> None:
        self.fillings = fillings
        self.place = position(origin)
        for filling in fillings.values():
            for node in (
                [] if isinstance(filling, str) else [filling] if isinstance(filling, gast.AST) else filling
            ):
                at(node, origin)

    def several(self, nodes: Sequence[Any]) -> list[Any]:
        result = []
        for node in nodes:
            # A statement that consists of a hole stands for the statements that fill it.
            inner = node.value if isinstance(node, (gast.Expr, gast.Starred)) else node
            filling = self.filling(inner)
            if filling is not None and not isinstance(filling, (str, gast.AST)):
                result.extend(filling)
                continue
            new = self.one(node)
            if new is not None:
                result.append(new)
        return result

    def one(self, node: Any) -> Any:
        filling = self.filling(node)
        if isinstance(filling, gast.AST):
            return filling
        kind = type(node)
        new: Any = gast.AST.__new__(kind)
        values = new.__dict__
        for field in node._fields:
            values[field] = self.field(node.__dict__[field])
        if isinstance(node, gast.stmt) and getattr(node, "body", None) and not new.body:
            return None
        if new._attributes:
            new.__dict__.update(self.place)
        return new

    def field(self, value: Any) -> Any:
        if isinstance(value, list):
            return self.several(value)
        if isinstance(value, str) and value.startswith(_MARK):
            return self.fillings[value[len(_MARK) :]]
        return self.one(value) if isinstance(value, gast.AST) and value._fields else value

    def filling(self, node: Any) -> Any:
        """What fills the hole that `node` is; None if it is none."""
        if isinstance(node, gast.Name) and node.id.startswith(_MARK):
            return self.fillings[node.id[len(_MARK) :]]
        return None
