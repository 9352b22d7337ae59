"""The registry of export rules: one for each operation that ONNX can express.

@exports("relu6")
def _(e, operation, x):
    return e("Min", e("Relu", x), e.like(6.0, x))

A rule takes the emitter, the operation, and its operands; it returns the result, or a list of results. It raises
`InexpressibleError` for attributes or dtypes that it cannot express.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}
"""The rules by the name of the operation."""

SINGLE: dict[str, str] = {}
"""The operations that are one operator of ONNX, for the table in the manual."""


def exports(*names: str) -> Callable[[Rule], Rule]:
    """Return a decorator that registers a rule for operations."""

    def enter(rule: Rule) -> Rule:
        for name in names:
            RULES[name] = rule
        return rule

    return enter


def one_to_one(table: dict[str, str]) -> None:
    """Register operations that are one operator of ONNX with the same operands."""
    for name, operator in table.items():
        SINGLE[name] = operator
        RULES[name] = _single(operator)


def _single(operator: str) -> Rule:
    def rule(e: Any, operation: Any, *inputs: Any) -> Any:
        return e(operator, *inputs, dtype=operation.outputs[0].dtype)

    return rule
