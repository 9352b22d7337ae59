"""Write graphs of agc as graphs and functions of TensorFlow: each operation by its rule.

graph f(x: float32[3])               function { signature { name: "f_1a2b3c4d" … }
  add = add x, 1.0          ==>          node_def { name: "add" op: "AddV2" input: ["x", "add/Const:output:0"] … }
  return add                             ret { "add": "add:z:0" } }
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from ...functionalize.errors import Reason
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.value_types import AnySpec, ListType, TensorType, VariableType
from .attribute_values import TYPE_NUMBERS, encode_shape
from .body import Body
from .graph_messages import ArgDef, FunctionDef, FunctionDefLibrary
from .nodes import GraphNode, NodeResult
from .rule_registry import CHANGED_NUMBERS, DIRECT, REFUSED, RULES, STRUCTURES, RefusedByRuleError


class Library:
    """The functions of a file, each written once, and the reasons why operations cannot be written."""

    def __init__(self, lists_grow: bool = False) -> None:
        self.lists_grow = lists_grow
        self.message = FunctionDefLibrary()
        self.reasons: list[Reason] = []
        self.warnings: list[Reason] = []
        self._names: dict[int, str] = {}
        self._known: set[str] = set()
        self._graphs: list[Graph] = []  # keeps them alive: names are stored by `id`

    def function(self, graph: Graph, wanted: str) -> str:
        """Return the name of the function for a graph or region, which is written if it is new."""
        name = self._names.get(id(graph))
        if name is None:
            writer = FunctionWriter(self, wanted)
            writer.add(graph)
            name = self._names[id(graph)] = self.append(writer.message(graph.inputs, graph.outputs))
            self._graphs.append(graph)
        return name

    def body(self, in_function: bool) -> Body:
        """Return an empty graph or function."""
        body = Body(in_function)
        body.lists_grow = self.lists_grow
        return body

    def append(self, function: FunctionDef, about: bytes = b"") -> str:
        """Add a function, and return its name, which ends with a checksum of the content, and of what is `about` it.

        So equal functions are written once, and different ones of several files have different names: a process has
        a single table of functions.
        """
        checksum = zlib.crc32(function.SerializeToString(deterministic=True) + about)
        name = f"{re.sub(r'[^A-Za-z0-9_]', '_', function.signature.name)}_{checksum:08x}"
        if name not in self._known:
            self._known.add(name)
            function.signature.name = name
            self.message.function.adopt([function])
        return name


class FunctionWriter:
    """The nodes of one graph or function, and which result each value of agc's graph is."""

    def __init__(self, library: Library, name: str, body: Body | None = None) -> None:
        self.library = library
        self.name = name
        self.body = library.body(in_function=True) if body is None else body
        self.results: dict[Operand, NodeResult] = {}

    def add_parameters(self, values: Iterable[Value]) -> None:
        """Add parameters of the function, unless they have results already."""
        for value in values:
            if value not in self.results:
                self.bind(value, self.body.parameter(argument_name(value.name), dtype_of(value.spec)))

    def add(self, graph: Graph) -> None:
        """Add the operations of a graph; its inputs become parameters unless they have results already."""
        self.add_parameters(graph.inputs)
        for operation in graph.live_operations():
            self._write(operation)

    def bind(self, operand: Operand, result: NodeResult) -> None:
        """Let a result be what a value of agc's graph is; a result of several values is that of the first."""
        if result.spec is None:
            result.spec = operand.spec
        self.results[operand] = result

    def result(self, operand: Operand) -> NodeResult:
        """Return what an operand is."""
        if isinstance(operand, Constant):
            found = self.body.const(operand.value)
            if found.spec is None:
                found.spec = operand.spec
            return found
        return self.results[operand]

    def _write(self, operation: Operation) -> None:
        start = len(self.body.nodes)
        try:
            outputs = self._outputs(operation)
        except RefusedByRuleError as error:
            self.library.reasons.append(Reason(operation, str(error)))
            del self.body.nodes[start:]
            outputs = [self._absent(value) for value in operation.outputs]
        scope = operation.outputs[0].name if operation.outputs else operation.type
        for value, result in zip(operation.outputs, outputs, strict=True):
            self.bind(value, result)
        self.body.name_nodes(start, scope, outputs)

    def _absent(self, value: Value) -> NodeResult:
        """Return a placeholder, with which the other operations are tried, too."""
        node = GraphNode("", None, ())
        node.name = "absent"
        return NodeResult(node, "", 0, 0, dtype_of(value.spec))

    def _outputs(self, operation: Operation) -> list[NodeResult]:
        made = self._made(operation)
        if isinstance(made, GraphNode):
            return []
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def _made(self, operation: Operation) -> Any:
        op, name = operation.op, operation.type
        if op in STRUCTURES:
            return STRUCTURES[op](self, operation)
        inputs = op.grouped([self.result(operand) for operand in operation.inputs])
        if name in DIRECT:
            return DIRECT[name].write(
                self.body, dict(zip(op.input_names, inputs, strict=True)), operation.attrs
            )
        rule = RULES.get(name)
        if rule is None:
            raise RefusedByRuleError(REFUSED.get(name, "TensorFlow has no such operation"))
        if name in CHANGED_NUMBERS:
            self.library.warnings.append(Reason(operation, "TensorFlow draws other random numbers"))
        self.body.outputs = [value.spec for value in operation.outputs]
        return rule(self.body, *inputs, **operation.attrs)

    def region(self, graph: Graph, label: str) -> str:
        """Return the name of the function for a region."""
        return self.library.function(graph, f"{self.name}_{label}")

    def message(
        self, inputs: Sequence[Value], outputs: Sequence[Operand], names: Sequence[str] = ()
    ) -> FunctionDef:
        """Return the function as a message."""
        body = self.body
        message = FunctionDef()
        signature = message.signature
        signature.name = self.name
        signature.input_arg.adopt(_parameter(self.results[value].node.name, value.spec) for value in inputs)
        returned = [self.result(operand) for operand in outputs]
        body.name_nodes(0, "result", ())
        taken = Body(in_function=True)
        wanted = names or [getattr(operand, "name", "output") for operand in outputs]
        for name, operand, result in zip(wanted, outputs, returned, strict=True):
            own = taken.unique(argument_name(name))
            signature.output_arg.adopt([_parameter(own, operand.spec)])
            message.ret[own] = result.text(True)
        if any(node.signature is not None and node.signature.is_stateful for node in body.nodes):
            signature.is_stateful = True
            for node in body.last_effects:
                message.control_ret[node.name] = node.name
                signature.control_output.append(node.name)
        message.node_def.adopt(body.messages())
        return message


def argument_name(name: str) -> str:
    """Return a name in the form of TensorFlow's parameters: lower case, digits and `_`, a letter first.

    >>> argument_name("X.1"), argument_name("_h")
    ('x_1', 'h')
    """
    found = re.sub(r"[^a-z0-9_]", "_", name.lower()).lstrip("_0123456789")
    return found or "value"


def dtype_of(spec: AnySpec) -> str:
    """Return the dtype that TensorFlow has for a value of this type."""
    if isinstance(spec, VariableType):
        return "resource"
    return "variant" if isinstance(spec, ListType) else spec.dtype.name


def _parameter(name: str, spec: AnySpec) -> ArgDef:
    message = ArgDef(name=name, type=TYPE_NUMBERS[dtype_of(spec)])
    if isinstance(spec, VariableType):
        handle = message.handle_data.add(dtype=TYPE_NUMBERS[spec.content.dtype.name])
        encode_shape(handle.shape, spec.content.shape)
    return message


def shape_of(spec: AnySpec) -> Any:
    """Return the shape of a value as a tensor of TensorFlow: lists and references to variables are scalars."""
    return spec.shape if isinstance(spec, TensorType) else ()
