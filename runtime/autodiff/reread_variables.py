"""Read variables again after an operation with regions, as residuals of its VJP.

y = while x, W                     y = while x, W
  ... read_variable W      ==>     w = read_variable W             the residual
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
    """Insert reads of variables right after an operation of the graph that is being built; return their contents.

    Args:
        references: a map from references in a region of the operation to those in the graph itself.
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
    """Return the operands of references in a region; `first` is the index of the region's first operand."""
    wanted = set(inner)
    operands = record.operation.inputs[first:]
    return {
        value: operand
        for region in record.operation.regions
        for value, operand in zip(region.inputs, operands, strict=True)
        if value in wanted
    }
