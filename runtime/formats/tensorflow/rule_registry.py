"""The table of rules that write agc's operations as nodes of TensorFlow's graphs.

DIRECT      add(x, y)               ==>     AddV2(x, y)
@writes     reduce_sum(x, axis)     ==>     the nodes that the rule makes: Sum(x, [axis])
REFUSED     ctc_beam_search         ==>     the reason for which it cannot be written

A rule takes the `Body`, the inputs, and the attributes by name. It returns a result, or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RULES: dict[str, Callable[..., Any]] = {}
"""Rules by the name of the operation."""

DIRECT: dict[str, str] = {}
"""TensorFlow's names of the operations that take the same inputs, and whose attributes follow from these."""

REFUSED: dict[str, str] = {}
"""Reasons by the name of the operation."""

CHANGED_NUMBERS: set[str] = set()
"""Random operations: they are written, but TensorFlow draws other numbers."""


class RefusedByRuleError(Exception):
    """Raised by a rule for arguments that TensorFlow's operations do not take."""


def writes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule for the operations with these names."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in RULES, name
            RULES[name] = rule
        return rule

    return register


def direct(table: str) -> None:
    """Register operations that are the same in TensorFlow, as `agc=TensorFlow`, between spaces."""
    for row in table.split():
        name, _, node = row.partition("=")
        DIRECT[name] = node


def refuse(names: str, reason: str) -> None:
    """Register operations that cannot be written."""
    REFUSED.update(dict.fromkeys(names.split(), reason))
