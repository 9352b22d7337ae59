"""The way back through a `while`.

    while x:            while x, n, xs:                     while n, dx, xs:          from the last round to the first
      x = f(x)     ==>    xs = list_append xs, x     and      xs, x = list_pop xs
                          x, n = f(x), n + 1                  dx, n = f'(x) * dx, n - 1

The loop counts its rounds and appends what its body's way back reads to lists. Values that are the same in every round
are handed over as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.builder import Builder, current, recorders
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.specs import AnySpec, ArraySpec, RefSpec, Spec
from ..ops.arithmetic import add, subtract
from ..ops.comparison import greater
from ..ops.declare import wrap
from ..ops.element_gradients import array_item, list_keep, list_take, new_list
from ..ops.extents import shape
from ..ops.lists import list_append, list_pop
from ..ops.state import read_variable
from ..ops.structure import WHILE
from ..shapes import is_static
from ..tensor import EagerTensor
from .records import Grads, GraphRecord, spec_carries_gradient
from .reversal import Reversal, content, making_list, zeros_for
from .slices import added, dense, is_in_parts, summed

INT = Spec(dtypes.int32, ())


def while_back(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Count and save in the loop; go back through its rounds in another one."""
    operation = record.operation
    count = len(operation.outputs)
    reversal, moving = _reversed_body(operation, grads, wanted)
    flags = reversal.has_gradient
    carried = [i for i in range(count) if moving[i]]
    gathered = [i for i in range(count, len(flags)) if flags[i]]
    reversal.fill([moving[i] if i < count else False for i in range(len(flags))])
    outputs = reversal.outputs([i < count and moving[i] for i in range(len(flags))])
    steady = _steady(operation)
    saved = reversal.saved(steady)
    stacked = [value for value in saved if value not in steady]
    inputs, results = record.inputs, record.outputs
    rounds, *stacks = _count_and_save(record, reversal, stacked)
    passed = [inputs[steady[value]] for value in saved if value in steady]
    starts = [zeros_for(results[i]) if grads[i] is None else grads[i] for i in carried]
    read = reversal.graph.inputs
    sums = [_start(inputs[i], read[i].spec, reversal.grads[i]) for i in gathered]
    found = _loop_back(
        reversal, (carried, gathered), outputs, (saved, stacked), [rounds, *starts, *sums, *stacks], passed
    )
    back: Grads = [None] * len(flags)
    for i, grad in zip([*carried, *gathered], found, strict=True):
        back[i] = _ended(grad, inputs[i], read[i].spec) if is_in_parts(reversal.grads[i]) else grad
    return back


def _start(x: Any, spec: AnySpec, grad: Any) -> Any:
    """What the sum over all rounds starts with, when each gives such a gradient."""
    return new_list(_sum_spec(spec, grad)) if is_in_parts(grad) else zeros_for(x)


def _sum_spec(spec: AnySpec, grad: Any) -> Any:
    """The sum of gradients in parts is a running one: a round adds to it, and makes nothing of the size of it."""
    return ArraySpec(content(spec)) if is_in_parts(grad) else content(spec)


def _ended(running: Any, x: Any, spec: AnySpec) -> Any:
    """The sum as a tensor."""
    like: Any = content(spec)
    if is_static(like.shape):
        return array_item(running, 0, like.shape, like.dtype)
    return array_item(running, 0, shape(read_variable(x) if isinstance(spec, RefSpec) else x), like.dtype)


def _reversed_body(operation: Operation, grads: Grads, wanted: Sequence[bool]) -> tuple[Reversal, list[bool]]:
    """The way back through one round, and which parts of the state have a gradient there.

    One round gives a gradient to parts of the state of which the loop's end had none; so do earlier rounds with these.
    """
    _, body = operation.regions
    count = len(operation.outputs)
    moving = [grad is not None for grad in grads]
    sought = [
        spec_carries_gradient(value.spec) and (i < count or wanted[i]) for i, value in enumerate(body.inputs)
    ]
    while True:
        reversal = Reversal(body, moving, sought, lambda grad, i: dense(grad) if i < count else grad)
        found = [old or new for old, new in zip(moving, reversal.has_gradient[:count], strict=True)]
        if found == moving:
            return reversal, moving
        moving = found


def _steady(operation: Operation) -> dict[Value, int]:
    """The inputs of the body that are the same in every round, with their numbers."""
    _, body = operation.regions
    count = len(operation.outputs)
    return {
        value: i
        for i, value in enumerate(body.inputs)
        if i >= count or body.outputs[i] is value or isinstance(value.spec, RefSpec)
    }


def _count_and_save(record: GraphRecord, reversal: Reversal, stacked: list[Value]) -> list[Any]:
    """Let the loop of the graph under construction count its rounds, and append `stacked` to lists."""
    operation = record.operation
    test, body = operation.regions
    count = len(operation.outputs)
    specs: list[AnySpec] = [INT, *(ArraySpec(value.spec) for value in stacked)]
    new = [
        Value(name, spec) for name, spec in zip(["rounds", *(v.name for v in stacked)], specs, strict=True)
    ]
    with reversal.forward:
        states = [wrap(value, reversal.forward) for value in new]
        after = [add(states[0], EagerTensor(np.array(1, np.int32)))]
        pairs = zip(states[1:], stacked, strict=True)
        after += [_appended(state, wrap(value, reversal.forward)) for state, value in pairs]
    inside = [*body.inputs[:count], *new, *body.inputs[count:]]
    outputs = [*body.outputs, *(reversal.forward.operand(x) for x in after)]
    new_body = Graph(body.name, tuple(inside), tuple(reversal.forward.operations), tuple(outputs))
    ignored = [Value(value.name, value.spec) for value in new]
    new_test = Graph(
        test.name, (*test.inputs[:count], *ignored, *test.inputs[count:]), test.operations, test.outputs
    )
    empty = [_empty_list(record, value.spec) for value in new[1:]]
    zero = Constant(np.array(0, np.int32))
    operation.inputs = (*operation.inputs[:count], zero, *empty, *operation.inputs[count:])
    operation.regions = (new_test, new_body)
    added = tuple(Value(value.name, value.spec) for value in new)
    operation.outputs = (*operation.outputs, *added)
    results = [wrap(value, record.builder) for value in added]
    for tape in recorders():
        tape.grown(operation, added)
    return results


def _appended(array: Any, value: Any) -> Any:
    return list_keep(array, value) if isinstance(array.spec.element, ArraySpec) else list_append(array, value)


def _empty_list(record: GraphRecord, spec: Any) -> Value:
    """A new list, made before the loop."""
    made = making_list(spec)
    place = record.builder.operations.index(record.operation)
    record.builder.operations[place:place] = made
    return made[-1].outputs[0]


def _loop_back(
    reversal: Reversal,
    gradient: tuple[list[int], list[int]],
    outputs: list[Operand],
    saving: tuple[list[Value], list[Value]],
    state: list[Any],
    passed: list[Any],
) -> list[Any]:
    """Record the loop that goes back; the gradients of what the loop started with and of what it read."""
    builder = current()
    assert builder is not None
    carried, gathered = gradient
    saved, stacked = saving
    back = reversal.back
    given = len(back.inputs) - len(saved)
    own, inner = back.inputs[:given], dict(zip(saved, back.inputs[given:], strict=True))
    body_inputs = reversal.graph.inputs
    rounds = Value("rounds", INT)
    grads = [reversal.grads[i] for i in gathered]
    specs = [_sum_spec(body_inputs[i].spec, grad) for i, grad in zip(gathered, grads, strict=True)]
    sums = [Value(f"d_{body_inputs[i].name}", spec) for i, spec in zip(gathered, specs, strict=True)]
    stacks = [Value(value.name, ArraySpec(value.spec)) for value in stacked]
    pops, popped = _pops(stacks, [inner[value] for value in stacked])
    with back:
        left = subtract(wrap(rounds, back), EagerTensor(np.array(1, np.int32)))
        totals = [_with(wrap(value, back), grad) for value, grad in zip(sums, grads, strict=True)]
    done = [_of_spec(back.operand(x), value.spec) for x, value in zip(totals, sums, strict=True)]
    ends = [back.operand(left), *outputs, *done, *popped]
    steady = [inner[value] for value in saved if value not in stacked]
    inputs = [rounds, *own, *sums, *stacks]
    body = Graph("body", (*inputs, *steady), (*pops, *back.operations), tuple(ends))
    specs = [value.spec for value in inputs]
    operands = [builder.operand(x) for x in (*state, *passed)]
    values = builder.add(WHILE, operands, {}, specs, (_while_rounds_are_left(specs, steady), body))
    return [wrap(value, builder) for value in values[1 : 1 + len(carried) + len(gathered)]]


def _with(so_far: Any, grad: Any) -> Any:
    return added(so_far, grad) if is_in_parts(grad) else summed(so_far, grad)


def _of_spec(operand: Operand, spec: AnySpec) -> Operand:
    """A sum, which has the shape of what it is the gradient of."""
    if isinstance(operand, Value):
        operand.spec = spec
    return operand


def _pops(stacks: list[Value], elements: list[Value]) -> tuple[list[Operation], list[Value]]:
    """Operations that take the last element off each list, and the shorter lists."""
    last = Constant(np.array(-1, np.int32))
    shorter = [Value(stack.name, stack.spec) for stack in stacks]
    rows = zip(stacks, shorter, elements, strict=True)
    pops = [
        Operation(list_take, (stack,), {}, (rest, element))
        if isinstance(element.spec, ArraySpec)
        else Operation(list_pop, (stack, last), {}, (rest, element))
        for stack, rest, element in rows
    ]
    return pops, shorter


def _while_rounds_are_left(specs: Sequence[AnySpec], steady: Sequence[Value]) -> Graph:
    test = Builder("test")
    inputs = [test.input("rounds" if i == 0 else "unused", spec) for i, spec in enumerate(specs)]
    inputs += [test.input(value.name, value.spec) for value in steady]
    with test:
        go = greater(wrap(inputs[0], test), EagerTensor(np.array(0, np.int32)))
    return test.finish([test.operand(go)])
