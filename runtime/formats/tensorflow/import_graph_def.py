"""`tf.graph_util.import_graph_def`: the results of a frozen graph of TensorFlow, computed from given tensors.

node { name: "x" op: "Placeholder" }  node { name: "y" op: "Relu" input: "x" }
import_graph_def(…, {"x": tensor}, ["y"])     ==>     [tf.raw_ops.Relu(features=tensor)]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...errors import UnimplementedError
from ...storage import regular_files
from ...storage.corruption import reading
from . import import_random, import_rules  # noqa: F401  # registers them
from .graph_import import GraphFunctions, plain, refuse
from .graph_messages import GraphDef
from .node_programs import node_program


@export("graph_util.import_graph_def", "import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any]:
    """Return results of a graph without variables, such as a frozen GraphDef.

    Args:
        graph_def: the path of a `.pb` file, its content as bytes, or a message of it with `SerializeToString`.
        input_map: tensors by the names of the results that they replace, such as "x" or "x:0".
        return_elements: the names of the results. TensorFlow's default, None, only adds nodes to its graph.
        name, op_dict, producer_op_list: accepted, without effect.

    Inside of `tf.function` the operations become part of its graph. Raises ValueError for names that the graph lacks,
    UnimplementedError that lists all operations that are not supported, DataLossError for a damaged file.

    >>> import tempfile
    >>> import agc.runtime as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "double.pb")
    >>> _ = tf.export.graphdef(tf.function(lambda x: x * 2.0), path, [tf.TensorSpec([2], tf.float32, "x")])
    >>> [y] = import_graph_def(Path(path), {"x": [1.0, 2.0]}, ["output_0"])
    >>> y.numpy().tolist()
    [2.0, 4.0]
    """
    if return_elements is None:
        raise ValueError("import_graph_def needs the names of the results, return_elements")
    content, source = _content(graph_def)
    given = {key.removesuffix(":0").lstrip("^"): value for key, value in (input_map or {}).items()}
    with reading(source):
        graph = GraphDef.FromString(content)
        functions = GraphFunctions(graph.library.function)
        wanted = [str(element) for element in return_elements]
        nodes = {node.name for node in graph.node}
        for reference in [*wanted, *given]:
            if reference.partition(":")[0] not in nodes:
                raise ValueError(f"there is no node {reference!r}")
        program = node_program(graph.node, list(given), wanted)
        for called in functions.called(program):
            functions.check_size(called)
        try:
            refuse(functions.unsupported((), [program]))
        except UnimplementedError as error:
            raise UnimplementedError(f"{source}: {error.message}") from None
    return [
        plain(result)
        for result in functions.run(program, [convert_to_tensor(each) for each in given.values()])
    ]


def _content(graph_def: Any) -> tuple[bytes, object]:
    """Return the bytes of a graph, and what errors call it."""
    if isinstance(graph_def, (bytes, bytearray, memoryview)):
        return bytes(graph_def), "the GraphDef"
    if hasattr(graph_def, "SerializeToString"):
        return graph_def.SerializeToString(), "the GraphDef"
    path = Path(os.fspath(graph_def))
    return regular_files.read(path), path
