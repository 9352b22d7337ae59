"""The registry of lowering rules: one row for each operation, entered by decorators.

    @elementwise("add")                      # emits one element of the result from those of the operands
    def _(e, site, x, y):
        return e.b.add(x, y)

    @lowers("transpose")                     # returns the nodes of the results from those of the operands
    def _(region, operation, x, perm):
        return IndexMap(...)

An elementwise rule emits straight-line code: it uses `select` and never branches, because LLVM vectorizes the
loop around it. A rule that can fail calls `e.demand`, continues with a harmless value, and is registered with
`may_fail`. Then its elements are computed even if they have no reader.

The modules of rules are imported at the first use of one of their operations (rule_modules.py).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .... import dtypes
from ....ir.graph import Operation
from .llvm_types import Element
from .rule_modules import MODULES


class Site(NamedTuple):
    """Description of an operation for elementwise rules: dtypes of first operand and result, and attributes."""

    type: str
    dtype: dtypes.DType
    result: dtypes.DType
    attrs: Mapping[str, Any]
    may_fail: bool


def site_of(dtype: dtypes.DType) -> Site:
    """Return a site for an elementwise rule that is applied without an operation."""
    return Site("", dtype, dtype, {}, False)


class ElementRule(NamedTuple):
    """The rule of an elementwise operation."""

    write: Callable[..., Element]
    may_fail: Callable[[Operation], bool]
    takes: Callable[[Operation], str | None]


ELEMENTWISE: dict[str, ElementRule] = {}
LOWERINGS: dict[str, Callable[..., Any]] = {}
SIZED: set[str] = set()
MOVING: set[str] = set()
"""Operations whose rules accept operands of any dtype: they move elements, or do not read them."""


@functools.cache
def load(name: str) -> None:
    """Import the rule of an operation, if it has one."""
    module = MODULES.get(name)
    if module is not None:
        importlib.import_module(f"..lowering.{module}", __package__)


def load_all() -> None:
    """Import all rules."""
    for name in MODULES:
        load(name)


def elementwise(
    *names: str,
    may_fail: Callable[[Operation], bool] | bool = False,
    takes: Callable[[Operation], str | None] = lambda operation: None,
    moves: bool = False,
) -> Callable[[Callable[..., Element]], Callable[..., Element]]:
    """Return a decorator that registers an elementwise rule.

    `takes` returns a reason if the rule does not support an operation. A rule that `moves` accepts any dtype,
    and does not compute with the elements.
    """
    fails = may_fail if callable(may_fail) else lambda operation: bool(may_fail)

    def enter(write: Callable[..., Element]) -> Callable[..., Element]:
        for name in names:
            ELEMENTWISE[name] = ElementRule(write, fails, takes)
            if moves:
                MOVING.add(name)
        return write

    return enter


def lowers(
    *names: str, sized: bool = False, moves: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers a rule `(region, operation, *nodes)`, which returns one or more nodes.

    A rule that is `sized` supports dynamic sizes (dynamic_sizes.py). A rule that `moves` accepts operands of
    any dtype: it moves their elements, or does not read them.
    """

    def enter(lower: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            LOWERINGS[name] = lower
            if sized:
                SIZED.add(name)
            if moves:
                MOVING.add(name)
        return lower

    return enter


class RefusedError(Exception):
    """Error of a rule that cannot lower an operation; the message is the reason."""
