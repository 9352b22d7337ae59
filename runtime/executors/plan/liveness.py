"""When values of a graph are needed for the last time, and which may take the place of others."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.value_types import TensorType


def may_be_big(value: Value) -> bool:
    """Whether a value is worth deleting as soon as it is not needed."""
    spec = value.spec
    return isinstance(spec, TensorType) and spec.shape != ()


def last_uses(graph: Graph, live: Sequence[Operation]) -> list[list[Value]]:
    """For each live operation, the values of the graph that may be big and are not used after it."""
    if graph.is_scalar:
        return [[] for _ in live]
    last: dict[Operand, int] = {}
    for place, operation in enumerate(live):
        last.update(dict.fromkeys(operation.inputs + operation.outputs, place))
    dying: list[list[Value]] = [[] for _ in live]
    kept = {*graph.outputs, *graph.inputs}
    for value, place in last.items():
        if type(value) is Value and value not in kept and may_be_big(value):
            dying[place].append(value)
    return dying


def in_place(body: Graph, targets: Sequence[str]) -> dict[Value, str]:
    """The values of a loop's body that may be stored right under the name of the state that they replace.

    That is so when nothing reads the old state once the new one is stored.
    """
    live = body.live_operations()
    made = {value: i for i, operation in enumerate(live) for value in operation.outputs}
    last_read: dict[Operand, int] = {}
    for i, operation in enumerate(live):
        # A block may store its result before it has read everything.
        last_read.update(dict.fromkeys(operation.inputs, i + 1 if operation.regions else i))
    kept = set(body.outputs)
    wanted: dict[Value, str] = {}
    for old, new, target in zip(body.inputs, body.outputs, targets, strict=False):
        if not isinstance(new, Value) or new not in made or new in wanted or old in kept:
            continue
        if last_read.get(old, -1) <= made[new]:
            wanted[new] = target
    return wanted
