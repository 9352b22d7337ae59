"""The backward loop, which visits the iterations of a forward loop from the last to the first.

while rounds, dx, sum, y, xs, W           dx: cotangents of the state; sum: those of the loop invariants, accumulated
  body rounds, dx, sum, y, xs, W
    xs.1, x = list_pop xs, -1             a stacked residual
    left = subtract rounds, 1             an induction variable, counted down
    ...                                   the VJP of one iteration
    yield left, dx.1, sum.1, x, xs.1      a handed-on residual: x is the y of the previous iteration
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import EagerTensor
from ..ir.builder import Builder, current
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import WHILE
from ..ops.lists.tensor_list import list_pop
from ..ops.math.arithmetic import add, multiply, subtract
from ..ops.math.cast import cast, identity
from ..ops.math.comparison import greater
from .graph_vjp import GraphVjp, content
from .loop_invariants import InductionVariable
from .residual_policy import ResidualPlan
from .sparse_gradients import added, is_in_parts, summed

EVERY = "checkpoint_every"
"""The attribute of a loop whose backward pass recomputes parts of it: see loop_checkpointing.py."""

INT = TensorType(dtypes.int32, ())


def number(value: int, dtype: Any = dtypes.int32) -> EagerTensor:
    """Return a constant integer."""
    return EagerTensor(np.array(value, dtype.numpy_dtype))


def sum_spec(spec: AnySpec, grad: Any) -> Any:
    """Return the type of a sum of cotangents.

    If `grad` is in parts, the sum is a running list, so that no iteration makes a dense tensor of the whole size.
    """
    return ListType(content(spec)) if is_in_parts(grad) else content(spec)


class BackwardLoop:
    """The VJP of one iteration; `record` makes a loop of it.

    Args:
        reversal: the VJP of the body.
        saving: the policy for the residuals of the body.
        operation: the loop before residuals were added.
        gathered: the indices of the loop invariants that have a cotangent, which is accumulated.
        outputs: the cotangents of the state.
    """

    def __init__(
        self,
        reversal: GraphVjp,
        saving: ResidualPlan,
        operation: Operation,
        gathered: list[int],
        outputs: list[Operand],
    ) -> None:
        self.reversal, self.saving, self.outputs = reversal, saving, outputs
        self.inner: dict[Any, Value] = dict(reversal.back.captures)
        captured = set(self.inner.values())
        self.own = [value for value in reversal.back.inputs if value not in captured]
        read = reversal.graph.inputs
        self.grads = [reversal.grads[i] for i in gathered]
        specs = [sum_spec(read[i].spec, grad) for i, grad in zip(gathered, self.grads, strict=True)]
        self.sums = [Value(f"d_{read[i].name}", spec) for i, spec in zip(gathered, specs, strict=True)]
        self.handed = self._handed()
        self.starts = {value: operation.inputs[saving.counters[value].position] for value in saving.counted}

    @property
    def state(self) -> list[Value]:
        """The loop-carried values besides the number of iterations and the lists."""
        return [*self.own, *self.sums, *self.handed]

    def _handed(self) -> list[Value]:
        """Return the residuals that are the next state of the forward loop, as inputs of the backward body."""
        found = []
        for value, index in self.saving.handed.items():
            inner = self.inner[value]
            inner.spec = self.reversal.graph.inputs[index].spec
            found.append(inner)
        return found

    def record(
        self,
        rounds: Any,
        state: Sequence[Any],
        stacks: Sequence[Any],
        passed: dict[Value, Any],
        inputs: Any,
        first: Any = None,
    ) -> list[Any]:
        """Record the loop in the graph that is being built; return its final state.

        `passed` maps residuals that are loop invariants to their values. `inputs` are the operands of the forward
        loop. `first` is the number of the first iteration.
        """
        builder = current()
        assert builder is not None
        count = Value("rounds", INT)
        lists = [Value(value.name, ListType(value.spec)) for value in self.saving.stacked]
        begun = {value: Value("start", x.spec) for value, x in self.starts.items() if isinstance(x, Value)}
        steady = {self.inner[value]: x for value, x in passed.items()}
        steady |= {value: inputs[self.saving.counters[outer].position] for outer, value in begun.items()}
        offset = None
        if first is not None:
            offset = Value("first", INT)
            steady[offset] = first
        own = [count, *self.state, *lists]
        body = self._body(own, list(steady), lists, offset, begun)
        specs = [value.spec for value in own]
        operands = [builder.operand(x) for x in (rounds, *state, *stacks, *steady.values())]
        values = builder.add(WHILE, operands, {}, specs, (_while_rounds_are_left(specs, list(steady)), body))
        return [wrap(value, builder) for value in values[1 : 1 + len(state)]]

    def _body(
        self,
        own: list[Value],
        steady: list[Value],
        lists: list[Value],
        first: Value | None,
        begun: dict[Value, Value],
    ) -> Graph:
        """Return the body: it counts down, pops the residuals of an iteration, and adds to the sums."""
        back = self.reversal.back
        pops, shorter = _pops(lists, [self.inner[value] for value in self.saving.stacked])
        before = len(back.operations)
        with back:
            left = self._counted_down(own[0], first, begun)
        counting = back.operations[before:]
        del back.operations[before:]
        with back:
            totals = [
                _with(wrap(value, back), grad) for value, grad in zip(self.sums, self.grads, strict=True)
            ]
        done = [_of_spec(back.operand(x), value.spec) for x, value in zip(totals, self.sums, strict=True)]
        body_inputs = self.reversal.graph.inputs
        handed = [self.inner[body_inputs[index]] for index in self.saving.handed.values()]
        ends = (left, *self.outputs, *done, *handed, *shorter)
        return Graph("body", (*own, *steady), (*pops, *counting, *back.operations), ends)

    def _counted_down(self, count: Value, first: Value | None, begun: dict[Value, Value]) -> Value:
        """Return the number of remaining iterations, and compute the induction variables of this iteration."""
        back = self.reversal.back
        left = subtract(wrap(count, back), number(1))
        at = left if first is None else add(left, wrap(first, back))
        for value in self.saving.counted:
            start: Any = self.starts[value]
            start = wrap(begun[value], back) if value in begun else EagerTensor(start.value)
            counted(back, at, self.saving.counters[value], start, self.inner[value])
        value = left._value
        assert isinstance(value, Value)
        return value


def counted(builder: Builder, at: Any, counter: InductionVariable, start: Any, value: Value) -> None:
    """Let `value` be the induction variable of `counter` in the iteration with the number `at`."""
    dtype = value.dtype
    now = at if at.dtype is dtype else cast(at, dtype)
    if counter.step != 1:
        now = multiply(now, number(counter.step, dtype))
    if not isinstance(start, EagerTensor) or int(start._array):
        now = add(now, start)
    if now is at:
        now = identity(now)
    builder.operations[-1].outputs = (value,)


def _with(so_far: Any, grad: Any) -> Any:
    return added(so_far, grad) if is_in_parts(grad) else summed(so_far, grad)


def _of_spec(operand: Operand, spec: AnySpec) -> Operand:
    """Return a sum with the type `spec`, which is that of its primal."""
    if isinstance(operand, Value):
        operand.spec = spec
    return operand


def _pops(stacks: list[Value], elements: list[Value]) -> tuple[list[Operation], list[Value]]:
    """Return operations that pop the last element of each list, and the shorter lists."""
    last = Constant.int32(-1)
    shorter = [Value(stack.name, stack.spec) for stack in stacks]
    rows = zip(stacks, shorter, elements, strict=True)
    pops = [
        _last_list(stack, rest, element)
        if isinstance(element.spec, ListType)
        else Operation(list_pop, (stack, last), {}, (rest, element))
        for stack, rest, element in rows
    ]
    return pops, shorter


def _last_list(stack: Value, rest: Value, element: Value) -> Operation:
    from ..ops.lists.nested_lists import list_take  # few lists contain lists

    return Operation(list_take, (stack,), {}, (rest, element))


def _while_rounds_are_left(specs: Sequence[AnySpec], steady: Sequence[Value]) -> Graph:
    test = Builder("test")
    inputs = [test.input("rounds" if i == 0 else "unused", spec) for i, spec in enumerate(specs)]
    inputs += [test.input(value.name, value.spec) for value in steady]
    with test:
        go = greater(wrap(inputs[0], test), number(0))
    return test.finish([test.operand(go)])
