"""The number of iterations of loops whose tests compare an induction variable with a known number.

rounds, x = while 5, x                           at most 5 iterations, and exactly 5 if the test has no other part;
  test: greater rounds, 0             ==>        `rounds` is 0 after the loop
  body: rounds.1 = subtract rounds, 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ...ir.graph import Constant, Graph, Operand, Operation
from ...ops.framework.induction_variables import induction_steps
from ...ops.math.comparison import greater, greater_equal, less, less_equal, logical_and
from .symbolic_sizes import is_sizes

_MIRRORED = {less: greater, less_equal: greater_equal, greater: less, greater_equal: less_equal}


class TripCount(NamedTuple):
    """The largest number of iterations, None if it is unknown, and whether every run has as many.

    In exports, it may be a symbolic dimension.
    """

    most: Any
    is_exact: bool


def trip_count(loop: Operation, inputs: Sequence[Any]) -> TripCount:
    """Return the trip count of a loop for these operands, of which constants are arrays of NumPy."""
    given = loop.attrs.get("maximum_iterations")
    (going,) = loop.regions[0].outputs
    if isinstance(going, Constant):
        return TripCount(None if given is None else int(given), given is not None and bool(going.value))
    parts = list(_conjuncts(loop.regions[0], going))
    bounds = [_iterations(loop, part, inputs) for part in parts]
    known = [bound for bound in (*bounds, given and int(given)) if bound is not None]
    if not known:
        return TripCount(None, is_exact=False)
    return TripCount(min(known), is_exact=None not in bounds)


def last_values(loop: Operation, inputs: Sequence[Any], trips: int) -> dict[int, np.ndarray[Any, Any]]:
    """Return the final values of induction variables that start with known numbers, by their number in the state."""
    found = {}
    for slot, step in induction_steps(loop).items():
        start = _number(inputs[slot])
        if start is not None:
            dtype = loop.outputs[slot].dtype.numpy_dtype
            last, limits = start + trips * step, np.iinfo(dtype)
            if limits.min <= last <= limits.max:
                found[slot] = np.array(last, dtype)
    return found


def _conjuncts(test: Graph, going: Operand) -> Iterator[Operation | None]:
    """Yield the operations whose results must all be true; None for another kind of value."""
    made: dict[Operand, Operation] = {
        value: operation for operation in test.operations for value in operation.outputs
    }
    maker = made.get(going)
    if maker is not None and maker.op is logical_and and all(x.spec == going.spec for x in maker.inputs):
        for part in maker.inputs:
            yield from _conjuncts(test, part)
    else:
        yield maker


def _iterations(loop: Operation, comparison: Operation | None, inputs: Sequence[Any]) -> int | None:
    """Return for how many iterations a comparison of an induction variable holds; None if that is unknown."""
    if comparison is None or comparison.op not in _MIRRORED:
        return None
    slots: dict[Operand, int] = {value: slot for slot, value in enumerate(loop.regions[0].inputs)}
    steps, count = induction_steps(loop), len(loop.outputs)
    one, other = comparison.inputs
    op = comparison.op
    if slots.get(one, -1) not in steps:
        one, other, op = other, one, _MIRRORED[op]
    slot = slots.get(one, -1)
    bound = other.value if isinstance(other, Constant) else _fixed(slots.get(other, -1), count, inputs)
    start, stop = _number(inputs[slot]) if slot in steps else None, _number(bound)
    if start is None or stop is None:
        return None
    return _steps_between(op, start, stop, steps[slot])


def _fixed(slot: int, count: int, inputs: Sequence[Any]) -> Any:
    """Return the operand of an input that is the same in all iterations."""
    return inputs[slot] if slot >= count else None


def _steps_between(op: Any, start: int, stop: int, step: int) -> int | None:
    if op in (greater, greater_equal):
        start, stop, step = -start, -stop, -step
    if op in (less_equal, greater_equal):
        stop += 1
    if start >= stop:
        return 0
    return -(-(stop - start) // step) if step > 0 else None


def _number(value: Any) -> int | None:
    if is_sizes(value):
        return value.item()
    is_known = value is not None and not isinstance(value, jax.Array)
    if not is_known or np.ndim(value) or np.asarray(value).dtype.kind not in "iu":
        return None
    return int(value)
