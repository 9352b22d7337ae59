"""Queries of fusion: which operations of a graph are elementwise, which are reductions, and their cost."""

from __future__ import annotations

from ... import dtypes
from ...ir.graph import Operation
from ...ir.traits import ELEMENTWISE
from ...ir.value_types import TensorType


def cost(operation: Operation) -> float:
    """Return the approximate cost of an element in nanoseconds."""
    return 0.2 * operation.op.cost


def works_on_elements(operation: Operation) -> bool:
    """Return whether the operation is elementwise: each result element depends on one element of each operand.

    Operands may broadcast.
    """
    return operation.op.has(ELEMENTWISE) and _are_plain(operation)


def reduces(operation: Operation) -> bool:
    """Return whether the operation is a reduction that can be computed block by block."""
    reducer = operation.op.reducer
    if reducer is None or not _are_plain(operation):
        return False
    kind, wide = operation.inputs[0].dtype.kind, operation.inputs[0].dtype.size > 2
    if reducer.divides:
        return kind == "f" and wide
    return kind in "iub" or (kind == "f" and wide)


def _are_plain(operation: Operation) -> bool:
    """Return whether all operands and results are tensors of native NumPy number types."""
    for operand in (*operation.inputs, *operation.outputs):
        spec = operand.spec
        if not isinstance(spec, TensorType) or spec.dtype not in _NUMBERS:
            return False
    return True


_NUMBERS = frozenset(dtype for dtype in dtypes.ALL if dtype.kind in "biufc")
