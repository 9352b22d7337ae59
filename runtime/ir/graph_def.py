"""`GraphDef`, the result of `Graph.as_graph_def()`: the JSON form of a graph, under TensorFlow's names."""

from __future__ import annotations

import json
from typing import Any

from .graph import Graph
from .json_format import as_text, serialize
from .json_reader import GraphFormatError, deserialize


class GraphDef:
    """The result of `Graph.as_graph_def()`: `str` is readable JSON, `node` lists the operations.

    >>> from agc.runtime import constant, function
    >>> definition = function(lambda x: x + 1).get_concrete_function(constant(1)).graph.as_graph_def()
    >>> [node.op for node in definition.node]
    ['Placeholder', 'add']
    >>> GraphDef.FromString(definition.SerializeToString()) == definition
    True
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.data = serialize(graph)

    @property
    def node(self) -> list[NodeDef]:
        """The inputs, as nodes of type Placeholder, and the operations."""
        main = self.data["graphs"][0]
        naming = self.graph.naming()
        inputs = [{"op": "Placeholder", "outputs": [entry]} for entry in main["inputs"]]
        names = [naming.values[value].partition(":")[0] for value in self.graph.inputs]
        names += [naming.operations[operation] for operation in self.graph.operations]
        return [NodeDef(*pair) for pair in zip(names, [*inputs, *main["operations"]], strict=True)]

    def SerializeToString(self) -> bytes:
        """Return the JSON text in UTF-8."""
        return str(self).encode()

    @staticmethod
    def FromString(content: bytes) -> GraphDef:
        """Return the graph for the result of `SerializeToString`. Raises GraphFormatError."""
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise GraphFormatError(f"this is not JSON: {error}") from None
        return GraphDef(deserialize(data))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphDef) and self.data == other.data

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return as_text(self.data) + "\n"

    def __repr__(self) -> str:
        return f"<GraphDef of {self.data['graphs'][0]['name']!r}: {len(self.node)} nodes>"


class NodeDef:
    """One operation of a `GraphDef`: `name`, `op`, `input` (names of the operands), `attr`, `device`."""

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data
        self.op: str = data["op"]
        self.device: str = data.get("device", "")
        self.input = [entry if isinstance(entry, str) else str(entry) for entry in data.get("inputs", ())]
        self.attr: dict[str, Any] = data.get("attrs", {})

    def __str__(self) -> str:
        return as_text(self.data) + "\n"

    def __repr__(self) -> str:
        return f"<NodeDef {self.name!r} op={self.op!r}>"
