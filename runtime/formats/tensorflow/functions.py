"""Write graphs of agc as nodes and functions of TensorFlow.

z = cond p, x                      node { name: "z" op: "StatelessIf" input: ["p", "x"]
      then x … else x …    ==>            attr { then_branch: f_then  else_branch: f_else } }
                                   library { function { … f_then … } function { … f_else … } }

Conditionals, loops and calls become functional operations, whose functions are the regions.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from ... import dtypes
from ...functionalize.errors import Reason
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.value_types import AnySpec, ListType, TensorType, VariableType
from ...ops.framework import region_ops
from .graph_messages import ArgDef, FunctionDef, FunctionDefLibrary
from .nodes import TYPE_NUMBERS, Body, GraphNode, NodeResult, encode_shape
from .rule_registry import CHANGED_NUMBERS, DIRECT, REFUSED, RULES, RefusedByRuleError


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
            inputs = [(value.name, value) for value in graph.inputs]
            name = self._names[id(graph)] = self.append(writer.message(inputs, graph.outputs))
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
            self.message.function._items.append(function)
            self.message.function._added()
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
            made = self._made(operation)
            outputs = (
                []
                if isinstance(made, GraphNode)
                else list(made)
                if isinstance(made, (list, tuple))
                else [made]
            )
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

    def _made(self, operation: Operation) -> Any:
        name = operation.type
        if operation.op in STRUCTURES:
            return STRUCTURES[operation.op](self, operation)
        inputs = [self.result(operand) for operand in operation.inputs]
        if name in DIRECT:
            return self.body.add(DIRECT[name], *operation.op.grouped(inputs))
        rule = RULES.get(name)
        if rule is None:
            raise RefusedByRuleError(REFUSED.get(name, "TensorFlow has no such operation"))
        if name in CHANGED_NUMBERS:
            self.library.warnings.append(Reason(operation, "TensorFlow draws other random numbers"))
        self.body.outputs = [value.spec for value in operation.outputs]
        return rule(self.body, *operation.op.grouped(inputs), **operation.attrs)

    def region(self, graph: Graph, label: str) -> str:
        """Return the name of the function for a region."""
        return self.library.function(graph, f"{self.name}_{label}")

    def message(
        self, inputs: Sequence[tuple[str, Value]], outputs: Sequence[Operand], names: Sequence[str] = ()
    ) -> FunctionDef:
        """Return the function as a message."""
        body = self.body
        message = FunctionDef()
        signature = message.signature
        signature.name = self.name
        for _, value in inputs:
            result = self.results[value]
            signature.input_arg._items.append(_parameter(result.node.name, value.spec))
        returned = [self.result(operand) for operand in outputs]
        body.name_nodes(0, "result", ())
        taken = Body(in_function=True)
        wanted = names or [getattr(operand, "name", "output") for operand in outputs]
        for name, operand, result in zip(wanted, outputs, returned, strict=True):
            own = taken.unique(argument_name(name))
            signature.output_arg._items.append(_parameter(own, operand.spec))
            message.ret[own] = result.text(True)
        signature.input_arg._added()
        signature.output_arg._added()
        if any(node.signature is not None and node.signature.is_stateful for node in body.nodes):
            signature.is_stateful = True
            for node in body.last_effects:
                message.control_ret[node.name] = node.name
                signature.control_output.append(node.name)
        message.node_def._items.extend(body.messages())
        message.node_def._added()
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


def _cond(writer: FunctionWriter, operation: Operation) -> Any:
    predicate, *args = map(writer.result, operation.inputs)
    then, orelse = (
        writer.region(region, label)
        for region, label in zip(operation.regions, ("then", "else"), strict=True)
    )
    specs = [value.spec for value in operation.outputs]
    return writer.body.add(
        "If" if operation.stateful else "StatelessIf",
        predicate, args, then_branch=then, else_branch=orelse, Tout=[dtype_of(spec) for spec in specs],
        output_shapes=[shape_of(spec) for spec in specs], _lower_using_switch_merge=True,
    )  # fmt: skip


def _switch(writer: FunctionWriter, operation: Operation) -> Any:
    index, *args = map(writer.result, operation.inputs)
    branches = [writer.region(region, "branch") for region in operation.regions]
    specs = [value.spec for value in operation.outputs]
    if index.dtype != "int32":
        index = writer.body.Cast(index, DstT="int32")
    return writer.body.add(
        "Case" if operation.stateful else "StatelessCase",
        index, args, branches=branches, Tout=[dtype_of(spec) for spec in specs],
        output_shapes=[shape_of(spec) for spec in specs], _lower_using_switch_merge=True,
    )  # fmt: skip


def _call(writer: FunctionWriter, operation: Operation) -> Any:
    (callee,) = operation.regions
    name = writer.library.function(callee, operation.attrs.get("name") or callee.name)
    return writer.body.add(
        "StatefulPartitionedCall" if operation.stateful else "PartitionedCall",
        list(map(writer.result, operation.inputs)), f=name,
        Tout=[dtype_of(value.spec) for value in operation.outputs],
    )  # fmt: skip


def _while(writer: FunctionWriter, operation: Operation) -> Any:
    """Write a loop: TensorFlow's bodies return the invariants, too, and count to `maximum_iterations`."""
    test, body = operation.regions
    limit = operation.attrs.get("maximum_iterations")
    count = len(operation.outputs)
    inputs = list(map(writer.result, operation.inputs))
    specs = [value.spec for value in body.inputs]
    if limit is not None:
        inputs.append(writer.body.const(min(limit, 2**31 - 1)))
    results = writer.body.add(
        "While" if operation.stateful else "StatelessWhile",
        inputs, cond=_loop_function(writer, test, "test", limit is not None, None),
        body=_loop_function(writer, body, "body", limit is not None, count),
        output_shapes=[shape_of(spec) for spec in specs] + [()] * (limit is not None), _lower_using_switch_merge=True,
    )  # fmt: skip
    return results[:count]


def _loop_function(
    writer: FunctionWriter, region: Graph, label: str, has_limit: bool, state: int | None
) -> str:
    """Write the test of a loop, or its body, which replaces `state` of the inputs."""
    inner = FunctionWriter(writer.library, f"{writer.name}_{label}")
    inner.add(region)
    outputs = list(region.outputs)
    inputs = list(region.inputs)
    if state is not None:
        outputs += region.inputs[state:]
    if has_limit:
        left = Value("iterations_left", TensorType(dtypes.int32, ()))
        inner.bind(left, inner.body.parameter("iterations_left", "int32"))
        inputs.append(left)
        result = Value("go_on", TensorType(dtypes.bool_, ())) if state is None else Value("left", left.spec)
        start = len(inner.body.nodes)
        if state is None:
            found = inner.body.LogicalAnd(
                inner.body.Greater(inner.results[left], 0), inner.result(outputs[0])
            )
            outputs = [result]
        else:
            found = inner.body.Sub(inner.results[left], 1)
            outputs.append(result)
        inner.bind(result, found)
        inner.body.name_nodes(start, result.name, [found])
    return writer.library.append(inner.message([(value.name, value) for value in inputs], outputs))


def _custom_gradient(writer: FunctionWriter, operation: Operation) -> Any:
    kept = operation.inputs[: len(operation.outputs)]
    return [writer.body.Identity(writer.result(operand)) for operand in kept]


STRUCTURES = {
    region_ops.COND: _cond,
    region_ops.SWITCH: _switch,
    region_ops.CALL: _call,
    region_ops.WHILE: _while,
    region_ops.CUSTOM: _custom_gradient,
}
"""By operation with regions, the function that writes it."""
