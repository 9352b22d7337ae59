"""Fold transposes into matrix products.

t = transpose a, [1, 0]
c = matmul t, b                         ==>     c = matmul a, b [transpose_a=True]

Each factor is still read element by element as before, so the order of the sums remains the same.
"""

from __future__ import annotations

from ..ir.clone import with_parts
from ..ir.graph import Graph, Operand, Operation
from ..ir.op_def import OpDef
from ..ops.arrays.reshape import permute_axes
from ..ops.linalg.matmul import matmul_op
from .data_movement import axes
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, RULES)


def _matmul(operation: Operation, walk: Rewriter) -> Found:
    inputs: list[Operand] = []
    attrs = dict(operation.attrs)
    for operand, side in zip(operation.inputs, "ab", strict=True):
        before = None if attrs[f"adjoint_{side}"] else _turned(operand, walk)
        inputs.append(operand if before is None else before)
        attrs[f"transpose_{side}"] ^= before is not None
    if tuple(inputs) != operation.inputs:
        walk.current = with_parts(operation, inputs, attrs=attrs)
    return None


def _turned(operand: Operand, walk: Rewriter) -> Operand | None:
    """Return the operand of a transpose that swaps the last two axes; None for other operands."""
    maker = walk.maker(operand)
    if maker is None or maker.op is not permute_axes or maker.attrs["conjugate"]:
        return None
    first, order = maker.inputs[0], axes(maker.inputs[1])
    count = 0 if order is None else len(order)
    swaps = count >= 2 and order == (*range(count - 2), count - 1, count - 2)
    return first if swaps and getattr(first.spec, "shape", None) is not None else None


RULES: dict[OpDef, Rule] = {matmul_op: _matmul}
