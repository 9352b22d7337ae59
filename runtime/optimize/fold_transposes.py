"""Fold transposes into matrix products.

t = transpose a, [1, 0]
c = matmul t, b                         ==>     c = matmul a, b [transpose_a=True]
d = einsum t, b [equation='ij,jk->ik']          d = einsum a, b [equation='ji,jk->ik']
e = tensordot t, b [axes_a=(1,), …]             e = tensordot a, b [axes_a=(0,), …]

Each factor is still read element by element as before, so the order of the sums remains the same. An `einsum`
of three or more factors is not changed: its order of multiplication may depend on the layout. Nor is a
`tensordot` with a result that would be transposed.
"""

from __future__ import annotations

from ..core.shapes import normal_axis
from ..ir.clone import with_parts
from ..ir.graph import Graph, Operand, Operation
from ..ir.op_def import OpDef
from ..ops.arrays.reshape import permute_axes
from ..ops.linalg.einsum import einsum_op
from ..ops.linalg.matmul import matmul_op
from ..ops.linalg.tensordot import tensordot_op
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


def _einsum(operation: Operation, walk: Rewriter) -> Found:
    left, arrow, right = operation.attrs["equation"].replace(" ", "").partition("->")
    terms = left.split(",")
    inputs = list(operation.inputs)
    if len(inputs) > 2 or len(terms) != len(inputs):
        return None
    for index, term in enumerate(terms):
        first, order = _transposed(inputs[index], walk)
        if first is not None and len(order) == len(term) and term.isalpha():
            inputs[index] = first
            terms[index] = "".join([term[order.index(axis)] for axis in range(len(order))])
    if tuple(inputs) != operation.inputs:
        attrs = {**operation.attrs, "equation": ",".join(terms) + arrow + right}
        walk.current = with_parts(operation, inputs, attrs=attrs)
    return None


def _tensordot(operation: Operation, walk: Rewriter) -> Found:
    inputs = list(operation.inputs)
    attrs = dict(operation.attrs)
    for index, side in enumerate(("axes_a", "axes_b")):
        first, order = _transposed(inputs[index], walk)
        if first is None:
            continue
        gone = [order[normal_axis(axis, len(order))] for axis in attrs[side]]
        left = [axis for axis in order if axis not in gone]
        if left == sorted(left):
            inputs[index], attrs[side] = first, tuple(gone)
    if tuple(inputs) != operation.inputs:
        walk.current = with_parts(operation, inputs, attrs=attrs)
    return None


def _turned(operand: Operand, walk: Rewriter) -> Operand | None:
    """Return the operand of a transpose that swaps the last two axes; None for other operands."""
    first, order = _transposed(operand, walk)
    count = len(order)
    swaps = count >= 2 and order == (*range(count - 2), count - 1, count - 2)
    return first if swaps else None


def _transposed(operand: Operand, walk: Rewriter) -> tuple[Operand | None, tuple[int, ...]]:
    """Return the operand of a transpose, and the order of its axes.

    None if `operand` is no transpose, or if the rank is unknown.
    """
    maker = walk.maker(operand)
    if maker is None or maker.op is not permute_axes or maker.attrs["conjugate"]:
        return None, ()
    order = axes(maker.inputs[1])
    spec: object = getattr(maker.inputs[0].spec, "shape", None)
    return (None, ()) if order is None or spec is None else (maker.inputs[0], order)


RULES: dict[OpDef, Rule] = {matmul_op: _matmul, einsum_op: _einsum, tensordot_op: _tensordot}
