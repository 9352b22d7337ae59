"""Induction variables of loops: state to which every iteration adds the same integer.

i, k = while 0, n                               {0: 1, 1: -2}
  body i, k
    i.1 = add i, 1                      ==>
    k.1 = subtract k, 2
    yield i.1, k.1
"""

from __future__ import annotations

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
