"""The table of what can be lowered: one row an operation, entered by decorators.

    @elementwise("add")                      # writes one element of the result from those of the operands
    def _(e, site, x, y):
        return e.b.add(x, y)

    @lowers("transpose")                     # gives the nodes of the results from those of the operands
    def _(region, operation, x, perm):
        return Mapped(...)

A rule for elements writes straight-line code: it chooses with `select`, and never branches, because it stands in
loops that LLVM widens. What can fail says so to `e.demand`, computes on with something harmless, and is entered with
`may_fail`: then its elements are computed even where nobody reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .... import dtypes
from ....ir.graph import Operation
from .llvm_types import Element


class Site(NamedTuple):
    """What a rule for elements is told of its operation: the dtypes of the first operand and of the result."""

    type: str
    dtype: dtypes.DType
    result: dtypes.DType
    attrs: Mapping[str, Any]
    may_fail: bool


class ElementRule(NamedTuple):
    """A row for an operation on each element; `cost` is about that of so many additions."""

    write: Callable[..., Element]
    cost: int
    may_fail: Callable[[Operation], bool]
    takes: Callable[[Operation], str | None]


ELEMENTWISE: dict[str, ElementRule] = {}
LOWERINGS: dict[str, Callable[..., Any]] = {}
SIZED: set[str] = set()
MOVING: set[str] = set()
"""Operations whose rules take operands of any dtype: they move elements, or do not read them."""


def elementwise(
    *names: str,
    cost: int = 1,
    may_fail: Callable[[Operation], bool] | bool = False,
    takes: Callable[[Operation], str | None] = lambda operation: None,
    moves: bool = False,
) -> Callable[[Callable[..., Element]], Callable[..., Element]]:
    """Decorator: enter a rule for elements. `takes` gives a reason when it cannot do an operation.

    A rule that `moves` takes elements of any dtype, and does not compute with them.
    """
    fails = may_fail if callable(may_fail) else lambda operation: bool(may_fail)

    def enter(write: Callable[..., Element]) -> Callable[..., Element]:
        for name in names:
            ELEMENTWISE[name] = ElementRule(write, cost, fails, takes)
            if moves:
                MOVING.add(name)
        return write

    return enter


def lowers(
    *names: str, sized: bool = False, moves: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: enter a rule `(region, operation, *nodes)` that gives a node, or a list of them.

    With `sized` it takes and gives tensors of sizes that are known only while the code runs
    (dynamic_sizes.py). A rule that
    `moves` takes operands of any dtype: it moves their elements, or does not read them.
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
    """Raised by a rule for an operation that it cannot lower; the message is the reason."""
