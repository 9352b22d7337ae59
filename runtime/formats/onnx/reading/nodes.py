"""Graphs of a file as records, and the check that every operator is supported before anything runs.

node { op_type: "Twice" domain: "own" input: "x" }     ==>     OnnxNode("own.Twice", ["x"], body=NodeGraph(["a"], …))
functions { name: "Twice" input: "a" … }

A call of a function that the file defines has the body as its own graph, with the attributes of the call in it. So has
an operator without a rule for which the standard has such a function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import DataLossError, UnimplementedError
from ..onnx_types import onnx
from .operators.registry import OPERATORS
from .protos import TensorReader

_PREFIXES = {"": "", "ai.onnx.ml": "ml."}
_MOST_NESTED = 50
_MOST_NODES = 1_000_000


class OnnxNode(NamedTuple):
    """One node: the operator, names of operands ("" for one left out) and results, attributes, and its opset."""

    op: str
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attrs: Mapping[str, Any]
    opset: int
    body: NodeGraph | None = None
    """The graph of a function of the file, which this node calls."""

    def graphs(self) -> list[NodeGraph]:
        """Return the graphs in the attributes, which see the values around the node."""
        return [value for value in self.attrs.values() if isinstance(value, NodeGraph)]

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
        """Yield all nodes, those of subgraphs and called functions included."""
        for node in self.nodes:
            yield node
            for graph in node.graphs() if node.body is None else [node.body]:
                yield from graph.walk()


class _Scope(NamedTuple):
    """The versions of operators for the nodes of a graph, and in a function the attributes of its call."""

    opsets: Mapping[str, int]
    attributes: Mapping[str, Any] | None = None
    depth: int = 0

    def inner(self) -> _Scope:
        """Return the scope of a graph inside; ValueError if it is too deep, as in a function that calls itself."""
        if self.depth >= _MOST_NESTED:
            raise ValueError(f"subgraphs and functions are nested more than {_MOST_NESTED} deep")
        return self._replace(depth=self.depth + 1)


class GraphReader:
    """Reads the graph of a ModelProto, whose external data are in `folder`.

    Raises ValueError for graphs that are nested too deeply, and too many nodes with those of called functions.
    """

    def __init__(self, model: Any, folder: Path) -> None:
        self._tensors = TensorReader(folder)
        self._functions = {(_domain(each.domain), each.name, each.overload): each for each in model.functions}
        self._bodies: dict[Any, tuple[NodeGraph, int]] = {}
        self._count = 0
        self.graph = self._graph(model.graph, _Scope(_opsets(model)))

    def _graph(self, proto: Any, scope: _Scope) -> NodeGraph:
        if proto.sparse_initializer:
            raise ValueError("sparse constants are not supported")
        return NodeGraph(
            proto.name,
            [value.name for value in proto.input],
            [value.name for value in proto.output],
            {tensor.name: self._tensors.array(tensor) for tensor in proto.initializer},
            [self._node(each, scope) for each in proto.node],
        )

    def _node(self, proto: Any, scope: _Scope) -> OnnxNode:
        self._add(1)
        domain = _domain(proto.domain)
        attrs = self._attributes(proto, scope)
        opset = scope.opsets.get(domain, 1)
        op = f"{_PREFIXES.get(domain, f'{domain}.')}{proto.op_type}"
        function = self._functions.get((domain, proto.op_type, proto.overload))
        if function is None and op not in OPERATORS:
            function = _function_of_the_standard(proto.op_type, domain, opset)
        body = None if function is None else self._body(function, proto, attrs, scope.inner())
        return OnnxNode(op, proto.name, list(proto.input), list(proto.output), attrs, opset, body)

    def _add(self, count: int) -> None:
        self._count += count
        if self._count > _MOST_NODES:
            raise ValueError(
                f"it has more than {_MOST_NODES} nodes, with those of the functions that it calls"
            )

    def _body(self, function: Any, call: Any, attrs: Mapping[str, Any], scope: _Scope) -> NodeGraph:
        """Return the graph of a function for the attributes of a call; calls without attributes share it."""
        key = None if attrs else (function.domain, function.name, function.overload)
        if key in self._bodies:
            body, count = self._bodies[key]
            self._add(count)
            return body
        if len(call.input) > len(function.input) or len(call.output) > len(function.output):
            raise ValueError(f"the function {function.name!r} has fewer operands or results than its call")
        start = self._count
        defaults = {each.name: self._attribute(each, scope) for each in function.attribute_proto}
        opsets = {**scope.opsets, **_opsets(function)}
        own = _Scope(opsets, {**defaults, **attrs}, scope.depth)
        nodes = [self._node(each, own) for each in function.node]
        body = NodeGraph(function.name, list(function.input), list(function.output), {}, nodes)
        if key is not None:
            self._bodies[key] = body, self._count - start
        return body

    def _attributes(self, proto: Any, scope: _Scope) -> dict[str, Any]:
        """Return the attributes of a node, without those that refer to an attribute which the call lacks."""
        found = {}
        for each in proto.attribute:
            if not each.ref_attr_name:
                found[each.name] = self._attribute(each, scope)
            elif scope.attributes is None:
                raise ValueError(
                    f"the attribute {each.name!r} refers to one of a function outside of functions"
                )
            elif each.ref_attr_name in scope.attributes:
                found[each.name] = scope.attributes[each.ref_attr_name]
        return found

    def _attribute(self, proto: Any, scope: _Scope) -> Any:
        kind = type(proto).AttributeType.Name(proto.type)
        if kind in ("STRING", "STRINGS"):
            return proto.s.decode() if kind == "STRING" else tuple(text.decode() for text in proto.strings)
        if kind == "TENSOR":
            return self._tensors.array(proto.t)
        if kind == "GRAPH":
            return self._graph(proto.g, scope.inner())
        if kind not in _FIELDS:
            raise ValueError(f"the attribute {proto.name!r} is of a kind that no operator has")
        value = getattr(proto, _FIELDS[kind])
        return tuple(value) if kind.endswith("S") else value


_FIELDS = {"FLOAT": "f", "INT": "i", "FLOATS": "floats", "INTS": "ints"}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _opsets(proto: Any) -> dict[str, int]:
    return {_domain(each.domain): each.version for each in proto.opset_import}


def _function_of_the_standard(name: str, domain: str, opset: int) -> Any:
    """Return the function by which ONNX itself defines an operator, or None."""
    if not onnx.defs.has(name, domain):
        return None
    try:
        schema = onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:  # the operator is newer than the model
        return None
    if not schema.has_function:
        return None
    function = schema.function_body
    defaults = [each.default_value for each in schema.attributes.values()]
    function.attribute_proto.extend(each for each in defaults if each.name)
    return function


def check_operators(graph: NodeGraph, path: Path) -> None:
    """Raise UnimplementedError, which lists all unsupported operators with their number."""
    missing = Counter(node.op for node in graph.walk() if node.body is None and node.op not in OPERATORS)
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
        for inner in node.graphs():
            check_names(inner, path, frozenset(known))
        if node.body is not None:
            check_names(node.body, path)
        known.update(name for name in node.outputs if name)
    unknown = [name for name in graph.outputs if name not in known]
    if unknown:
        raise DataLossError(f"{path} is damaged: its result {unknown[0]!r} is not defined")
