"""Loop simplification: remove invariant state, compute trip counts, and unroll small loops.

    k, s, c = while 0, x, y                         k, s = while 0, x, y [maximum_iterations=10]
      test k, s, c                                    test k, s, c
        go = less k, 10                                 yield true
        yield go                            ==>       body k, s, c
      body k, s, c                                      k.1 = add k, 1
        k.1 = add k, 1                                  s.1 = multiply s, c
        s.1 = multiply s, c                             yield k.1, s.1
        yield k.1, s.1, c

State that never changes is replaced by its initial value. A loop with an induction variable and constant
limit has a known trip count, and a known final value of that variable. A loop with no iterations is replaced
by its initial state. A tiny loop, and a loop of a single iteration, is fully unrolled. So are loops of up to
`unroll` iterations if that option is set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import value_keys
from ..ir.clone import Substitution, copied, reading, substitute, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ops.framework.induction_variables import induction_steps, integer
from ..ops.framework.region_ops import WHILE
from ..ops.math.comparison import greater, greater_equal, less, less_equal, not_equal
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, fits, rewrite_all

TINY = 32
"""The most operations after unrolling for which a loop is unrolled by default."""

FEW = 8
"""The largest trip count for which a loop is unrolled by default."""

MOST = 10_000
"""The most operations after unrolling two or more iterations, whatever `unroll` says."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    def simplified(operation: Operation, walk: Rewriter) -> Found:
        return _simplified(operation, walk, options.unroll)

    return rewrite_all(graph, {WHILE: simplified})


def _simplified(operation: Operation, walk: Rewriter, unroll: int) -> Found:
    looped = _counted(_without_constant_state(operation, walk))
    rounds = trip_count(looped)
    body = looped.regions[1]
    if rounds == 0 and all(map(fits, looped.inputs, looped.outputs)):
        state: Sequence[Operand] = looped.inputs
    elif rounds and _is_worth_it(body, rounds, unroll) and all(map(fits, body.outputs, looped.outputs)):
        state = _unrolled(looped, rounds, walk)
    else:
        _replace_counters(looped, rounds, walk)
        walk.current = looped
        return None
    walk.replace(looped.outputs, state[: len(looped.outputs)])
    return substitute(operation.outputs, walk.known)


def _without_constant_state(operation: Operation, walk: Rewriter) -> Operation:
    """Return the loop with unchanging state as invariant operands, and replace the results of that state."""
    body = operation.regions[1]
    count = len(operation.outputs)
    kept: list[int] = []
    fixed: list[int] = []
    for number, result in enumerate(operation.outputs):
        initial = operation.inputs[number]
        is_fixed = _is_same(body.outputs[number], body.inputs[number], initial) and fits(initial, result)
        (fixed if is_fixed else kept).append(number)
    if not fixed:
        return operation
    order = [*kept, *fixed, *range(count, len(operation.inputs))]
    walk.replace([operation.outputs[k] for k in fixed], [operation.inputs[k] for k in fixed])
    regions = []
    for region in operation.regions:
        outputs = [region.outputs[k] for k in kept] if region is body else region.outputs
        inputs = tuple([region.inputs[k] for k in order])
        regions.append(Graph(region.name, inputs, region.operations, tuple(outputs)))
    results = [operation.outputs[k] for k in kept]
    return with_parts(operation, [operation.inputs[k] for k in order], regions, results)


def _is_same(new: Operand, old: Value, initial: Operand) -> bool:
    """Return whether an iteration leaves a state unchanged."""
    if type(new) is Constant and type(initial) is Constant:
        return value_keys.of_constant(new) == value_keys.of_constant(initial)
    return new is old


def trip_count(operation: Operation) -> int | None:
    """Return the trip count of a loop that always goes on to its limit; None if unknown."""
    limit: int | None = operation.attrs.get("maximum_iterations")
    if limit == 0:
        return 0
    test = operation.regions[0]
    (go,) = test.outputs
    if test.stateful or type(go) is not Constant or go.shape != ():
        return None
    return limit if go.value else 0


def _replace_counters(loop: Operation, rounds: int | None, walk: Rewriter) -> None:
    """Replace the final values of induction variables by constants, if the trip count is known."""
    for slot, step in induction_steps(loop).items():
        start = loop.inputs[slot]
        if rounds is not None and type(start) is Constant and start.shape == ():
            kind = start.value.dtype
            last = int(start.value) + rounds * step
            if np.iinfo(kind).min <= last <= np.iinfo(kind).max:
                walk.known[loop.outputs[slot]] = Constant(np.array(last, kind))  # changes readers only


def _counted(operation: Operation) -> Operation:
    """Return the loop with a constant test and its trip count as limit, if that is known."""
    rounds = counted_rounds(operation)
    if rounds is None:
        return operation
    limit = operation.attrs.get("maximum_iterations")
    most = rounds if limit is None else min(limit, rounds)
    test, body = operation.regions
    always = Graph(test.name, test.inputs, (), (Constant(np.array(True)),))
    attrs = {**operation.attrs, "maximum_iterations": most}
    return with_parts(operation, regions=(always, body), attrs=attrs)


def counted_rounds(operation: Operation) -> int | None:
    """Return the trip count of a loop with an induction variable from one constant to another."""
    test = operation.regions[0]
    found = None if test.stateful else _comparison(test)
    if found is None:
        return None
    op, slot, limit = found
    change = induction_steps(operation).get(slot)
    start = operation.inputs[slot]
    if not change or type(start) is not Constant:
        return None
    first, step = int(start.value), change
    if op is greater or op is greater_equal:
        op, first, step, limit = _MIRRORED[op], -first, -step, -limit
    if op is less_equal:
        limit += 1
    rounds = _distance(op, first, step, limit)
    if rounds is None:
        return None
    limits = np.iinfo(start.value.dtype)
    last = int(start.value) + rounds * change
    # Otherwise the counter overflows and wraps around.
    return rounds if limits.min <= last <= limits.max else None


def _distance(op: OpDef, first: int, step: int, limit: int) -> int | None:
    """Return how many steps lead from `first` to the limit; None if they never do."""
    if op is not_equal:
        rounds, rest = divmod(limit - first, step)
        return rounds if rest == 0 and rounds >= 0 else None
    if first >= limit:
        return 0
    return -((first - limit) // step) if step > 0 else None


_MIRRORED: dict[OpDef, OpDef] = {
    less: greater,
    less_equal: greater_equal,
    greater: less,
    greater_equal: less_equal,
    not_equal: not_equal,
}


def _comparison(test: Graph) -> tuple[OpDef, int, int] | None:
    """Return the comparison, the number of the input and the limit, if a test compares to a constant."""
    maker = _maker(test, test.outputs[0])
    if maker is None or maker.op not in _MIRRORED:
        return None
    op, (one, other) = maker.op, maker.inputs
    if type(one) is Constant:
        op, one, other = _MIRRORED[op], other, one
    number = integer(other)
    if number is None or not isinstance(one, Value) or one not in test.inputs:
        return None
    return op, test.inputs.index(one), number


def _maker(graph: Graph, operand: Operand) -> Operation | None:
    return next((each for each in graph.operations if operand in each.outputs), None)


def _is_worth_it(body: Graph, rounds: int, unroll: int) -> bool:
    """Return whether to unroll a loop."""
    size = rounds * sum(1 for _ in body.walk())
    if size > MOST and rounds > 1:
        return False
    return rounds == 1 or rounds <= unroll or (rounds <= FEW and size <= TINY)


def _unrolled(operation: Operation, rounds: int, walk: Rewriter) -> Sequence[Operand]:
    """Unroll all iterations, and return the final state."""
    count = len(operation.outputs)
    state, given = operation.inputs[:count], operation.inputs[count:]
    for number in range(rounds):
        body = copied(operation.regions[1]) if number else operation.regions[1]
        known: Substitution = dict(zip(body.inputs, (*state, *given), strict=True))
        walk.operations += [reading(each, known) for each in body.operations]
        state = substitute(body.outputs, known)
    return state
