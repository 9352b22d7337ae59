"""`graph`: export of a graph to TensorBoard. Operations are nodes; a region's nodes are nested in its operation.

    y = matmul x, w : float32[2, 3]    ==>    node "y", op "matmul", inputs "x" "w", _output_shapes [2, 3]

`run_metadata` is the message of a traced run: graphs of functions, and the times of their nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..formats.tensorflow.attribute_values import encode_shape
from ..formats.tensorflow.graph_messages import GraphDef, NodeDef
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.value_types import TensorType
from ..storage.protobuf import field
from ..storage.tensor_protos import NUMBERS
from . import events, state

PRODUCER = 1882
"""The version of the graph format for TensorBoard."""

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@export("summary.graph")
def graph(graph_data: Any) -> Tensor:
    """Write a graph, such as `concrete_function.graph`, to the default writer.

    Returns a bool scalar: whether it was written. Raises ValueError for an argument without a graph.

    >>> import agc.runtime as tf, tempfile
    >>> concrete = tf.function(tf.sin).get_concrete_function(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.summary.create_file_writer(folder).as_default():
    ...         graph(concrete.graph).numpy()
    np.True_
    """
    found = getattr(graph_data, "graph", graph_data)
    if not isinstance(found, Graph):
        raise ValueError(f"The argument 'graph_data' is not tf.Graph or a function with one: {graph_data!r}")
    writer = state.current().writer
    if writer is None:
        return convert_to_tensor(False)
    writer.write(events.graph_event(time.time(), graph_def(found).SerializeToString()))
    return convert_to_tensor(True)


class NamedOperation(NamedTuple):
    """An operation, and the name of its node."""

    name: str
    operation: Operation


def graph_def(whole: Graph, named: list[NamedOperation] | None = None) -> GraphDef:
    """Return the message of a graph; add the operations with the names of their nodes to `named`."""
    message = GraphDef()
    message.versions.producer = PRODUCER
    _add_nodes(message, whole, "", {}, [] if named is None else named)
    return message


def run_metadata(wholes: Sequence[Graph], times: Callable[[Operation], int]) -> bytes:
    """Return the RunMetadata message of graphs that ran; `times` returns the nanoseconds of an operation."""
    content, stats = b"", b""
    for number, whole in enumerate(wholes, 1):
        named: list[NamedOperation] = []
        content += field(4, field(2, graph_def(whole, named).SerializeToString()))
        prefix = f"graph_{number}/" if len(wholes) > 1 else ""  # TensorBoard's name for one of several graphs
        spent = ((prefix + name, times(operation)) for name, operation in named)
        stats += b"".join(field(2, _node_stats(name, time)) for name, time in spent if time)
    return (field(1, field(1, field(1, DEVICE) + stats)) if stats else b"") + content


def _node_stats(name: str, nanoseconds: int) -> bytes:
    """Return the times of a node, in microseconds from its start; TensorBoard shows whole ones."""
    end = max(1, round(nanoseconds / 1000))
    return field(1, name) + field(2, 1) + field(4, end) + field(5, end)


def _add_nodes(
    message: GraphDef, part: Graph, scope: str, names: dict[Any, str], named: list[NamedOperation]
) -> None:
    taken: set[str] = set()
    for value in part.inputs:
        if value not in names:
            names[value] = _unique(scope + value.name, taken)
            _add_node(message, names[value], "Placeholder", [], [value])
    for operation in part.operations:
        name = _unique(scope + operation.name, taken)
        inputs = []
        for number, operand in enumerate(operation.inputs):
            if isinstance(operand, Constant):
                inputs.append(f"{name}/constant_{number}")
                _add_node(message, inputs[-1], "Const", [], [operand])
            else:
                inputs.append(names[operand])
        for number, output in enumerate(operation.outputs):
            names[output] = name if number == 0 else f"{name}:{number}"
        named.append(NamedOperation(name, operation))
        node = _add_node(message, name, operation.type, inputs, operation.outputs)
        if operation.origin is not None:
            node.attr["line"].s = str(operation.origin).encode()
        for number, region in enumerate(operation.regions):
            inner = f"{name}/{region.name or number}/"
            _add_nodes(message, region, inner, {**names, **_given(region, inputs)}, named)


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


def _add_node(
    message: GraphDef, name: str, kind: str, inputs: list[str], outputs: Sequence[Operand]
) -> NodeDef:
    node: NodeDef = message.node.add(name=name, op=kind, input=inputs)
    for each in outputs:
        shape = each.spec.shape if isinstance(each.spec, TensorType) else None
        encode_shape(node.attr["_output_shapes"].list.shape.add(), shape)
    if outputs and isinstance(outputs[0].spec, TensorType) and outputs[0].spec.dtype.name in NUMBERS:
        node.attr["dtype"].type = NUMBERS[outputs[0].spec.dtype.name]
    return node
