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
from ...ops.framework.op import REGISTRY, import_all

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}
TRACED: set[str] = set()
REASONS: dict[str, str] = {}
FUNCTIONALIZED: set[str] = set()
"""Operations on variables and random streams, which are values before a program is traced."""


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
    """Return how XLA runs an operation: "rule", "traced kernel", "functionalized" or "refused"."""
    if op.name in RULES:
        return "rule"
    if op.name in TRACED:
        return "traced kernel"
    return "functionalized" if op.name in FUNCTIONALIZED else "refused"


def operation_kinds() -> dict[str, list[str]]:
    """Return the names of all operations by how XLA runs them, as `kind` says."""
    import_all()
    found: dict[str, list[str]] = {"rule": [], "traced kernel": [], "functionalized": [], "refused": []}
    for name, op in sorted(REGISTRY.items()):
        found[kind(op)].append(name)
    return found
