"""What an operation with regions reads of variables, read once more behind it.

y = while x, W                     y = while x, W
  ... read_variable W      ==>     w = read_variable W             what the way back needs of W
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..ir.builder import recorders
from ..ir.graph import Operand, Operation, Value
from ..ops.framework.op import wrap
from ..ops.state.variable_ops import read_variable
from .tape_records import GraphRecord


def reread_variables_after(record: GraphRecord, references: Mapping[Value, Operand]) -> dict[Value, Any]:
    """The contents of variables right behind an operation of the graph that is being built.

    Args:
        references: what stands for a variable in a region of the operation, and what in the graph itself.
    """
    found: dict[Operand, Any] = {}
    for outer in dict.fromkeys(references.values()):
        content = outer.spec.content  # type: ignore[union-attr]
        value = Value(outer.name, content)  # type: ignore[union-attr]
        operation = Operation(read_variable, (outer,), {}, (value,), (), record.operation.origin)
        operations = record.builder.operations
        operations.insert(operations.index(record.operation) + 1, operation)
        for tape in recorders():
            tape.added(operation, record.builder)
        found[outer] = wrap(value, record.builder)
    return {inner: found[outer] for inner, outer in references.items()}


def given_references(record: GraphRecord, inner: Iterable[Value], first: int = 0) -> dict[Value, Operand]:
    """The operands that references among a region's inputs stand for; `first` is the number of the first operand."""
    wanted = set(inner)
    operands = record.operation.inputs[first:]
    return {
        value: operand
        for region in record.operation.regions
        for value, operand in zip(region.inputs, operands, strict=True)
        if value in wanted
    }
