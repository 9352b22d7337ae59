"""Read a number that is spread over a tensor as the number.

    s = spread 1.0, [2, 3]                          y = multiply 3.0, x
    t = multiply s, 3.0                     ==>
    y = multiply t, x

Gradients of sums and means are full of these. Only operations that give the same to the last bit however their operands
are shaped: NumPy has other ways of its own for some functions of numbers.
"""

from __future__ import annotations

import numpy as np

from ..core.shapes import is_static
from ..ir.clone import with_parts
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ops.framework.op import REGISTRY
from .options import Options
from .rewriter import Found, Rewriter, Rule, rewrite_all

SPREADING = {"spread": 0, "broadcast_to": 0, "fill": 1}
"""Operations that repeat an operand, and its number."""


def run(graph: Graph, options: Options) -> Graph:
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
        return (walk.add(REGISTRY["broadcast_to"], [number, Constant(np.array(shape, np.int32))]),)
    return None


def _number(operand: Operand, walk: Rewriter) -> Operand:
    """The number that is everywhere in a tensor, if one is; else the operand itself.

    A tensor whose shape is not known may not fit.
    """
    maker = walk.maker(operand)
    if maker is None or maker.op.name not in SPREADING or not is_static(operand.shape):
        return operand
    number = maker.inputs[SPREADING[maker.op.name]]
    return number if number.shape == () else operand


RULES: dict[str, Rule] = dict.fromkeys(("add", "subtract", "multiply", "realdiv"), _simplified)
