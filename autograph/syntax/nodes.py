"""Nodes made by hand, where a template would say less.

load("x")                          x
group([load("x"), text("x")])      (x, 'x')
lambda_of(["x"], load("y"))        lambda x: y
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from .tree import evolve

LOAD, STORE, PARAM = gast.Load(), gast.Store(), gast.Param()
"""Signs, of which one serves for all nodes."""


def load(name: str) -> gast.Name:
    return gast.Name(name, LOAD, None, None)


def store(name: str) -> gast.Name:
    return gast.Name(name, STORE, None, None)


def parameter(name: str) -> gast.Name:
    return gast.Name(name, PARAM, None, None)


def text(value: str) -> gast.Constant:
    return gast.Constant(value, None)


def group(elements: Sequence[gast.expr]) -> gast.Tuple:
    """`(a, b)`, read."""
    return gast.Tuple(list(elements), LOAD)


def lambda_of(names: Sequence[str], body: gast.expr) -> gast.Lambda:
    arguments = gast.arguments([parameter(name) for name in names], [], None, [], [], None, [])
    return gast.Lambda(arguments, body)


def as_load(target: Any) -> gast.expr:
    """What an assignment assigns, read."""
    return evolve(target, ctx=LOAD)
