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
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any, TypeAlias

import gast

from .tree import Statements, position

Filling: TypeAlias = Any  # a string, a node, or a sequence of nodes

_MARK = "hole__"


# What makes a part of the new statements, given the fillings of the holes and the position for new nodes.
Maker: TypeAlias = Callable[[dict[str, Filling], dict[str, int]], Any]


class Template:
    """Statements with `$holes`. They are parsed once, and become functions that make them again."""

    def __init__(self, code: str) -> None:
        self.holes = frozenset(re.findall(r"\$(\w+)", code))
        self._make = _several(gast.parse(re.sub(r"\$(\w+)", rf"{_MARK}\1", dedent(code))).body)

    def __call__(self, origin: gast.AST, **fillings: Filling) -> Statements:
        """The statements, with every hole filled."""
        if fillings.keys() != self.holes:
            missing, extra = sorted(self.holes - fillings.keys()), sorted(fillings.keys() - self.holes)
            raise TypeError(f"template holes do not match: missing {missing}, unknown {extra}")
        statements: Statements = self._make(fillings, position(origin))
        return statements

    def expression(self, origin: gast.AST, **fillings: Filling) -> gast.expr:
        """The same for a template that is one expression."""
        (statement,) = self(origin, **fillings)
        return statement.value


def _several(nodes: Sequence[Any]) -> Maker:
    """Makes a list of nodes. One that consists of a hole stands for those that fill it."""
    parts = []
    for node in nodes:
        inner = node.value if isinstance(node, (gast.Expr, gast.Starred)) else node
        parts.append((_hole(inner), _one(node)))

    def make(fillings: dict[str, Filling], place: dict[str, int]) -> list[Any]:
        result: list[Any] = []
        for hole, part in parts:
            filling = fillings[hole] if hole else ""
            if isinstance(filling, (str, gast.AST)):
                new = part(fillings, place)
                if new is not None:
                    result.append(new)
            else:
                result.extend(filling)
        return result

    return make


def _one(node: Any) -> Maker:
    """Makes a node; a statement whose body comes out empty is none."""
    kind, hole = type(node), _hole(node)
    plain = {field: getattr(node, field) for field in node._fields}
    makers = [(field, _field(value)) for field, value in plain.items()]
    made = [(field, maker) for field, maker in makers if maker is not None]
    needs_body = isinstance(node, gast.stmt) and bool(plain.get("body"))

    def make(fillings: dict[str, Filling], place: dict[str, int]) -> Any:
        if hole and isinstance(fillings[hole], gast.AST):
            return fillings[hole]
        new: Any = gast.AST.__new__(kind)
        values = new.__dict__
        values.update(plain)
        for field, maker in made:
            values[field] = maker(fillings, place)
        if needs_body and not new.body:
            return None
        if kind._attributes:
            values.update(place)
        return new

    return make


def _field(value: Any) -> Maker | None:
    """Makes what a field holds; None for what is the same every time."""
    if isinstance(value, list):
        return _several(value)
    if isinstance(value, str) and value.startswith(_MARK):
        name = value[len(_MARK) :]
        return lambda fillings, place: fillings[name]
    return _one(value) if isinstance(value, gast.AST) and value._fields else None


def _hole(node: Any) -> str:
    """The name of the hole that a node is; empty if it is none."""
    is_hole = isinstance(node, gast.Name) and node.id.startswith(_MARK)
    return node.id[len(_MARK) :] if is_hole else ""
