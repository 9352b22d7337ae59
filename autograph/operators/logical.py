"""Operators for the conditional expression, `and`, `or`, `not`, and chained comparisons."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..side_effects import pure, staged
from ..staging import PYTHON, State, backends
from ..traceback_filter import leaves_no_trace

if TYPE_CHECKING:
    from ..side_effects.carried_state import CarriedState


@leaves_no_trace
def if_exp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Return `then() if test else orelse()`."""
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return then() if test else orelse()

    def run(carried: CarriedState) -> State:
        first = carried.block(lambda: (then(),), then)
        other = carried.block(lambda: (orelse(),), orelse)
        return backend.cond(test, first, other, carried.initial, ("value", *carried.names))

    (value,) = staged((), run, (then, orelse), gives=("",))
    return value


@leaves_no_trace
def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return `first and …`: as in Python, the operand that decides.

    >>> and_(3, lambda: [], lambda: 1 / 0)
    []
    """
    for operand in rest:
        backend = backends[type(first)]
        if backend is not PYTHON and backend.owns(first):
            return backend.logical("and", first, _later_operands("and", and_, rest, operand))
        if not first:
            return first
        first = operand()
    return first


@leaves_no_trace
def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return `first or …`: as in Python, the operand that decides."""
    for operand in rest:
        backend = backends[type(first)]
        if backend is not PYTHON and backend.owns(first):
            return backend.logical("or", first, _later_operands("or", or_, rest, operand))
        if first:
            return first
        first = operand()
    return first


def _later_operands(
    word: str, op: Callable[..., Any], rest: Sequence[Callable[[], Any]], operand: Callable[[], Any]
) -> Callable[[], Any]:
    """Return the operands from `operand` on as one function."""
    _, *later = left = rest[rest.index(operand) :]
    return pure(
        partial(_chain, op, operand, *later) if later else operand, f"an operand of this `{word}`", left
    )


def _chain(op: Callable[..., Any], operand: Callable[[], Any], *rest: Callable[[], Any]) -> Any:
    return op(operand(), *rest)


@leaves_no_trace
def not_(value: Any, word: str = "not") -> Any:
    """Return `not value`; `word` is the construct that needs the truth, for error messages."""
    backend = backends[type(value)]
    if backend is PYTHON or not backend.owns(value):
        return not value
    return backend.logical(word, value, None)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


@leaves_no_trace
def compare(left: Any, *links: Any) -> Any:
    """Return a chained comparison, in which each operand is evaluated at most once, and only when it is
    needed.

    `a < f() <= g()` is `compare(a, '<', lambda: f(), '<=', lambda: g())`.

    >>> compare(1, '<', lambda: 2, '<=', lambda: 2)
    True
    >>> compare(3, '<', lambda: 2, '<=', lambda: 1 / 0)
    False
    """
    name, operand, *further = links
    right = operand()
    holds = _COMPARISONS[name](left, right)
    return and_(holds, lambda: compare(right, *further)) if further else holds
