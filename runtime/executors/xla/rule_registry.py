"""The table of operations: each has a rule, or a kernel that JAX traces, or a reason why XLA does not run it.

@lowers("reshape")                        # a rule: from values that JAX traces to the value of the result
def _(site, tensor, shape):
    return jnp.reshape(tensor, site.shape)

TRACED                                    # the operations whose NumPy kernels run unchanged on such values
REASONS                                   # the operations that are refused, with the reasons
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.op_def import OpDef

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}
TRACED: set[str] = set()
REASONS: dict[str, str] = {}


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Return a decorator that registers a rule `(site, *operands)`, which returns the result, or a list of results."""

    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


class NotLoweredError(Exception):
    """Error of a rule that cannot lower an operation; the message is the reason."""


def refusal(op: OpDef) -> str | None:
    """Return why XLA runs no operation of this kind, or None if it runs some."""
    if op.name in RULES or op.name in TRACED:
        return None
    return REASONS.get(op.name, "XLA has no rule for it")


def kind(op: OpDef) -> str:
    """Return how XLA runs an operation: "rule", "traced kernel", or "refused"."""
    return "rule" if op.name in RULES else "traced kernel" if op.name in TRACED else "refused"
