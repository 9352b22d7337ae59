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
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.shapes import is_static
from ..ir.clone import clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ops.arrays.getitem import select
from ..ops.arrays.reshape import reshape
from ..ops.framework import narrow_floats
from ..ops.framework.induction_variables import induction_steps, integer
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op
from .options import OptimizerOptions, may_change_loops
from .rewriter import Rewriter, rewrite_all
from .simplify_loops import trip_count

SHARED = 1 << 18
"""The number of multiplications from which a product is worth it: OpenBLAS uses one thread up to there."""

WIDEST = 4
"""The largest ratio of the elements of the products to the elements of the sequence."""


def run(graph: Graph, options: OptimizerOptions | None = None) -> Graph:
    if not any(operation.regions for operation in graph.operations):
        return graph
    return rewrite_all(graph, {WHILE: _batched}) if may_change_loops(options) else graph


def _batched(loop: Operation, walk: Rewriter) -> None:
    """Hoist the products of a loop that can be batched."""
    rounds, counters = _counting(loop)
    if not rounds or not counters:
        return
    body = loop.regions[1]
    rows: dict[Operand, Operation] = {each.outputs[0]: each for each in body.operations if each.op is select}
    given = dict(zip(body.inputs[len(loop.outputs) :], loop.inputs[len(loop.outputs) :], strict=True))
    operations = list(body.operations)
    found: list[Value] = []
    for position, product in enumerate(operations):
        row = rows.get(product.inputs[0]) if product.op is matmul_op else None
        if row is None or product.inputs[1] not in given or row.inputs[0] not in given:
            continue
        if _goes_through(row, counters, rounds) and _is_worth_it(product):
            sequence, matrix = given[row.inputs[0]], given[product.inputs[1]]
            found.append(_product(walk, product, sequence, matrix))
            operations[position] = with_parts(
                row, [clone_value(found[-1]), *row.inputs[1:]], outputs=product.outputs
            )
    if found:
        walk.current = _with(loop, operations, found)


def _with(loop: Operation, operations: list[Operation], found: list[Value]) -> Operation:
    """Return the loop with the new operations in its body, and `found` as further operands."""
    test, body = loop.regions
    taken = [each.inputs[0] for old, each in zip(body.operations, operations, strict=True) if each is not old]
    regions = (
        Graph(test.name, (*test.inputs, *map(clone_value, found)), test.operations, test.outputs),
        Graph(body.name, (*body.inputs, *taken), tuple(operations), body.outputs),  # type: ignore[arg-type]
    )
    return with_parts(loop, [*loop.inputs, *found], regions)


def _counting(loop: Operation) -> tuple[int | None, set[Value]]:
    """Return the trip count, if known, and the induction variables that count iterations from zero."""
    body = loop.regions[1]
    slots = [
        slot for slot, step in induction_steps(loop).items() if step == 1 and integer(loop.inputs[slot]) == 0
    ]
    return None if body.stateful else trip_count(loop), {body.inputs[slot] for slot in slots}


def _goes_through(row: Operation, counters: set[Value], rounds: int) -> bool:
    """Return whether an operation yields each row of a sequence, in the order of iterations."""
    sequence, *index = row.inputs
    shape: Any = sequence.shape
    is_row = row.attrs["key"] == "_" and len(index) == 1 and index[0] in counters
    return is_row and is_static(shape) and len(shape) == 3 and shape[0] == rounds


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
    origin = walk.current
    walk.current = product
    flat = walk.add(reshape, [sequence, _shape(count * rows, inner)])
    whole = walk.add(product.op, [flat, matrix], product.attrs)
    found = walk.add(reshape, [whole, _shape(count, rows, -1)])
    walk.current = origin
    return found


def _shape(*sizes: int) -> Constant:
    return Constant(np.array(sizes, np.int32))
