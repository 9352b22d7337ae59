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
not read and written in each iteration. A factor is not stored if the loop reads it from a sequence or list, row by row:
the product then reads the whole sequence, and the loop stores the other factors in the same order. They take at most
twice the memory of the rows of lists and sequences that the loop reads, which are mostly the saved values of a forward
loop. Rounding may differ, since the terms are added in another order. Plans and native code use this pass, which runs
after all others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import dtypes
from ..ir.clone import clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import ListType, TensorType
from ..ops.arrays.getitem import select
from ..ops.arrays.reshape import reshape
from ..ops.framework import narrow_floats
from ..ops.framework.induction_variables import index_ranges, integer
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op
from ..ops.lists.tensor_array import array_new, array_stack, array_write
from ..ops.lists.tensor_list import list_append, list_get, list_new, list_pop
from ..ops.math.arithmetic import add
from .batch_loop_matmul import goes_through
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
    if WHILE not in graph.ops:
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
    if not sums or not rounds:
        return None
    order, whole = _read_whole(loop, walk, factors, rounds)
    kept = [each for each in factors if each not in whole]
    if sum(map(_size, kept)) > MOST * _elements_read(loop.regions[1]):
        return None
    walk.current = loop
    rows = {each: _rows(walk, sequence, each, rounds) for each, sequence in whole.items()}
    arrays = [_array(walk, each, rounds) for each in kept]
    storing = _storing(loop, sums, kept, arrays, order)
    walk.operations.append(storing)
    stored = storing.outputs[len(storing.outputs) - len(kept) :]
    rows.update((each, _rows(walk, array, each, rounds)) for each, array in zip(kept, stored, strict=True))
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


def _read_whole(
    loop: Operation, walk: Rewriter, factors: Sequence[Operand], rounds: int
) -> tuple[range, dict[Operand, Operand]]:
    """Return the factors that are rows of a sequence or list, with it, and the order in which the loop reads them."""
    body, count = loop.regions[1], len(loop.outputs)
    given: dict[Operand, Operand] = dict(zip(body.inputs, loop.inputs, strict=True))
    made: dict[Operand, Operation] = {value: each for each in body.operations for value in each.outputs}
    indices = index_ranges(loop, rounds)
    fixed = {*body.inputs[count:]}

    def is_whole(factor: Operand, step: int) -> bool:
        maker = made.get(factor)
        if maker is not None and maker.op is select:
            return maker.inputs[0] in fixed and goes_through(maker, indices, rounds, step)
        is_popped = maker is not None and maker.op is list_pop and step < 0
        return is_popped and _is_emptied(loop, walk, made[factor], rounds)

    for step in (-1, 1):
        found = {each: given[made[each].inputs[0]] for each in factors if is_whole(each, step)}
        if found:
            return range(rounds)[::step], found
    return range(rounds), {}


def _is_emptied(loop: Operation, walk: Rewriter, pop: Operation, rounds: int) -> bool:
    """Return whether each iteration pops the last element of a list, to which another loop appended all of them."""
    array, index = pop.inputs
    body = loop.regions[1]
    if integer(index) != -1 or array not in body.inputs[: len(loop.outputs)]:
        return False
    slot = body.inputs.index(array)
    filling = walk.maker(loop.inputs[slot])
    if body.outputs[slot] is not pop.outputs[0] or filling is None or filling.op is not WHILE:
        return False
    number = filling.outputs.index(loop.inputs[slot])
    first, inner = walk.maker(filling.inputs[number]), filling.regions[1]
    append = next((each for each in inner.operations if inner.outputs[number] in each.outputs), None)
    is_filled = append is not None and append.op is list_append and append.inputs[0] is inner.inputs[number]
    return is_filled and first is not None and first.op is list_new and trip_count(filling) == rounds


def _array(walk: Rewriter, factor: Operand, rounds: int) -> Value:
    """Emit the TensorArray of a factor."""
    attrs = {"dtype": factor.dtype, "element_shape": factor.shape, "dynamic": False}
    return walk.add(array_new, [Constant.int32(rounds)], attrs)


def _rows(walk: Rewriter, sequence: Operand, factor: Operand, rounds: int) -> Value:
    """Emit the rows of all matrices of a sequence or TensorArray."""
    if isinstance(sequence.spec, ListType):
        attrs = {"dtype": factor.dtype, "element_shape": factor.shape, "size": rounds}
        sequence = walk.add(array_stack, [sequence], attrs)
    return walk.add(reshape, [sequence, Constant.int32([-1, (factor.shape or ())[-1]])])


def _storing(
    loop: Operation, sums: Sequence[_Sum], factors: Sequence[Operand], arrays: Sequence[Value], order: range
) -> Operation:
    """Return the loop with the arrays of the factors, and the place of the next rows there, in place of the sums."""
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
    new = [walk.add(add, [number, Constant.int32(order.step)]), *(written[each] for each in factors)]

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
    return with_parts(loop, parts(loop.inputs, [Constant.int32(order.start), *arrays]), regions, outputs)
