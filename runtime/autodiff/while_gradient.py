"""The VJP of a `while`.

    while x:            while x, n, xs:                     while n, dx, xs:          last iteration first
      x = f(x)     ==>    xs = list_append xs, x     and      xs, x = list_pop xs
                          x, n = f(x), n + 1                  dx, n = f'(x) * dx, n - 1

The forward loop counts its iterations and appends residuals to lists. `residual_policy.py` decides which residuals
are not stacked. If the loop is to keep its state every few iterations only, see `loop_checkpointing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..core.shapes import is_static
from ..ir.graph import Graph
from ..ir.value_types import AnySpec, VariableType
from ..ops.arrays.shape_ops import shape
from ..ops.state.variable_ops import read_variable
from .backward_loop import EVERY, BackwardLoop, sum_spec
from .graph_vjp import GraphVjp, content, zeros_for
from .loop_residuals import append_residuals, grown, round_counter
from .reread_variables import given_references, reread_variables_after
from .residual_policy import ResidualPlan
from .sparse_gradients import dense, is_in_parts
from .tape_records import Grads, GraphRecord, spec_carries_gradient


def while_back(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Add residuals to the loop, and record the backward loop; return the cotangents of its operands."""
    operation, inputs, results = record.operation, record.inputs, record.outputs
    count = len(operation.outputs)
    reversal, moving = _reversed_body(record, grads, wanted)
    flags = reversal.has_gradient
    carried = [i for i in range(count) if moving[i]]
    gathered = [i for i in range(count, len(flags)) if flags[i]]
    reversal.fill([moving[i] if i < count else False for i in range(len(flags))])
    outputs = reversal.outputs([i < count and moving[i] for i in range(len(flags))])
    saving = ResidualPlan(reversal, operation)
    backward = BackwardLoop(reversal, saving, operation, gathered, outputs)
    read = reversal.graph.inputs
    starts = [zeros_for(results[i]) if grads[i] is None else grads[i] for i in carried]
    starts += [_start(inputs[i], read[i].spec, reversal.grads[i]) for i in gathered]
    starts += [results[index] for index in saving.handed.values()]
    references = given_references(record, [saving.reads[value] for value in saving.read])
    every = record.attrs.get(EVERY)
    if every is None:
        rounds, *saved = _count_and_save(record, reversal, saving)
        contents = reread_variables_after(record, references)
        passed = {value: inputs[saving.steady[value]] for value in saving.given}
        passed |= {value: contents[saving.reads[value]] for value in saving.read}
        passed |= dict(zip(saving.last, saved, strict=False))
        found = backward.record(rounds, starts, saved[len(saving.last) :], passed, inputs)
    else:
        from .loop_checkpointing import checkpointed  # few loops have checkpoints

        found = checkpointed(record, backward, starts, every)
    back: Grads = [None] * len(flags)
    for i, grad in zip([*carried, *gathered], found, strict=False):
        back[i] = _ended(grad, inputs[i], read[i].spec) if is_in_parts(reversal.grads[i]) else grad
    return back


def _start(x: Any, spec: AnySpec, grad: Any) -> Any:
    """Return the initial value of the sum over all iterations, for cotangents of the form of `grad`."""
    if not is_in_parts(grad):
        return zeros_for(x)
    from ..ops.lists.nested_lists import new_list

    return new_list(sum_spec(spec, grad))


def _ended(running: Any, x: Any, spec: AnySpec) -> Any:
    """Return the sum as a tensor."""
    from ..ops.lists.list_gradients import array_item

    like: Any = content(spec)
    if is_static(like.shape):
        return array_item(running, 0, like.shape, like.dtype)
    return array_item(
        running, 0, shape(read_variable(x) if isinstance(spec, VariableType) else x), like.dtype
    )


def _reversed_body(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> tuple[GraphVjp, list[bool]]:
    """Return the VJP of one iteration, and for each part of the state whether it has a cotangent.

    One iteration may give a cotangent to a part of the state that had none at the end of the loop. The analysis
    repeats until there are no more such parts.
    """
    _, body = record.operation.regions
    count = len(record.operation.outputs)
    moving = [grad is not None for grad in grads]
    sought = [
        spec_carries_gradient(value.spec) and (i < count or wanted[i]) for i, value in enumerate(body.inputs)
    ]
    _seek_optionals(body, sought, wanted)
    while True:
        reversal = GraphVjp(
            body, moving, sought, lambda grad, i: dense(grad) if i < count else grad, record.unrecorded
        )
        found = [old or new for old, new in zip(moving, reversal.has_gradient[:count], strict=True)]
        if found == moving:
            return reversal, moving
        moving = found


def _seek_optionals(body: Graph, sought: list[bool], wanted: Sequence[bool]) -> None:
    """Set the flags of the inputs of dtype variant that hold values which depend on others that are sought.

    A state of dtype variant depends on them if its first value does, or that of some iteration.
    """
    places = [
        i for i, value in enumerate(body.inputs) if getattr(value.spec, "dtype", None) is dtypes.variant
    ]
    for i in places:
        sought[i] = wanted[i]
    for _ in places:
        active = {value for value, seek in zip(body.inputs, sought, strict=True) if seek}
        for operation in body.operations:
            if not active.isdisjoint(operation.inputs):
                active.update(operation.outputs)
        for i in places:
            sought[i] |= i < len(body.outputs) and body.outputs[i] in active


def _count_and_save(record: GraphRecord, reversal: GraphVjp, saving: ResidualPlan) -> list[Any]:
    """Add an iteration counter and the residuals to the loop of the graph under construction.

    Return the number of iterations, then the loop invariants, then the lists.
    """
    counter = round_counter(record.operation, saving)
    kept = append_residuals(reversal.forward, saving.last, saving.stacked, counts=counter is None)
    found = grown(record, kept, reversal.forward_graph(()))
    return found if counter is None else [record.outputs[counter], *found]
