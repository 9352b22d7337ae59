"""`graph`: export of a graph to TensorBoard. Operations are nodes; a region's nodes are nested in its operation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ir.graph import Constant, Graph, Operand
from ..storage.protobuf import field
from . import events, state

PRODUCER = 1882
"""The version of the graph format for TensorBoard."""


@export("summary.graph")
def graph(graph_data: Any) -> Tensor:
    """Write a graph, such as `concrete_function.graph`, to the default writer.

    Returns a bool scalar: whether it was written. Raises ValueError for an argument without a graph.
    """
    found = getattr(graph_data, "graph", graph_data)
    if not isinstance(found, Graph):
        raise ValueError(f"The argument 'graph_data' is not tf.Graph or a function with one: {graph_data!r}")
    writer = state.current().writer
    if writer is None:
        return convert_to_tensor(False)
    writer.write(events.graph_event(time.time(), graph_def(found)))
    return convert_to_tensor(True)


def graph_def(whole: Graph) -> bytes:
    """Return the GraphDef message of a graph."""
    return b"".join(field(1, node) for node in _nodes(whole, "", {})) + field(4, field(1, PRODUCER))


def _nodes(part: Graph, scope: str, names: dict[Any, str]) -> Iterator[bytes]:
    taken: set[str] = set()
    for value in part.inputs:
        if value not in names:
            names[value] = _unique(scope + value.name, taken)
            yield _node(names[value], "Placeholder", [])
    for operation in part.operations:
        name = _unique(scope + operation.name, taken)
        inputs = []
        for number, operand in enumerate(operation.inputs):
            if isinstance(operand, Constant):
                constant = f"{name}/constant_{number}"
                yield _node(constant, "Const", [])
                inputs.append(constant)
            else:
                inputs.append(names[operand])
        for number, value in enumerate(operation.outputs):
            names[value] = name if number == 0 else f"{name}:{number}"
        yield _node(name, operation.type, inputs)
        for number, region in enumerate(operation.regions):
            inner = f"{name}/{region.name or number}/"
            yield from _nodes(region, inner, {**names, **_given(region, inputs)})


def _given(region: Graph, inputs: list[str]) -> dict[Operand, str]:
    """Map the inputs of a region to the last operands of its operation."""
    known = inputs[len(inputs) - len(region.inputs) :]
    return dict(zip(region.inputs, known, strict=False))


def _unique(requested_name: str, taken: set[str]) -> str:
    name, number = requested_name, 0
    while name in taken:
        number += 1
        name = f"{requested_name}_{number}"
    taken.add(name)
    return name


def _node(name: str, kind: str, inputs: list[str]) -> bytes:
    return field(1, name) + field(2, kind) + b"".join(field(3, each) for each in inputs)
