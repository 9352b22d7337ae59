"""Structured operations: their names, and predicates for them.

    z = cond p, x, y            one region for each case; they take the operands from the second on
    z = switch i, x, y
    s = while s0, c             regions (test, body); they take all operands: the state, then the invariants
    z = call @f x               the region is the graph of a function, which may have other call sites
    z = fused x, y              the region holds operations on elements that run as one
    z = custom_gradient z0, x   the region computes the gradient

`ops/framework/region_ops.py` declares these operations. Passes and executors use the predicates below.
"""

from __future__ import annotations

from .graph import Graph, Operand, Operation
from .traits import COLLECTIVE

COND, SWITCH, WHILE = "cond", "switch", "while"
CALL, FUSED, CUSTOM_GRADIENT = "call", "fused", "custom_gradient"

_BRANCHES = (COND, SWITCH)
_CONTROL_FLOW = (COND, SWITCH, WHILE)

_LABELS = {COND: ("then", "else"), WHILE: ("test", "body"), FUSED: ("body",)}


def is_cond(operation: Operation) -> bool:
    return operation.type == COND


def is_branch(operation: Operation) -> bool:
    """Return whether the operation runs one of its regions: `cond` or `switch`."""
    return operation.type in _BRANCHES


def is_loop(operation: Operation) -> bool:
    return operation.type == WHILE


def is_control_flow(operation: Operation) -> bool:
    """Return whether the operation is a conditional or a loop.

    Its regions belong to this operation alone, and take the operands from `first_argument` on, one to one.
    """
    return operation.type in _CONTROL_FLOW


def is_call(operation: Operation) -> bool:
    return operation.type == CALL


def is_compiled_call(operation: Operation) -> bool:
    """Return whether the operation calls a function with `jit_compile=True`, which plans run as native code."""
    return operation.type == CALL and bool(operation.attrs.get("jit_compile"))


def communicates(graph: Graph) -> bool:
    """Return whether the graph, or a region of it, has collective operations."""
    return any(op.has(COLLECTIVE) for op in graph.ops)


def is_fused(operation: Operation) -> bool:
    return operation.type == FUSED


def is_custom_gradient(operation: Operation) -> bool:
    return operation.type == CUSTOM_GRADIENT


def first_argument(operation: Operation) -> int:
    """Return the number of the first operand that the regions of a conditional or loop take."""
    return 0 if operation.type == WHILE else 1


def region_arguments(operation: Operation) -> tuple[Operand, ...]:
    """Return the operands that the regions of a conditional or loop take, one to one."""
    return operation.inputs[first_argument(operation) :]


def state_size(operation: Operation) -> int:
    """Return how many inputs of the regions change from one iteration to the next: none but for a loop."""
    return len(operation.outputs) if operation.type == WHILE else 0


def region_labels(name: str, count: int) -> tuple[str, ...]:
    """Return the labels in the text form of the regions of an operation called `name`, which has `count` regions."""
    return _LABELS.get(name, ("branch",) * count)
