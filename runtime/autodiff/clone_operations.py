"""Clone operations with new values. A reference to a variable may be replaced by its contents.

w = read_variable W                             (given W as w.1)
y = while x, W                                  y.1 = while x.1, w.1
  body x, W                          ==>          body x, w.1
    w = read_variable W
    x.1 = multiply x, w                             x.1 = multiply x, w.1
    yield x.1                                       yield x.1
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.clone import Substitution, clone_value, with_new_results
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import VariableType
from ..ops.state.variable_ops import read_variable


def copied(operations: Sequence[Operation], known: Substitution) -> list[Operation]:
    """Return clones of operations; `known` maps the live-in values to their replacements.

    The results are added to `known`. A plain value that replaces a reference is the contents of the variable.
    """
    copies = []
    for operation in operations:
        if operation.op is read_variable and not isinstance(
            of(operation.inputs[0], known).spec, VariableType
        ):
            known[operation.outputs[0]] = of(operation.inputs[0], known)
            continue
        operands = tuple(of(operand, known) for operand in operation.inputs)
        regions = tuple(_region(each, operands) for each in operation.regions)
        copies.append(with_new_results(operation, operands, regions, known))
    return copies


def of(operand: Operand, known: Substitution) -> Operand:
    """Return the replacement of an operand."""
    return operand if isinstance(operand, Constant) else known[operand]


def _region(region: Graph, operands: Sequence[Operand]) -> Graph:
    given = operands[len(operands) - len(region.inputs) :]
    inputs = []
    for value, operand in zip(region.inputs, given, strict=True):
        is_content = isinstance(value.spec, VariableType) and not isinstance(operand.spec, VariableType)
        inputs.append(clone_value(value, operand.spec if is_content else None))
    return copied_graph(region, inputs)


def copied_graph(graph: Graph, inputs: Sequence[Value]) -> Graph:
    """Return a copy of a graph with these inputs."""
    known: Substitution = dict(zip(graph.inputs, inputs, strict=True))
    operations = copied(graph.operations, known)
    return Graph(graph.name, tuple(inputs), tuple(operations), tuple(of(x, known) for x in graph.outputs))
