"""Induction variables of loops: state to which every iteration adds the same integer.

i, k = while 0, n                               {0: 1, 1: -2}
  body i, k
    i.1 = add i, 1                      ==>
    k.1 = subtract k, 2
    yield i.1, k.1
"""

from __future__ import annotations

import numpy as np

from ...ir.graph import Constant, Operand, Operation
from ..math.arithmetic import add, subtract


def induction_steps(loop: Operation) -> dict[int, int]:
    """Return the step of each induction variable, by its number in the state."""
    _, body = loop.regions
    made: dict[Operand, Operation] = {}
    for operation in body.operations:
        if operation.op in (add, subtract):
            made[operation.outputs[0]] = operation
    found = {}
    for slot in range(len(loop.outputs)):
        sum_ = made.get(body.outputs[slot])
        if sum_ is not None:
            step = _step(body.inputs[slot], sum_)
            if step is not None:
                found[slot] = step
    return found


def index_ranges(loop: Operation, rounds: int) -> dict[Operand, range]:
    """Return the integers that values of the body take, in the order of the iterations.

    These are induction variables that start with a constant, and their sums and differences with constants.
    """
    _, body = loop.regions
    found: dict[Operand, range] = {}
    for slot, step in induction_steps(loop).items():
        start = integer(loop.inputs[slot])
        if start is not None and step:
            found[body.inputs[slot]] = range(start, start + step * rounds, step)
    for operation in body.operations:
        if operation.op not in (add, subtract):
            continue
        (one, other), sign = operation.inputs, 1 if operation.op is add else -1
        if one in found and (number := integer(other)) is not None:
            first, step = found[one].start + sign * number, found[one].step
        elif other in found and (number := integer(one)) is not None:
            first, step = number + sign * found[other].start, sign * found[other].step
        else:
            continue
        found[operation.outputs[0]] = range(first, first + step * rounds, step)
    return {value: values for value, values in found.items() if _is_exact(value, values)}


def _is_exact(value: Operand, values: range) -> bool:
    """Return whether the dtype of `value` represents all its values, so that none wraps around."""
    limits = np.iinfo(value.dtype.numpy_dtype)
    return all(limits.min <= each <= limits.max for each in (*values[:1], *values[-1:]))


def _step(before: Operand, sum_: Operation) -> int | None:
    one, other = sum_.inputs
    if type(one) is Constant and sum_.op is add:
        one, other = other, one
    step = integer(other)
    if one is not before or step is None:
        return None
    return step if sum_.op is add else -step


def integer(operand: Operand) -> int | None:
    """Return the value of a constant scalar integer; None for other operands."""
    if isinstance(operand, Constant) and operand.value.dtype.kind in "iu" and operand.shape == ():
        return int(operand.value)
    return None
