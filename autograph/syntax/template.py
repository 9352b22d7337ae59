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

import functools
import re
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, TypeAlias

import gast

from .tree_queries import Statements, position

Filling: TypeAlias = Any  # a string, a node, or a sequence of nodes

_MARK = "hole__"
_HOLE = re.compile(r"\$(\w+)")


# A function that makes a part of the new statements from the fillings of the holes and the position of new nodes.
Maker: TypeAlias = Callable[[dict[str, Filling], dict[str, int]], Any]


class Template:
    """Statements with `$holes`. They are parsed at the first use, and become functions that make them again."""

    def __init__(self, code: str) -> None:
        self._code = code

    @functools.cached_property
    def holes(self) -> frozenset[str]:
        return frozenset(_HOLE.findall(self._code))

    @functools.cached_property
    def _body(self) -> list[gast.stmt]:
        body: list[gast.stmt] = gast.parse(_HOLE.sub(rf"{_MARK}\1", dedent(self._code))).body
        return body

    @functools.cached_property
    def _make(self) -> Maker:
        return _several(self._body)

    @functools.cached_property
    def _make_value(self) -> Maker:
        return _one(self._body[0].value)

    def __call__(self, origin: gast.AST, **fillings: Filling) -> Statements:
        """Return the statements, with every hole filled."""
        self._check(fillings)
        statements: Statements = self._make(fillings, position(origin))
        return statements

    def expression(self, origin: gast.AST, **fillings: Filling) -> gast.expr:
        """Return the expression of a template that is one expression, with every hole filled."""
        self._check(fillings)
        value: gast.expr = self._make_value(fillings, position(origin))
        return value

    def _check(self, fillings: dict[str, Filling]) -> None:
        if fillings.keys() != self.holes:
            missing, extra = sorted(self.holes - fillings.keys()), sorted(fillings.keys() - self.holes)
            raise TypeError(f"template holes do not match: missing {missing}, unknown {extra}")


def _several(nodes: Sequence[Any]) -> Maker:
    """Return the maker of a list of nodes. The nodes that fill a hole replace the node that is this hole."""
    parts = []
    for node in nodes:
        inner = node.value if isinstance(node, (gast.Expr, gast.Starred)) else node
        parts.append((_hole(inner), _one(node)))

    def make(fillings: dict[str, Filling], span: dict[str, int]) -> list[Any]:
        result: list[Any] = []
        for hole, part in parts:
            if hole and not isinstance(fillings[hole], (str, gast.AST)):
                result += fillings[hole]
                continue
            new = part(fillings, span)
            if new is not None:
                result.append(new)
        return result

    return make


def _one(node: Any) -> Maker:
    """Return the maker of a node; it makes None of a statement whose body is empty after filling."""
    kind, hole = type(node), _hole(node)
    plain = {field: getattr(node, field) for field in node._fields}
    makers = [(field, _field(value)) for field, value in plain.items()]
    made = [(field, maker) for field, maker in makers if maker is not None]

    def make(fillings: dict[str, Filling], span: dict[str, int]) -> Any:
        new: Any = gast.AST.__new__(kind)
        values = new.__dict__
        values.update(plain)
        values.update(span)
        for field, maker in made:
            values[field] = maker(fillings, span)
        return new

    def fill(fillings: dict[str, Filling], span: dict[str, int]) -> Any:
        filling = fillings[hole]
        return filling if isinstance(filling, gast.AST) else make(fillings, span)

    def make_with_body(fillings: dict[str, Filling], span: dict[str, int]) -> Any:
        new = make(fillings, span)
        return new if new.body else None

    if isinstance(node, gast.stmt) and plain.get("body"):
        return make_with_body
    return fill if hole else make


def _field(value: Any) -> Maker | None:
    """Return the maker of a field's value; None if the value has no holes and no nodes."""
    if isinstance(value, list):
        return _several(value) if value else None
    if isinstance(value, str) and value.startswith(_MARK):
        name = value[len(_MARK) :]
        return lambda fillings, span: fillings[name]
    return _one(value) if isinstance(value, gast.AST) and value._fields else None


def _hole(node: Any) -> str:
    """Return the name of the hole that a node is; empty if it is none."""
    is_hole = isinstance(node, gast.Name) and node.id.startswith(_MARK)
    return node.id[len(_MARK) :] if is_hole else ""
