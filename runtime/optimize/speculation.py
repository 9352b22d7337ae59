"""Operations that cannot fail, whatever the values are: these alone may run where the program would not run them.

Integers cannot be divided by anything, indices can be out of range, shapes that are not known may not fit: so an
operation is total by its type, and by what the graph knows of the shapes that it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.shapes import is_static, num_elements
from ..ir.graph import Constant, Operand, Operation
from ..ir.value_types import TensorType
from ..ops.framework.op_errors import OF_COMPUTING
from ..ops.framework.op_families import Elementwise

PARTIAL = frozenset({"floordiv", "floormod", "truncatediv", "truncatemod", "pow"})
"""Elementwise operations that refuse some integers."""

TOTAL = frozenset({
    "broadcast_to", "cast", "complex", "concat", "expand_dims", "fill", "full_integers", "identity", "matmul", "ones",
    "ones_like", "rank", "reduce_all", "reduce_any", "reduce_mean", "reduce_prod", "reduce_sum", "relu", "reshape",
    "shape", "size", "squeeze", "stack", "stateless_random_normal", "stateless_random_truncated_normal",
    "stateless_random_uniform", "stop_gradient", "transpose", "matrix_transpose", "where", "zeros", "zeros_like",
})  # fmt: skip
"""Others that compute something of every value, once their shapes fit."""

MEASURES = frozenset(
    {"shape", "size", "rank", "identity", "stop_gradient", "zeros_like", "ones_like", "relu"}
)
"""Those that take any shape."""


def is_speculatable(operation: Operation) -> bool:
    """Whether an operation gives a result for all values of its operands."""
    if operation.stateful or operation.regions:
        return False
    op = operation.op
    operands = operation.inputs
    specs = [operand.spec for operand in operands]
    if not all(isinstance(spec, TensorType) and spec.dtype.kind != "S" for spec in specs):
        return False
    if isinstance(op, Elementwise):
        if op.name in PARTIAL and not all(spec.dtype.is_floating for spec in specs):  # type: ignore[union-attr]
            return False
        return _fit(operands)
    if op.name not in TOTAL:
        return False
    return op.name in MEASURES or _are_known(operation)


def _fit(operands: tuple[Operand, ...]) -> bool:
    """Whether shapes are known to broadcast: all of them are known, or all but one are those of scalars."""
    unknown = [operand for operand in operands if not is_static(operand.shape)]
    if not unknown:
        return _broadcast({operand.shape for operand in operands if operand.shape})
    return len(unknown) == 1 and all(operand.shape == () for operand in operands if operand is not unknown[0])


def _are_known(operation: Operation) -> bool:
    """Whether all shapes are known, and fit.

    They need not, if more is known than when the program was traced, where the operation will not run.
    """
    if operation.op.name == "reshape" and type(operation.inputs[1]) is not Constant:
        return False  # 6 elements would have the shape `2, 3` if they had the shape `2, n`, but they need not fit
    specs = [operand.spec for operand in (*operation.inputs, *operation.outputs)]
    return all(isinstance(spec, TensorType) and is_static(spec.shape) for spec in specs) and _is_taken(
        operation
    )


def _is_taken(operation: Operation) -> bool:
    """Whether the operation's rule takes its operands."""
    try:
        operation.op.infer(list(operation.inputs), operation.attrs)
    except (errors.OpError, *OF_COMPUTING):
        return False
    return True


def _broadcast(known: set[Any]) -> bool:
    """Whether some shapes are of tensors that broadcast."""
    try:
        return len(known) < 2 or np.broadcast_shapes(*known) is not None
    except ValueError:
        return False


def grows(operation: Operation) -> bool:
    """Whether the result is much bigger than what it is made from: not worth keeping, to save its computation."""
    sizes = [
        num_elements(operand.shape) for operand in operation.inputs if isinstance(operand.spec, TensorType)
    ]
    made = sum(
        num_elements(value.shape) or 0 for value in operation.outputs if isinstance(value.spec, TensorType)
    )
    return made > 1024 and made > 2 * sum(size or 0 for size in sizes)
