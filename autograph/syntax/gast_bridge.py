"""Between Python's syntax trees and gast's, whose nodes are the same in every version of Python.

    def f(x): …      ast.arg('x')      ==>     gast.Name('x', Param())      the passes work on this side
                     ast.Name('x')     <==     gast.Name('x', Load())

The trees are those of `gast.ast_to_gast` and `gast.gast_to_ast`, made several times as fast. Passes share what
they do not change: on the way back, a node that is still the very node that came in becomes the `ast` node it
was made from, with all that is below it. Any other one changes its class: the tree that goes back is used up.
"""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gast

from .tree_queries import INNER, POSITION, children, place_in

Fields = dict[str, Any]

_WITH_BODY = frozenset(
    {ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match, ast.Try}
    | {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}
)


NewNodes = defaultdict[type[ast.AST], list[Any]]
"""Nodes by their kinds, each after those of its kind that are below it."""


class Translation:
    """One tree on its way to gast and, rewritten, back."""

    def __init__(self, tree: ast.AST) -> None:
        # id of a gast node → the node it was made from; `self.tree` keeps all of them alive.
        self._origins: dict[int, ast.AST] = {}
        self.tree: Any = self._to(tree)
        self.new = NewNodes(list)  # what `back` met that had not come in

    def back(self, tree: gast.AST) -> Any:
        """Return a tree of gast's, which becomes one of `ast`. A node without a position gets that of the node
        around it."""
        self.new = NewNodes(list)
        return self._origins.get(id(tree)) or self._from(tree, _START)

    def is_original(self, node: ast.AST) -> bool:
        """Return whether a node that `back` gave is one that came in, and so all below it."""
        return id(node) not in self._changed

    def original_at(self, node: Any) -> ast.AST | None:
        """Return the statement with statements in it that came in, of the same kind at the same place."""
        return self._blocks.get((type(node), node.lineno, node.col_offset))

    @functools.cached_property
    def _changed(self) -> frozenset[int]:
        return frozenset(id(node) for nodes in self.new.values() for node in nodes)

    @functools.cached_property
    def _blocks(self) -> dict[tuple[type, int, int], Any]:
        blocks: list[Any] = [node for node in self._origins.values() if type(node) in _WITH_BODY]
        return {(type(node), node.lineno, node.col_offset): node for node in blocks}

    def last_line(self, node: Any) -> int:
        """Return the last line of a node, or of the block that came in at its place."""
        end: int = self._ends.get((node.lineno, node.col_offset), node.end_lineno)
        return end

    @functools.cached_property
    def _ends(self) -> dict[tuple[int, int], int]:
        blocks: list[Any] = [node for node in self._blocks.values() if not isinstance(node, _DEFINITIONS)]
        return {(node.lineno, node.col_offset): node.end_lineno for node in blocks}

    def came_in(self, node: gast.AST) -> bool:
        """Return whether a node of the rewritten tree is one that came in, and so all below it."""
        return id(node) in self._origins

    def made(self, tree: gast.AST) -> Iterator[gast.AST]:
        """Yield the nodes of a rewritten tree that did not come in as they are; below one that did, there are none."""
        pending = [tree]
        while pending:
            node = pending.pop()
            if id(node) not in self._origins:
                yield node
                pending += children(node)

    def _to(self, node: Any) -> Any:
        rule = _TO.get(type(node))
        if rule is None:
            return _LEAVES.get(type(node), node)  # what is newer than gast passes through as it is
        kind, convert, sign, with_nodes = rule
        new = _node(kind)
        fields = new.__dict__
        fields.update(node.__dict__)
        if sign is not None:
            fields[sign] = _LEAVES[type(fields[sign])]
        for name in with_nodes:
            value = fields.get(name)
            if not value:  # None, or no nodes
                continue
            fields[name] = list(map(self._to, value)) if type(value) is list else self._to(value)
        if convert is not None:
            convert(fields)
        self._origins[id(new)] = node
        return new

    def _from(self, node: Any, around: Fields) -> Any:
        """Return a node that did not come in as it is, or what is no node at all; `around` has the position
        around it."""
        rule = _BACK.get(type(node))
        if rule is None:  # also for a node that occurs twice in the tree
            if type(node) is not gast.Name:
                return _LEAVES.get(type(node), node)
            rule = _BACK_TO_PARAMETER if type(node.ctx) is gast.Param else _BACK_TO_NAME
        kind, convert, sign, with_nodes = rule
        node.__class__ = kind
        fields, origins = node.__dict__, self._origins
        if "end_col_offset" not in fields:
            line, column, end_line, end_column = place_in(around)
            fields["lineno"], fields["col_offset"] = line, column
            fields["end_lineno"], fields["end_col_offset"] = end_line, end_column
        if convert is not None:
            convert(fields)
        if sign is not None:
            fields[sign] = _LEAVES[type(fields[sign])]
        for name in with_nodes:
            value = fields.get(name)
            if not value:  # None, or no nodes
                continue
            if type(value) is list:
                fields[name] = [origins.get(id(part)) or self._from(part, fields) for part in value]
            else:
                fields[name] = origins.get(id(value)) or self._from(value, fields)
        self.new[kind].append(node)
        return node


def to_ast(tree: gast.AST) -> Any:
    """Return a tree of gast's, which becomes one of `ast`."""
    return Translation(ast.Pass()).back(tree)


_node: Callable[[type[ast.AST]], Any] = ast.AST.__new__
"""A node of some kind, without fields: to set them one by one would take longer."""

_START: Fields = dict(zip(POSITION, (1, 0, 1, 0), strict=True))


# The classes of gast, by the classes of `ast`.
_GAST_KINDS: dict[Any, Any] = {
    kind: getattr(gast, name)
    for name, kind in vars(ast).items()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and hasattr(gast, name)
} | {ast.arg: gast.Name}
_AST_KINDS: dict[type, Any] = {new: old for old, new in _GAST_KINDS.items() if old is not ast.arg}

# Contexts and operators, such as `Load` and `Add`: one node serves for all.
_SIGNS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
_LEAVES: dict[type, Any] = {
    kind: other()
    for kinds in (_GAST_KINDS, _AST_KINDS)
    for kind, other in kinds.items()
    if issubclass(kind, _SIGNS) and kind not in _SIGNS
}


def _name_to(fields: Fields) -> None:
    fields["annotation"] = fields["type_comment"] = None


def _parameter_to(fields: Fields) -> None:
    fields["id"], fields["ctx"] = fields.pop("arg"), gast.Param()


def _parameter_from(fields: Fields) -> None:
    fields["arg"] = fields["id"]


def _handler_to(fields: Fields) -> None:
    name = fields["name"]
    fields["name"] = gast.Name(name, gast.Store(), None, None) if name else None


def _handler_from(fields: Fields) -> None:
    fields["name"] = fields["name"].id if fields["name"] else None


def _operators(fields: Fields) -> None:
    fields["ops"] = [_LEAVES[type(operator)] for operator in fields["ops"]]


def _definition_to(fields: Fields) -> None:
    # Python 3.12 has the field, but a definition made by hand may lack it.
    fields["type_params"] = fields.get("type_params") or []


def _type_parameter_to(fields: Fields) -> None:
    fields.setdefault("default_value", None)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TYPE_PARAMETERS = tuple(
    getattr(ast, name) for name in ("TypeVar", "TypeVarTuple", "ParamSpec") if hasattr(ast, name)
)

# Further differences between the two, by the class in `ast`.
_TO_GAST: dict[type, Callable[[Fields], None]] = {
    ast.Name: _name_to,
    ast.arg: _parameter_to,
    ast.ExceptHandler: _handler_to,
    ast.Compare: _operators,
    **dict.fromkeys(_DEFINITIONS, _definition_to),
    **dict.fromkeys(_TYPE_PARAMETERS, _type_parameter_to),
}
_FROM_GAST: dict[type, Callable[[Fields], None]] = {
    ast.arg: _parameter_from,
    ast.ExceptHandler: _handler_from,
    ast.Compare: _operators,
}


class _Rule(NamedTuple):
    """Return the converted node."""

    kind: type[ast.AST]
    convert: Callable[[Fields], None] | None
    sign: str | None  # the field with its context or operator
    with_nodes: tuple[str, ...]  # the fields that hold other nodes


def _rule(new: Any, old: Any, conversions: dict[type, Callable[[Fields], None]]) -> _Rule:
    """Return the rule that makes nodes of the class `new`; their fields are those of Python's class `old`."""
    sign = next((name for name in ("ctx", "op") if name in old._fields), None)
    return _Rule(new, conversions.get(old), sign, INNER[old] if old is not ast.arg else ("annotation",))


_TO = {old: _rule(new, old, _TO_GAST) for old, new in _GAST_KINDS.items() if old not in _LEAVES}
_BACK = {new: _rule(old, old, _FROM_GAST) for new, old in _AST_KINDS.items() if new not in _LEAVES}
_BACK_TO_NAME, _BACK_TO_PARAMETER = _BACK.pop(gast.Name), _rule(ast.arg, ast.arg, _FROM_GAST)
