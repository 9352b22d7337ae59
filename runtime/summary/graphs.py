"""`graph`: export of a graph to TensorBoard. Operations are nodes; a region's nodes are nested in its operation.

    y = matmul x, w : float32[2, 3]    ==>    node "y", op "matmul", inputs "x" "w", _output_shapes [2, 3]

`run_metadata` is the message of a traced run: graphs of functions, and the times of their nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.source_location import Origin
from ..ir.value_types import AnySpec, TensorType
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
    writer.write(events.graph_event(time.time(), graph_def(found)))
    return convert_to_tensor(True)


class NodeSpot(NamedTuple):
    """A node: the name in the message, and its operation."""

    name: str
    operation: Operation


def graph_def(whole: Graph, spots: list[NodeSpot] | None = None) -> bytes:
    """Return the GraphDef message of a graph; add the nodes of its operations to `spots`."""
    nodes = _nodes(whole, "", {}, [] if spots is None else spots)
    return b"".join(field(1, node) for node in nodes) + field(4, field(1, PRODUCER))


def run_metadata(wholes: Sequence[Graph], times: Callable[[Operation], int]) -> bytes:
    """Return the RunMetadata message of graphs that ran; `times` returns the nanoseconds of an operation."""
    content, stats = b"", b""
    for number, whole in enumerate(wholes, 1):
        spots: list[NodeSpot] = []
        content += field(4, field(2, graph_def(whole, spots)))
        prefix = f"graph_{number}/" if len(wholes) > 1 else ""  # TensorBoard's name for one of several graphs
        stats += b"".join(
            field(2, _node_stats(prefix + name, times(each))) for name, each in spots if times(each)
        )
    return (field(1, field(1, field(1, DEVICE) + stats)) if stats else b"") + content


def _node_stats(name: str, nanoseconds: int) -> bytes:
    """Return the times of a node, in microseconds from its start; TensorBoard shows whole ones."""
    end = max(1, round(nanoseconds / 1000))
    return field(1, name) + field(2, 1) + field(4, end) + field(5, end)


def _nodes(part: Graph, scope: str, names: dict[Any, str], spots: list[NodeSpot]) -> Iterator[bytes]:
    taken: set[str] = set()
    for value in part.inputs:
        if value not in names:
            names[value] = _unique(scope + value.name, taken)
            yield _node(names[value], "Placeholder", [], [value])
    for operation in part.operations:
        name = _unique(scope + operation.name, taken)
        inputs = []
        for number, operand in enumerate(operation.inputs):
            if isinstance(operand, Constant):
                constant = f"{name}/constant_{number}"
                yield _node(constant, "Const", [], [operand])
                inputs.append(constant)
            else:
                inputs.append(names[operand])
        for number, output in enumerate(operation.outputs):
            names[output] = name if number == 0 else f"{name}:{number}"
        spots.append(NodeSpot(name, operation))
        yield _node(name, operation.type, inputs, operation.outputs, operation.origin)
        for number, region in enumerate(operation.regions):
            inner = f"{name}/{region.name or number}/"
            yield from _nodes(region, inner, {**names, **_given(region, inputs)}, spots)


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


def _node(
    name: str, kind: str, inputs: list[str], outputs: Sequence[Operand], origin: Origin | None = None
) -> bytes:
    attributes = {"_output_shapes": field(1, b"".join(field(7, _shape(each.spec)) for each in outputs))}
    if outputs and isinstance(outputs[0].spec, TensorType) and outputs[0].spec.dtype.name in NUMBERS:
        attributes["dtype"] = field(6, NUMBERS[outputs[0].spec.dtype.name])
    if origin is not None:
        attributes["line"] = field(2, str(origin))
    entries = b"".join(field(5, field(1, key) + field(2, value)) for key, value in attributes.items())
    return field(1, name) + field(2, kind) + b"".join(field(3, each) for each in inputs) + entries


def _shape(spec: AnySpec) -> bytes:
    """Return the TensorShapeProto message of a tensor type; the shape of other values is unknown."""
    dims = spec.shape if isinstance(spec, TensorType) else None
    if dims is None:
        return field(3, 1)
    return b"".join(field(2, field(1, -1 if size is None else size)) for size in dims)
