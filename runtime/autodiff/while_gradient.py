"""The way back through a `while`.

    while x:            while x, n, xs:                     while n, dx, xs:          from the last round to the first
      x = f(x)     ==>    xs = list_append xs, x     and      xs, x = list_pop xs
                          x, n = f(x), n + 1                  dx, n = f'(x) * dx, n - 1

The loop counts its rounds and appends to lists what its body's way back reads and cannot find again: `saving` says how
it comes by the rest. Where the loop is to keep its state every few rounds only, `checkpoints` takes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.shapes import is_static
from ..ir.graph import Operation
from ..ir.value_types import AnySpec, VariableType
from ..ops.arrays.shape_ops import shape
from ..ops.lists.list_gradients import array_item
from ..ops.lists.nested_lists import new_list
from ..ops.state.variable_ops import read_variable
from .backward_loop import BackwardLoop, sum_spec
from .graph_vjp import GraphVjp, content, zeros_for
from .loop_checkpointing import EVERY, checkpointed
from .loop_residuals import append_residuals, grown, round_counter
from .reread_variables import given_references, reread_variables_after
from .residual_policy import ResidualPlan
from .sparse_gradients import dense, is_in_parts
from .tape_records import Grads, GraphRecord, spec_carries_gradient


def while_back(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Count and save in the loop; go back through its rounds in another one."""
    operation, inputs, results = record.operation, record.inputs, record.outputs
    count = len(operation.outputs)
    reversal, moving = _reversed_body(operation, grads, wanted)
    flags = reversal.has_gradient
    carried = [i for i in range(count) if moving[i]]
    gathered = [i for i in range(count, len(flags)) if flags[i]]
    reversal.fill([moving[i] if i < count else False for i in range(len(flags))])
    outputs = reversal.outputs([i < count and moving[i] for i in range(len(flags))])
    saving = ResidualPlan(reversal, operation)
    way = BackwardLoop(reversal, saving, operation, gathered, outputs)
    read = reversal.graph.inputs
    starts = [zeros_for(results[i]) if grads[i] is None else grads[i] for i in carried]
    starts += [_start(inputs[i], read[i].spec, reversal.grads[i]) for i in gathered]
    starts += [results[place] for place in saving.handed.values()]
    references = given_references(record, [saving.reads[value] for value in saving.read])
    every = record.attrs.get(EVERY)
    if every is None:
        rounds, *saved = _count_and_save(record, reversal, saving)
        contents = reread_variables_after(record, references)
        passed = {value: inputs[saving.steady[value]] for value in saving.given}
        passed |= {value: contents[saving.reads[value]] for value in saving.read}
        passed |= dict(zip(saving.last, saved, strict=False))
        found = way.record(rounds, starts, saved[len(saving.last) :], passed, inputs)
    else:
        found = checkpointed(record, way, starts, every)
    back: Grads = [None] * len(flags)
    for i, grad in zip([*carried, *gathered], found, strict=False):
        back[i] = _ended(grad, inputs[i], read[i].spec) if is_in_parts(reversal.grads[i]) else grad
    return back


def _start(x: Any, spec: AnySpec, grad: Any) -> Any:
    """What the sum over all rounds starts with, when each gives such a gradient."""
    return new_list(sum_spec(spec, grad)) if is_in_parts(grad) else zeros_for(x)


def _ended(running: Any, x: Any, spec: AnySpec) -> Any:
    """The sum as a tensor."""
    like: Any = content(spec)
    if is_static(like.shape):
        return array_item(running, 0, like.shape, like.dtype)
    return array_item(
        running, 0, shape(read_variable(x) if isinstance(spec, VariableType) else x), like.dtype
    )


def _reversed_body(operation: Operation, grads: Grads, wanted: Sequence[bool]) -> tuple[GraphVjp, list[bool]]:
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
        reversal = GraphVjp(body, moving, sought, lambda grad, i: dense(grad) if i < count else grad)
        found = [old or new for old, new in zip(moving, reversal.has_gradient[:count], strict=True)]
        if found == moving:
            return reversal, moving
        moving = found


def _count_and_save(record: GraphRecord, reversal: GraphVjp, saving: ResidualPlan) -> list[Any]:
    """Let the loop of the graph under construction count its rounds, and keep what has to be saved.

    The number of rounds comes first, then what is the same in every round, then the lists.
    """
    counter = round_counter(record.operation, saving)
    kept = append_residuals(reversal.forward, saving.last, saving.stacked, counts=counter is None)
    found = grown(record, kept, reversal.forward_graph(()))
    return found if counter is None else [record.outputs[counter], *found]
