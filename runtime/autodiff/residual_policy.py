"""The policy for the residuals of a loop body: how the backward body gets each value of the forward body.

    body i, h, xs, W                              the backward body reads
      x = gather xs, i                              xs      given: a loop invariant
      w = read_variable W                           w       read once, after the loop
      s = matmul w, w                               s       the last one, which is that of every iteration
      a = matmul x, s                               i       counted down
      y = add a, h                                  x       recomputed: that is cheap
      g = tanh y                                    h       stacked: an element in every iteration
      j = add i, 1                                  g       handed on: g of iteration k is h of iteration k + 1
      yield j, g, xs, W

Only stacked residuals take memory in every iteration.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.traits import CHEAP
from ..ops.state.variable_ops import read_variable
from .graph_vjp import GraphVjp
from .loop_invariants import counters, only_read, steady_inputs, unchanging

MOST = 4
"""The maximum number of cheap operations to recompute in order to save one residual."""


class ResidualPlan:
    """The residuals of a body, grouped by how the backward body gets them; see the module's picture."""

    def __init__(self, reversal: GraphVjp, operation: Operation) -> None:
        body = reversal.graph
        self.steady = steady_inputs(operation)
        self.counters = counters(operation)
        self.references = only_read(operation.regions)
        self.reads = steady_reads(reversal.forward.operations, self.references)
        reversal.saved(self.steady)
        saved = compute_again(reversal, self._is_at_hand)
        same = unchanging(reversal.forward.operations, {*self.steady, *self.reads})
        self.given = [value for value in saved if value in self.steady]
        self.read = [value for value in saved if value in self.reads]
        self.counted = [value for value in saved if value in self.counters]
        rest = [value for value in saved if not self._is_at_hand(value)]
        self.last = [value for value in rest if value in same]
        kept = {value for value in rest if value not in same}
        indices = {
            after: i
            for i, (before, after) in enumerate(zip(body.inputs, body.outputs, strict=False))
            if isinstance(after, Value) and before in kept
        }
        self.handed = {value: indices[value] for value in rest if value in kept and value in indices}
        self.stacked = [value for value in rest if value in kept and value not in self.handed]

    def _is_at_hand(self, value: Value) -> bool:
        return value in self.steady or value in self.counters or value in self.reads


def steady_reads(operations: list[Operation], references: set[Value]) -> dict[Value, Value]:
    """Return a map from the loop-invariant contents of variables to the references that they are read from."""
    return {
        each.outputs[0]: each.inputs[0]
        for each in operations
        if each.op is read_variable and each.inputs[0] in references
    }


def compute_again(reversal: GraphVjp, is_at_hand: Callable[[Value], bool]) -> list[Value]:
    """Recompute cheap residuals in the backward graph; return the residuals that remain."""
    back = reversal.back
    saved = {value for value in back.captured_outer() if isinstance(value, Value)}
    made, found = _findable(reversal, saved, is_at_hand)
    chosen = [value for value in saved if value in found]
    needed: set[Operand] = set(chosen)
    recomputed = []
    for operation in reversed(reversal.forward.operations):
        if not needed.isdisjoint(operation.outputs) and all(value in made for value in operation.outputs):
            recomputed.append(operation)
            needed.update(x for x in operation.inputs if x in made and x not in saved - found)
    inner = {value: back.captures[value] for value in chosen}
    back.inputs[:] = [value for value in back.inputs if value not in set(inner.values())]
    copies = []
    for operation in reversed(recomputed):
        operands = tuple(_inside(x, inner, reversal) for x in operation.inputs)
        inner |= {
            value: Value(value.name, value.spec, value.elements)
            for value in operation.outputs
            if value not in inner
        }
        outputs = tuple(inner[value] for value in operation.outputs)
        copies.append(Operation(operation.op, operands, operation.attrs, outputs, (), operation.origin))
    back.operations[:0] = copies
    return [value for value in back.captured_outer() if isinstance(value, Value)]


def _findable(
    reversal: GraphVjp, saved: set[Value], is_at_hand: Callable[[Value], bool]
) -> tuple[set[Value], set[Value]]:
    """Return the values that are cheap to recompute, and those of `saved` that are worth it."""
    inputs = reversal.forward.inputs
    costs: dict[Operand, int] = {value: 0 for value in inputs if is_at_hand(value) or value in saved}
    made, found = set(), set()
    for operation in reversal.forward.operations:
        known = [0 if isinstance(x, Constant) else costs.get(x, MOST) for x in operation.inputs]
        cost = 1 + sum(known)
        is_cheap = operation.op.has(CHEAP) and not operation.regions and cost <= MOST
        for value in operation.outputs:
            if is_at_hand(value):
                costs[value] = 0
            elif is_cheap:
                made.add(value)
                costs[value] = 0 if value in saved else cost
                found |= saved & {value}
            elif value in saved:
                costs[value] = 0
    return made, found


def _inside(operand: Operand, inner: dict[Value, Value], reversal: GraphVjp) -> Operand:
    """Return the operand of the backward graph for an operand of the forward graph."""
    if isinstance(operand, Constant):
        return operand
    return inner.get(operand) or reversal.back.input_for(operand)
