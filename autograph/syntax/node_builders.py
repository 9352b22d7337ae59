"""Build single nodes, for which a template would be longer.

load("x")                          x
group([load("x"), text("x")])      (x, 'x')
lambda_of(["x"], load("y"))        lambda x: y
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gast

from .tree_queries import evolve

LOAD, STORE, PARAM = gast.Load(), gast.Store(), gast.Param()
"""Contexts: nodes share these instances."""


def load(name: str) -> gast.Name:
    return _node(gast.Name, id=name, ctx=LOAD, annotation=None, type_comment=None)


def store(name: str) -> gast.Name:
    return _node(gast.Name, id=name, ctx=STORE, annotation=None, type_comment=None)


def parameter(name: str) -> gast.Name:
    return _node(gast.Name, id=name, ctx=PARAM, annotation=None, type_comment=None)


def text(value: str) -> gast.Constant:
    return _node(gast.Constant, value=value, kind=None)


def group(elements: Sequence[gast.expr]) -> gast.Tuple:
    """Return `(a, b)` as a value."""
    return _node(gast.Tuple, elts=list(elements), ctx=LOAD)


def attribute(base: gast.expr, name: str) -> gast.Attribute:
    """Return `base.name` as a value."""
    return _node(gast.Attribute, value=base, attr=name, ctx=LOAD)


def call(function: gast.expr, arguments: Sequence[gast.expr], keywords: Mapping[str, gast.expr]) -> gast.Call:
    """Return `function(a, name=b)`."""
    named = [_node(gast.keyword, arg=name, value=value) for name, value in keywords.items()]
    return _node(gast.Call, func=function, args=list(arguments), keywords=named)


def assign(target: gast.expr, value: gast.expr) -> gast.Assign:
    return _node(gast.Assign, targets=[target], value=value, type_comment=None)


def returning(value: gast.expr) -> gast.Return:
    return _node(gast.Return, value=value)


def lambda_of(names: Sequence[str], body: gast.expr) -> gast.Lambda:
    arguments = _node(
        gast.arguments,
        args=[parameter(name) for name in names],
        posonlyargs=[],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    return _node(gast.Lambda, args=arguments, body=body)


def as_load(target: Any) -> gast.expr:
    """Return the target of an assignment as an expression that is read."""
    return evolve(target, ctx=LOAD)


def _node(kind: Any, /, **fields: Any) -> Any:
    """Return a node with all its fields. The constructor of `kind` would take several times as long."""
    new = gast.AST.__new__(kind)
    new.__dict__.update(fields)
    return new
