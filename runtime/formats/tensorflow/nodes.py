"""Nodes of TensorFlow's graphs that are being written, and their results.

GraphNode("Sum", [x, axes], {"keep_dims": True})     ==>     node { name: "Sum" op: "Sum" input: "x" input: "Const"
                                                                    attr { key: "keep_dims" … } }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core import shapes
from .attribute_values import encode_attribute
from .graph_messages import NodeDef
from .signatures import NodeSignature


class NodeResult:
    """One result of a node, or a parameter of a function."""

    __slots__ = ("argument", "dtype", "index", "node", "number", "spec")

    def __init__(self, node: GraphNode, argument: str, number: int, index: int, dtype: str) -> None:
        self.node = node
        self.argument = argument
        self.number = number  # among the results of the argument
        self.index = index  # among all results
        self.dtype = dtype
        self.spec: Any = None  # the type in agc's graph, if this is a value of that

    def text(self, in_function: bool) -> str:
        """Return the name of the result in an input of another node."""
        if in_function and self.node.signature is not None:
            return f"{self.node.name}:{self.argument}:{self.number}"
        return f"{self.node.name}:{self.index}" if self.index else self.node.name

    @property
    def shape(self) -> shapes.Dims:
        """The shape, as far as agc's graph has it."""
        return self.spec.shape if self.spec is not None else None

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def kind(self) -> str:
        """The kind of the dtype, as in NumPy: `f` for floats, `iu` for integers, `c`, `b`, `O` for strings."""
        return (
            "f"
            if self.dtype.startswith(("bfloat", "float"))
            else dtypes.as_dtype(self.dtype).numpy_dtype.kind
        )


class GraphNode:
    """A node that gets its name when the graph is written; one without a signature is a parameter."""

    __slots__ = ("attributes", "controls", "inputs", "name", "op", "signature")

    def __init__(self, op: str, found: NodeSignature | None, inputs: Sequence[NodeResult]) -> None:
        self.op = op
        self.signature = found
        self.inputs = inputs
        self.controls: list[GraphNode] = []
        self.attributes: dict[str, Any] = {}
        self.name = ""

    def message(self, in_function: bool) -> NodeDef:
        """Return the node as a message."""
        message = NodeDef(name=self.name, op=self.op)
        names = [each.text(in_function) for each in self.inputs]
        message.input.extend(names + [f"^{node.name}" for node in self.controls])
        known = self.signature.attributes if self.signature is not None else {}
        for name, value in self.attributes.items():
            if name not in known or value != known[name].default or known[name].default is None:
                encode_attribute(message.attr[name], known[name].kind if name in known else "", value)
        return message
