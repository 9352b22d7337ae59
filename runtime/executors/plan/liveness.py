"""Liveness: the last uses of values, and loop results that can be stored in place of the old state."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.value_types import TensorType


def may_be_big(value: Value) -> bool:
    """Return whether a value is worth deleting right after its last use."""
    spec = value.spec
    return isinstance(spec, TensorType) and spec.shape != ()


def last_uses(graph: Graph, live: Sequence[Operation]) -> list[list[Value]]:
    """Return, for each live operation, the values that may be big and have their last use there."""
    if graph.is_scalar:
        return [[] for _ in live]
    last: dict[Operand, int] = {}
    for position, operation in enumerate(live):
        last.update(dict.fromkeys(operation.inputs + operation.outputs, position))
    dying: list[list[Value]] = [[] for _ in live]
    kept = {*graph.outputs, *graph.inputs}
    for value, position in last.items():
        if type(value) is Value and value not in kept and may_be_big(value):
            dying[position].append(value)
    return dying


def in_place(body: Graph, targets: Sequence[str]) -> dict[Value, str]:
    """Return the values of a loop body that can be stored under the name of the state that they replace.

    Nothing may read the old state once the new one is stored.
    """
    live = body.live_operations()
    made = {value: i for i, operation in enumerate(live) for value in operation.outputs}
    last_read: dict[Operand, int] = {}
    for i, operation in enumerate(live):
        # A block may store its result before it has read all its operands.
        last_read.update(dict.fromkeys(operation.inputs, i + 1 if operation.regions else i))
    kept = set(body.outputs)
    wanted: dict[Value, str] = {}
    for old, new, target in zip(body.inputs, body.outputs, targets, strict=False):
        if not isinstance(new, Value) or new not in made or new in wanted or old in kept:
            continue
        if last_read.get(old, -1) <= made[new]:
            wanted[new] = target
    return wanted
