"""Write a program as a frozen GraphDef: inputs are placeholders, variables are constants.

f(x, w)     ==>     node { name: "x" op: "Placeholder" }   node { name: "w" op: "Const" }   …
                    node { name: "output_0" op: "Identity" input: "add" }
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ...functionalize.errors import Reason
from ...functionalize.variables import without_variables
from ...ir.graph import Constant, Graph, Operand, Operation
from ...ops.lists.tensor_array import array_new
from ...ops.state import variable_ops
from ...ops.state.variable_scatter import scatter_variable
from ..program import Program
from ..refusals import CannotExportError, refusing
from . import rules  # noqa: F401  # registers them
from .functions import FunctionWriter, Library, dtype_of
from .graph_messages import GraphDef
from .nodes import NodeResult

PRODUCER = 1882
"""The version of the graph format."""

ASSIGNMENTS = frozenset(
    {
        variable_ops.assign_variable, variable_ops.assign_add_variable, variable_ops.assign_sub_variable,
        scatter_variable,
    }
)  # fmt: skip


def graph_def(program: Program) -> GraphDef:
    """Return the graph of a program. Raises CannotExportError with all reasons, also for assigned variables."""
    library = Library(lists_grow(program.graph))
    graph, captured = _without_variables(program)
    body = library.body(in_function=False)
    writer = FunctionWriter(library, program.name, body)
    values = graph.inputs[len(program.inputs) :]
    for port, value in zip(program.inputs, graph.inputs, strict=False):
        made = body.add("Placeholder", dtype=dtype_of(value.spec), shape=port.spec.shape)
        made.node.name = body.unique(port.name)
        writer.bind(value, made)
    for each, value in zip(captured, values, strict=True):
        made = body.add("Const", value=body.content(each), dtype=dtype_of(value.spec))
        made.node.name = body.unique(value.name)
        writer.bind(value, made)
    writer.add(graph)
    name_outputs(writer, [port.name for port in program.outputs], graph.outputs)
    check(library, "a GraphDef", program.name)
    message = GraphDef()
    message.node.adopt(body.messages())
    message.library.MergeFrom(library.message)
    message.versions.producer = PRODUCER
    return message


def _without_variables(program: Program) -> tuple[Graph, list[Constant]]:
    """Return the graph with variables as values, and their present values; refuse a program that assigns them."""
    with refusing("a GraphDef", program.name):
        graph, assigned = without_variables(program.graph)
    if assigned:
        text = "a frozen graph has constants for variables; write a saved model instead"
        changes = [
            Reason(operation, text) for operation in program.graph.walk() if operation.op in ASSIGNMENTS
        ]
        raise CannotExportError("a GraphDef", program.name, changes or [text])
    return graph, [Constant(each.variable._array) for each in program.variables]


def name_outputs(
    writer: FunctionWriter, names: Sequence[str], outputs: Sequence[Operand]
) -> list[NodeResult]:
    """Add a node with its own name for each output, after all effects."""
    body, found = writer.body, []
    for name, operand in zip(names, outputs, strict=True):
        made = body.Identity(writer.result(operand))
        made.node.controls += body.last_effects
        made.node.name = body.unique(name)
        found.append(made)
    body.name_nodes(0, "constant", ())
    return found


def lists_grow(graph: Graph) -> bool:
    """Return whether a program has a TensorArray that grows when it is written past its end."""
    return any(_grows(operation) for operation in graph.walk())


def _grows(operation: Operation) -> bool:
    return operation.op is array_new and bool(operation.attrs["dynamic"])


def check(library: Library, format_name: str, name: str) -> None:
    """Raise CannotExportError if an operation cannot be written; warn of random numbers."""
    if library.reasons:
        raise CannotExportError(format_name, name, library.reasons)
    for warning in library.warnings:
        warnings.warn(f"`{name}`: {warning}", stacklevel=4)
