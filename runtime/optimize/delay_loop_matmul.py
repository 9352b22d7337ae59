"""Delay the sums of matrix products of a loop: store their factors, and multiply all of them after the loop.

    i, dw = while 100, 0, …                            a, b = array_new 100, array_new 100
      body i, dw, …                                    i, k, xs, gs = while 100, 0, a, b, …
        …                                                body i, k, xs, gs, …
        p = matmul x, g [transpose_a=True]      ==>        …
        dw.1 = add dw, p                                   xs.1 = array_write xs, k, x
        yield i.1, dw.1, …                                 gs.1 = array_write gs, k, g
                                                           yield i.1, k.1, xs.1, gs.1, …
                                                       dw = matmul (rows of xs), (rows of gs) [transpose_a=True]

The gradient of a matrix that a loop multiplies by has such sums: one product takes less time than many, and the sum is
not read and written in each iteration. The stored factors take at most twice the memory of the rows of lists and
sequences that the loop reads, which are mostly the saved values of a forward loop. Rounding may differ, since the terms
are added in another order. Plans and native code use this pass, which runs after all others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..ir.clone import clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import TensorType
from ..ops.arrays.getitem import select
from ..ops.arrays.reshape import reshape
from ..ops.framework import narrow_floats
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op
from ..ops.lists.tensor_array import array_new, array_stack, array_write
from ..ops.lists.tensor_list import list_get, list_pop
from ..ops.math.arithmetic import add
from .options import OptimizerOptions, may_change_loops
from .rewriter import Found, Rewriter, rewrite_all
from .row_groups import static_shape
from .simplify_loops import trip_count

LEAST = 1 << 13
"""The number of multiplications from which a product is worth it: native code adds up smaller ones as quickly."""

MOST = 2
"""The largest ratio of the stored elements to the elements that the loop reads from lists and sequences."""

_READING = (list_pop, list_get, select)


def run(graph: Graph, options: OptimizerOptions | None = None) -> Graph:
    if not any(operation.regions for operation in graph.operations):
        return graph
    return rewrite_all(graph, {WHILE: _delayed}) if may_change_loops(options) else graph


class _Sum(NamedTuple):
    """A state to which each iteration adds products, and the additions."""

    slot: int
    products: list[Operation]
    additions: list[Operation]


def _delayed(loop: Operation, walk: Rewriter) -> Found:
    sums = _sums(loop)
    factors = list(dict.fromkeys(one for each in sums for product in each.products for one in product.inputs))
    rounds = trip_count(loop)
    if not sums or not rounds or sum(map(_size, factors)) > MOST * _elements_read(loop.regions[1]):
        return None
    walk.current = loop
    arrays = [_array(walk, each, rounds) for each in factors]
    storing = _storing(loop, sums, factors, arrays)
    walk.operations.append(storing)
    stored = storing.outputs[-len(factors) :]
    rows = {factor: _rows(walk, array, rounds) for factor, array in zip(factors, stored, strict=True)}
    totals: dict[int, Operand] = {}
    for slot, products, _ in sums:
        total = loop.inputs[slot]
        for walk.current in products:
            product = walk.add(matmul_op, [rows[each] for each in walk.current.inputs], walk.current.attrs)
            is_zero = type(total) is Constant and not total.value.any()
            total = product if is_zero else walk.add(add, [total, product])
        totals[slot] = total
    rest = iter(storing.outputs)
    return [totals[i] if i in totals else next(rest) for i in range(len(loop.outputs))]


def _sums(loop: Operation) -> list[_Sum]:
    """Return the sums of products that nothing reads during the loop."""
    test, body = loop.regions
    uses = Counter(one for each in (*test.operations, *body.operations) for one in each.inputs)
    uses.update((*test.outputs, *body.outputs))
    made: dict[Operand, Operation] = {value: each for each in body.operations for value in each.outputs}
    count = len(loop.outputs)
    changing = {*made, *body.inputs[:count]}

    def found(slot: int) -> _Sum | None:
        before, products, additions = body.inputs[slot], [], []
        pending: list[Operand] = [body.outputs[slot]]
        while pending:
            term = pending.pop()
            maker = made.get(term)
            if uses[term] > 1:
                return None
            if maker is not None and maker.op is add:
                additions.append(maker)
                pending += maker.inputs
            elif maker is not None and _is_worth_it(maker, before) and changing.issuperset(maker.inputs):
                products.append(maker)
            elif term is not before:
                return None
        is_read = uses[test.inputs[slot]] or not uses[before]
        return None if is_read or not products else _Sum(slot, products, additions)

    return [each for each in map(found, range(count)) if each is not None]


def _is_worth_it(product: Operation, total: Value) -> bool:
    """Return whether one product can replace a sum of many, and its factors are smaller than the sum."""
    shape = static_shape(total)
    sizes = [static_shape(each) for each in product.inputs]
    given = {name for name, value in product.attrs.items() if value is True}
    if product.op is not matmul_op or given != {"transpose_a"} or narrow_floats.is_used_by(product):
        return False
    if total.dtype.kind != "f" or shape is None or None in sizes or static_shape(product.outputs[0]) != shape:
        return False
    elements = math.prod(shape)
    is_big = len(shape) == 2 and sizes[0][0] * elements >= LEAST  # type: ignore[index]
    return is_big and sum(map(_size, product.inputs)) <= elements


def _size(operand: Operand) -> int:
    return math.prod(static_shape(operand) or ())


def _elements_read(body: Graph) -> int:
    """Return how many elements an iteration reads from lists and sequences."""
    return sum(_size(each.outputs[-1]) for each in body.operations if each.op in _READING)


def _array(walk: Rewriter, factor: Operand, rounds: int) -> Value:
    """Emit the TensorArray of a factor."""
    attrs = {"dtype": factor.dtype, "element_shape": factor.shape, "dynamic": False}
    return walk.add(array_new, [_integer(rounds)], attrs)


def _rows(walk: Rewriter, array: Value, rounds: int) -> Value:
    """Emit the rows of all matrices of a TensorArray."""
    element = array.spec.element  # type: ignore[union-attr]
    attrs = {"dtype": element.dtype, "element_shape": element.shape, "size": rounds}
    whole = walk.add(array_stack, [array], attrs)
    return walk.add(reshape, [whole, Constant(np.array([-1, element.shape[-1]], np.int32))])


def _integer(number: int) -> Constant:
    return Constant(np.array(number, np.int32))


def _storing(
    loop: Operation, sums: Sequence[_Sum], factors: Sequence[Operand], arrays: Sequence[Value]
) -> Operation:
    """Return the loop with a counter of iterations and the arrays of the factors in place of the sums."""
    test, body = loop.regions
    count = len(loop.outputs)
    kept = [i for i in range(count) if i not in {each.slot for each in sums}]
    removed = {each for one in sums for each in (*one.products, *one.additions)}
    added = [Value("number", TensorType(dtypes.int32, ())), *arrays]
    number, *given = map(clone_value, added)
    walk = Rewriter(body)
    walk.current = sums[0].products[0]
    written: dict[Operand, Value] = {}
    array_of = dict(zip(factors, given, strict=True))

    def write(values: Iterable[Operand]) -> None:
        """Store the factors among these values as soon as they are computed, so that they are read from there."""
        written.update(
            (each, walk.add(array_write, [array_of[each], number, each]))
            for each in values
            if each in array_of
        )

    write(body.inputs)
    for each in body.operations:
        if each not in removed:
            walk.operations.append(each)
            write(each.outputs)
    new = [walk.add(add, [number, _integer(1)]), *(written[each] for each in factors)]

    def parts(old: Sequence[Any], more: Sequence[Any]) -> tuple[Any, ...]:
        return (*[old[i] for i in kept], *more, *old[count:])

    inputs = parts(test.inputs, list(map(clone_value, added)))
    regions = [
        Graph(test.name, inputs, test.operations, test.outputs),
        Graph(
            body.name, parts(body.inputs, [number, *given]), tuple(walk.operations), parts(body.outputs, new)
        ),
    ]
    outputs = parts(loop.outputs, list(map(clone_value, added)))
    return with_parts(loop, parts(loop.inputs, [_integer(0), *arrays]), regions, outputs)
