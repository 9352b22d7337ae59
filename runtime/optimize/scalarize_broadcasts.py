"""Scalarize broadcasts: use a scalar directly, rather than its broadcast to a tensor.

    s = spread 1.0, [2, 3]                          y = multiply 3.0, x
    t = multiply s, 3.0                     ==>
    y = multiply t, x

Gradients of sums, means and selections have many of these. The pass covers only operations with results that are the
same to the last bit for all shapes. NumPy computes some other functions differently for scalars.
"""

from __future__ import annotations

import numpy as np

from ..core.shapes import is_static
from ..ir.clone import with_parts
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.op_def import OpDef
from ..ops.arrays.creation import fill
from ..ops.arrays.reshape import broadcast_to, expand_dims, reshape, squeeze
from ..ops.arrays.where_ops import choose
from ..ops.math.arithmetic import add, multiply, realdiv, subtract
from ..ops.reduce.reductions import spread
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all

RESHAPES: frozenset[OpDef] = frozenset({expand_dims, reshape, squeeze})
SPREADING: dict[OpDef, int] = {spread: 0, broadcast_to: 0, fill: 1, **dict.fromkeys(RESHAPES, 0)}
"""Operations that broadcast an operand, and the number of that operand."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, RULES)


def _simplified(operation: Operation, walk: Rewriter) -> Found:
    operands = operation.inputs
    (result,) = operation.outputs
    shape = result.shape
    if shape is None or not is_static(shape) or 0 in shape or not shape:
        return None
    numbers = [_number(operand, walk) for operand in operands]
    if all(number is operand for number, operand in zip(numbers, operands, strict=True)):
        return None
    if any(number.shape == shape for number in numbers):
        walk.current = with_parts(operation, numbers)
    elif all(number.shape == () for number in numbers):
        number = walk.add(operation.op, numbers, operation.attrs)
        return (walk.add(broadcast_to, [number, Constant.int32(shape)]),)
    return None


def _number(operand: Operand, walk: Rewriter) -> Operand:
    """Return the scalar that fills a tensor, if there is one; else the operand itself.

    If the shape is unknown, the broadcast may fail, so it is kept.
    """
    maker = walk.maker(operand)
    if maker is None or not is_static(operand.shape):
        return operand
    if maker.op.fills is not None and operand.dtype.kind in "biufc":
        return Constant(np.full((), maker.op.fills, operand.dtype.numpy_dtype))
    if maker.op not in SPREADING:
        return operand
    number = maker.inputs[SPREADING[maker.op]]
    if maker.op in RESHAPES:
        number = _number(number, walk)
    return number if number.shape == () else operand


RULES: dict[OpDef, Rule] = dict.fromkeys((add, subtract, multiply, realdiv, choose), _simplified)
