"""Batch the matrix products of a loop: multiply all rows of a sequence by a matrix once, before the loop.

    i, s = while 0, z, xs, w                            f = reshape xs, [3200, 128]
      body i, s, xs, w                                  p = matmul f, w
        x = getitem xs, i [key='_']                     q = reshape p, [100, 32, 128]
        y = matmul x, w          : float32[32, 128]     i, s = while 0, z, xs, w, q
        …                                        ==>      body i, s, xs, w, q
                                                            y = getitem q, i [key='_']
                                                            …

Plans and native code use this pass if a product is so big that BLAS may share it among threads. The loop must
be known to go through the whole sequence. One product takes less time than many, and more of it runs in
parallel. Its sums may be rounded in another order, as with another number of threads: BLAS chooses the order
by the sizes. The pass runs after all other passes.

A matrix that a loop reads as its transpose, as gradients do, is transposed once, before the loop:

    y = matmul x, w [transpose_b=True]       ==>      y = matmul x, t         where t = transpose w, [1, 0]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.shapes import is_static
from ..ir.clone import clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ops.arrays.getitem import select
from ..ops.arrays.reshape import permute_axes, reshape
from ..ops.framework import narrow_floats
from ..ops.framework.induction_variables import index_ranges
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op
from .options import OptimizerOptions, may_change_loops
from .rewriter import Rewriter, rewrite_all
from .row_groups import static_shape
from .simplify_loops import trip_count

SHARED = 1 << 18
"""The number of multiplications from which a product is worth it: OpenBLAS uses one thread up to there."""

WIDEST = 4
"""The largest ratio of the elements of the products to the elements of the sequence."""


def run(graph: Graph, options: OptimizerOptions | None = None) -> Graph:
    if WHILE not in graph.ops:
        return graph
    return rewrite_all(graph, {WHILE: _batched}) if may_change_loops(options) else graph


def _batched(loop: Operation, walk: Rewriter) -> None:
    """Hoist the products of a loop that can be batched, and the transposes that other products read."""
    body = loop.regions[1]
    rounds = 0 if body.stateful else trip_count(loop) or 0
    indices = index_ranges(loop, rounds)
    rows: dict[Operand, Operation] = {each.outputs[0]: each for each in body.operations if each.op is select}
    given: dict[Operand, Operand] = dict(
        zip(body.inputs[len(loop.outputs) :], loop.inputs[len(loop.outputs) :], strict=True)
    )
    operations = list(body.operations)
    found: dict[Value, Value] = {}  # the inputs of the body for the values before the loop

    def read(value: Value) -> Value:
        return found.setdefault(value, clone_value(value))

    for position, product in enumerate(operations):
        if product.op is not matmul_op or product.inputs[1] not in given:
            continue
        left, matrix = product.inputs[0], given[product.inputs[1]]
        row = rows.get(left)
        is_row = row is not None and row.inputs[0] in given and goes_through(row, indices, rounds)
        if row is not None and is_row and _is_worth_it(product):
            whole = read(_product(walk, product, given[row.inputs[0]], matrix))
            operations[position] = with_parts(row, [whole, *row.inputs[1:]], outputs=product.outputs)
        elif product.attrs["transpose_b"] and static_shape(matrix) is not None and matrix.dtype.kind == "f":
            attrs = {**product.attrs, "transpose_b": False}
            operations[position] = with_parts(
                product, [left, read(_transpose(walk, product, matrix))], attrs=attrs
            )
    if found:
        walk.current = _with(loop, operations, found)


def _with(loop: Operation, operations: list[Operation], found: dict[Value, Value]) -> Operation:
    """Return the loop with the new operations in its body, and `found` as further operands."""
    test, body = loop.regions
    regions = (
        Graph(test.name, (*test.inputs, *map(clone_value, found)), test.operations, test.outputs),
        Graph(body.name, (*body.inputs, *found.values()), tuple(operations), body.outputs),
    )
    return with_parts(loop, [*loop.inputs, *found], regions)


def goes_through(row: Operation, indices: Mapping[Operand, range], rounds: int, step: int = 1) -> bool:
    """Return whether an operation yields each row of a sequence, in the order of iterations or backwards."""
    sequence, *index = row.inputs
    shape: Any = sequence.shape
    if row.attrs["key"] != "_" or len(index) != 1 or not is_static(shape) or len(shape) != 3:
        return False
    return shape[0] == rounds and indices.get(index[0]) == range(rounds)[::step]


def _is_worth_it(product: Operation) -> bool:
    left, right = product.inputs
    attrs = product.attrs
    one: Any = left.shape
    other: Any = right.shape
    if attrs["transpose_a"] or attrs["adjoint_a"] or attrs["adjoint_b"] or narrow_floats.is_used_by(product):
        return False
    if not is_static(other) or len(other) != 2 or left.dtype.kind != "f":
        return False
    (rows, inner), columns = one, other[0 if attrs["transpose_b"] else 1]
    return bool(rows * inner * columns > SHARED and columns <= WIDEST * inner)


def _product(walk: Rewriter, product: Operation, sequence: Operand, matrix: Operand) -> Value:
    """Emit the batched product before the loop."""
    shape: Any = sequence.shape
    count, rows, inner = shape
    with _instead_of(walk, product):
        flat = walk.add(reshape, [sequence, Constant.int32([count * rows, inner])])
        whole = walk.add(product.op, [flat, matrix], product.attrs)
        return walk.add(reshape, [whole, Constant.int32([count, rows, -1])])


def _transpose(walk: Rewriter, product: Operation, matrix: Operand) -> Value:
    """Emit the transpose of a matrix, or of several matrices, before the loop."""
    order = [*range(len(matrix.shape or ()))]
    with _instead_of(walk, product):
        return walk.add(
            permute_axes, [matrix, Constant.int32([*order[:-2], *order[:-3:-1]])], {"conjugate": False}
        )


@contextmanager
def _instead_of(walk: Rewriter, product: Operation) -> Iterator[None]:
    """Emit operations that have the origin of a product in the loop."""
    loop, walk.current = walk.current, product
    try:
        yield
    finally:
        walk.current = loop
