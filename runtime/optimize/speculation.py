"""Speculation: find operations that cannot fail, which may run even if the program would not run them.

Integer division fails for some divisors, indices may be out of range, and unknown shapes may not fit. So the
answer depends on the type of the operation and on the known shapes of its operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.shapes import is_static, num_elements
from ..ir.graph import Constant, Operand, Operation
from ..ir.traits import ANY_SHAPE, INTEGER_ERRORS, TOTAL
from ..ir.value_types import TensorType
from ..ops.arrays.reshape import reshape
from ..ops.framework.op_errors import FAILURES
from ..ops.framework.op_families import Elementwise


def is_speculatable(operation: Operation) -> bool:
    """Return whether an operation succeeds for all values of its operands."""
    if operation.stateful or operation.regions:
        return False
    op = operation.op
    if not op.has(TOTAL):
        return False
    operands = operation.inputs
    specs = [operand.spec for operand in operands]
    if not all(isinstance(spec, TensorType) and spec.dtype.kind != "S" for spec in specs):
        return False
    if op.has(INTEGER_ERRORS) and not all(spec.dtype.is_floating for spec in specs):  # type: ignore[union-attr]
        return False
    if isinstance(op, Elementwise):
        return _fit(operands)
    return op.has(ANY_SHAPE) or _are_known(operation)


def _fit(operands: tuple[Operand, ...]) -> bool:
    """Return whether shapes certainly broadcast: all are known, or all except one are scalars."""
    unknown = [operand for operand in operands if not is_static(operand.shape)]
    if not unknown:
        return _broadcast({operand.shape for operand in operands if operand.shape})
    return len(unknown) == 1 and all(operand.shape == () for operand in operands if operand is not unknown[0])


def _are_known(operation: Operation) -> bool:
    """Return whether all shapes are known and fit.

    They may not fit in code that never runs, if shapes are better known than in the trace.
    """
    if operation.op is reshape and type(operation.inputs[1]) is not Constant:
        return False  # the output shape may be refined, and does not prove that the number of elements fits
    specs = [operand.spec for operand in (*operation.inputs, *operation.outputs)]
    return all(isinstance(spec, TensorType) and is_static(spec.shape) for spec in specs) and _is_taken(
        operation
    )


def _is_taken(operation: Operation) -> bool:
    """Return whether type inference accepts the operands."""
    try:
        operation.op.infer(list(operation.inputs), operation.attrs)
    except FAILURES:
        return False
    return True


def _broadcast(known: set[Any]) -> bool:
    """Return whether shapes broadcast with each other."""
    try:
        return len(known) < 2 or np.broadcast_shapes(*known) is not None
    except ValueError:
        return False


def grows(operation: Operation) -> bool:
    """Return whether the result is much bigger than the operands, so that it is not worth keeping."""
    sizes = [
        num_elements(operand.shape) for operand in operation.inputs if isinstance(operand.spec, TensorType)
    ]
    made = sum(
        num_elements(value.shape) or 0 for value in operation.outputs if isinstance(value.spec, TensorType)
    )
    return made > 1024 and made > 2 * sum(size or 0 for size in sizes)
