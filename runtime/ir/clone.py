"""Clone operations and graphs, with other parts or with new values.

    y = while x                                     y.1 = while z             (x is z now)
      body x                                          body x.2
        x.1 = add x, 1                    ==>           x.3 = add x.2, 1
        yield x.1                                       yield x.3

Graphs are immutable: changed parts are new objects, and unchanged ones are shared. A clone keeps names and
origins, so a failure still names the line of user code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any

from .graph import Graph, Operand, Operation, Value
from .structured import is_call
from .value_types import AnySpec

Substitution = dict[Operand, Operand]
"""A mapping from values of a graph to their replacements."""


def are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Return whether the sequences have identical objects, not only equal ones."""
    return len(some) == len(others) and all(map(is_, some, others))


def with_parts(
    operation: Operation,
    inputs: Sequence[Operand] | None = None,
    regions: Sequence[Graph] | None = None,
    outputs: Sequence[Value] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> Operation:
    """Return the operation with other parts."""
    return Operation(
        operation.op,
        operation.inputs if inputs is None else tuple(inputs),
        operation.attrs if attrs is None else attrs,
        operation.outputs if outputs is None else tuple(outputs),
        operation.regions if regions is None else tuple(regions),
        operation.origin,
        operation.device,
    )


def with_regions(operation: Operation, regions: Sequence[Graph]) -> Operation:
    """Return the operation with these regions; `operation` itself if nothing changes."""
    return operation if are_same(regions, operation.regions) else with_parts(operation, regions=regions)


def substitute(operands: Iterable[Operand], known: Substitution) -> tuple[Operand, ...]:
    """Return the replacements of the operands."""
    return tuple([known.get(operand, operand) for operand in operands])


def reading(operation: Operation, known: Substitution) -> Operation:
    """Return the operation with its operands replaced."""
    if known.keys().isdisjoint(operation.inputs):
        return operation
    return with_parts(operation, substitute(operation.inputs, known))


def clone_value(value: Value, spec: AnySpec | None = None) -> Value:
    """Return a new value with the same name."""
    return Value(value.name, value.spec if spec is None else spec, value.elements)


def renewed(operation: Operation, known: Substitution) -> Operation:
    """Return a clone with new values, and add these to `known`."""
    shares = not operation.regions or is_call(operation)
    regions = operation.regions if shares else tuple(map(copied, operation.regions))
    return with_new_results(operation, substitute(operation.inputs, known), regions, known)


def with_new_results(
    operation: Operation, inputs: Sequence[Operand], regions: Sequence[Graph], known: Substitution
) -> Operation:
    """Return the operation with other operands, regions and new results, and add these to `known`."""
    outputs = tuple(map(clone_value, operation.outputs))
    known.update(zip(operation.outputs, outputs, strict=True))
    return with_parts(operation, inputs, regions, outputs)


def copied(graph: Graph) -> Graph:
    """Return a clone of the graph with new values, also in its regions; callees are shared."""
    inputs = tuple(map(clone_value, graph.inputs))
    known: Substitution = dict(zip(graph.inputs, inputs, strict=True))
    operations = [renewed(operation, known) for operation in graph.operations]
    return Graph(graph.name, inputs, tuple(operations), substitute(graph.outputs, known))
