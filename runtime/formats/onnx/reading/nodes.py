"""Nodes of a graph as records, and the check that every operator is supported before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import DataLossError, UnimplementedError
from .operators.registry import OPERATORS
from .protos import array_of

_DOMAINS = {"": "", "ai.onnx": "", "ai.onnx.ml": "ml."}
_MOST_NESTED = 50


class OnnxNode(NamedTuple):
    """One node: the operator, names of operands ("" for one left out) and results, attributes, and its opset."""

    op: str
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attrs: Mapping[str, Any]
    opset: int

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attrs.get(name, default)

    def __str__(self) -> str:
        return f"{self.op}{f' ({self.name})' if self.name else ''}"


class NodeGraph(NamedTuple):
    """A graph: names of inputs and outputs, constants by name, and nodes in their order."""

    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    constants: Mapping[str, Any]
    nodes: Sequence[OnnxNode]

    def walk(self) -> Iterator[OnnxNode]:
        """Yield all nodes, those of subgraphs included."""
        for node in self.nodes:
            yield node
            for value in node.attrs.values():
                if isinstance(value, NodeGraph):
                    yield from value.walk()


def graph_of(proto: Any, opsets: Mapping[str, int], folder: Path | None, depth: int = 0) -> NodeGraph:
    """Return a GraphProto as records."""
    if depth > _MOST_NESTED:
        raise ValueError(f"subgraphs are nested more than {_MOST_NESTED} deep")
    if proto.sparse_initializer:
        raise ValueError("sparse constants are not supported")
    return NodeGraph(
        proto.name,
        [value.name for value in proto.input],
        [value.name for value in proto.output],
        {tensor.name: array_of(tensor, folder) for tensor in proto.initializer},
        [_node(each, opsets, folder, depth) for each in proto.node],
    )


def _node(proto: Any, opsets: Mapping[str, int], folder: Path | None, depth: int) -> OnnxNode:
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    prefix = _DOMAINS.get(domain)
    op = proto.op_type if prefix == "" else f"{prefix if prefix is not None else domain + '.'}{proto.op_type}"
    attrs = {each.name: _attribute(each, opsets, folder, depth) for each in proto.attribute}
    return OnnxNode(op, proto.name, list(proto.input), list(proto.output), attrs, opsets.get(domain, 1))


def _attribute(proto: Any, opsets: Mapping[str, int], folder: Path | None, depth: int) -> Any:
    kinds = type(proto)
    kind = proto.type
    if kind == kinds.FLOAT:
        return proto.f
    if kind == kinds.INT:
        return proto.i
    if kind == kinds.STRING:
        return proto.s.decode()
    if kind == kinds.TENSOR:
        return array_of(proto.t, folder)
    if kind == kinds.GRAPH:
        return graph_of(proto.g, opsets, folder, depth + 1)
    if kind == kinds.FLOATS:
        return tuple(proto.floats)
    if kind == kinds.INTS:
        return tuple(proto.ints)
    if kind == kinds.STRINGS:
        return tuple(text.decode() for text in proto.strings)
    raise ValueError(f"the attribute {proto.name!r} is of a kind that no operator has")


def check_operators(graph: NodeGraph, path: Path) -> None:
    """Raise UnimplementedError, which lists all unsupported operators with their number."""
    missing = Counter(node.op for node in graph.walk() if node.op not in OPERATORS)
    if missing:
        listed = ", ".join(f"{op} ({count})" for op, count in sorted(missing.items()))
        raise UnimplementedError(f"{path} has operators that are not supported: {listed}")


def check_names(graph: NodeGraph, path: Path, outer: frozenset[str] = frozenset()) -> None:
    """Raise DataLossError for an operand that no earlier node, input or constant defines."""
    known = {*outer, *graph.inputs, *graph.constants}
    for node in graph.nodes:
        unknown = [name for name in node.inputs if name and name not in known]
        if unknown:
            raise DataLossError(f"{path} is damaged: {node} takes {unknown[0]!r}, which nothing defines")
        for value in node.attrs.values():
            if isinstance(value, NodeGraph):
                check_names(value, path, frozenset(known))
        known.update(node.outputs)
    unknown = [name for name in graph.outputs if name not in known]
    if unknown:
        raise DataLossError(f"{path} is damaged: its result {unknown[0]!r} is not defined")
