"""Rules for the classes of results: the most specific one for the classes of the operators is applied.

Diag @ Diag   ==>   Diag            @rule("matmul", LinearOperatorDiag, LinearOperatorDiag)
Diag @ Full   ==>   Composition     @rule("matmul", LinearOperator, LinearOperator)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]
_RULES: dict[tuple[Any, ...], Rule] = {}


def rule(operation: str, *classes: type) -> Callable[[Rule], Rule]:
    """Decorate a function as the rule of an operation for operators of these classes."""

    def decorated(function: Rule) -> Rule:
        _RULES[operation, *classes] = function
        return function

    return decorated


def find(operation: str, *classes: type) -> Rule:
    """Return the most specific rule for operators of these classes: that of the nearest base classes."""
    bases = [list(enumerate(owner.__mro__)) for owner in classes]
    rows = sorted(itertools.product(*bases), key=lambda row: sum(distance for distance, _ in row))
    found = (_RULES.get((operation, *(base for _, base in row))) for row in rows)
    return next(filter(None, found))


def apply(operation: str, *operators: Any) -> Any:
    """Return the result of the most specific rule for the operators."""
    return find(operation, *map(type, operators))(*operators)
