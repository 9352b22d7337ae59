"""Write sums of products of two factors as products of matrices, which other passes understand.

s = einsum k, q [equation='bkhd,bqhd->bhqk']     ==>     a = transpose q, [0, 2, 1, 3]
                                                         b = transpose k, [0, 2, 1, 3]
                                                         s = matmul a, b [transpose_b=True]

The kernel of `einsum` multiplies the same matrices, if the product is large. Each factor must have one axis of rows or
columns and one that is summed, so that nothing is reshaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.shapes import is_static
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.op_def import OpDef
from ..ops.arrays.reshape import permute_axes
from ..ops.linalg.einsum import einsum_op
from ..ops.linalg.einsum_kernel import FAST, is_worth_it, matrix_form, sizes_of, spelled
from ..ops.linalg.matmul import matmul_op
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, RULES)


def _einsum(operation: Operation, walk: Rewriter) -> Found:
    factors = operation.inputs
    shapes = [operand.spec.shape for operand in factors]  # type: ignore[union-attr]
    if len(factors) != 2 or factors[0].dtype.numpy_dtype.char not in FAST or not all(map(is_static, shapes)):
        return None
    terms, result = spelled(operation.attrs["equation"], shapes)  # type: ignore[arg-type]
    sizes, form = sizes_of(terms, shapes), matrix_form(terms[0], terms[1], result)  # type: ignore[arg-type]
    if sizes is None or form is None or not is_worth_it(form, sizes):
        return None
    _, batch, rows, columns, summed = form
    if max(map(len, (rows, columns, summed))) > 1:
        return None
    first, second = (1, 0) if form.is_swapped else (0, 1)
    a, is_a_turned = _matrices(walk, factors[first], terms[first], batch, *rows, *summed)
    b, is_b_turned = _matrices(walk, factors[second], terms[second], batch, *summed, *columns)
    turned = {"transpose_a": is_a_turned, "transpose_b": is_b_turned}
    product = walk.add(matmul_op, [a, b], {**matmul_op.attribute_defaults, **turned})
    return (_in_order(walk, product, [*batch, *rows, *columns], result),)


def _matrices(
    walk: Rewriter, factor: Operand, labels: str, batch: Sequence[str], row: str, column: str
) -> tuple[Operand, bool]:
    """Return a factor as matrices, and whether these are transposed: the order of both axes remains the same."""
    is_turned = labels.index(row) > labels.index(column)
    return _in_order(
        walk, factor, labels, [*batch, *((column, row) if is_turned else (row, column))]
    ), is_turned


def _in_order(walk: Rewriter, factor: Operand, labels: Sequence[str], wanted: Sequence[str]) -> Operand:
    """Return a tensor with its axes in another order."""
    perm = [labels.index(label) for label in wanted]
    if perm == sorted(perm):
        return factor
    return walk.add(permute_axes, [factor, Constant.int32(perm)])


RULES: dict[OpDef, Rule] = {einsum_op: _einsum}
