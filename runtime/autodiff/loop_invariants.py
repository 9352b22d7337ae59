"""Analysis of a loop: its loop invariants and induction variables.

total = while i, total, xs, W
  body i, total, xs, W               xs and W are the same in every iteration
    j = add i, 1                     i is an induction variable: in iteration n it is its initial value plus n
    w = read_variable W              loop-invariant, as the loop does not assign W
    s = reduce_sum w                 loop-invariant, as its operands are
    ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import dtypes
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.structured import is_custom_gradient
from ..ir.traits import CALLS_PYTHON, IDEMPOTENT
from ..ir.value_types import TensorType, VariableType
from ..ops.framework.induction_variables import induction_steps
from ..ops.framework.region_ops import CUSTOM
from ..ops.state.variable_ops import read_variable


class InductionVariable(NamedTuple):
    """An induction variable: its index in the state, and its step."""

    position: int
    step: int


def steady_inputs(operation: Operation) -> dict[Value, int]:
    """Return the inputs of the body that are loop invariants, with their indices."""
    _, body = operation.regions
    count = len(operation.outputs)
    return {
        value: i
        for i, value in enumerate(body.inputs)
        if i >= count or body.outputs[i] is value or isinstance(value.spec, VariableType)
    }


def counters(operation: Operation) -> dict[Value, InductionVariable]:
    """Return the inputs of the body that are induction variables."""
    _, body = operation.regions
    indices = induction_steps(operation).items()
    return {
        body.inputs[index]: InductionVariable(index, step)
        for index, step in indices
        if _is_count(body.inputs[index])
    }


def _is_count(value: Value) -> bool:
    spec = value.spec
    return isinstance(spec, TensorType) and spec.shape == () and spec.dtype in (dtypes.int32, dtypes.int64)


def only_read(regions: Sequence[Graph]) -> set[Value]:
    """Return the references among the inputs of an operation's regions that none of the regions assigns."""
    if any(operation.op.has(CALLS_PYTHON) for region in regions for operation in region.walk()):
        return set()
    found: set[Value] = set()
    for column in zip(*(region.inputs for region in regions), strict=True):
        if isinstance(column[0].spec, VariableType) and all(map(_only_reads, regions, column)):
            found.update(column)
    return found


def _only_reads(graph: Graph, reference: Value) -> bool:
    if reference in graph.outputs:
        return False
    return all(
        operation.op in (read_variable, CUSTOM)
        or (bool(operation.regions) and all(_only_reads(*given) for given in _given(operation, reference)))
        for operation in graph.operations
        if reference in operation.inputs
    )


def _given(operation: Operation, value: Operand) -> Iterator[tuple[Graph, Value]]:
    """Yield the inputs of the operation's regions that correspond to an operand."""
    for region in operation.regions:
        first = len(operation.inputs) - len(region.inputs)
        for index, operand in enumerate(operation.inputs):
            if operand is value and index >= first:
                yield region, region.inputs[index - first]


def is_repeatable(operation: Operation, read: set[Value]) -> bool:
    """Return whether an operation can be repeated with the same results; it may only read variables in `read`."""
    if not operation.stateful or operation.op.has(IDEMPOTENT):
        return True
    if operation.op is read_variable:
        return operation.inputs[0] in read
    if operation.op.stateful or not operation.regions:
        return False
    if is_custom_gradient(operation):
        return True  # only the backward pass runs the region
    for region in operation.regions:
        first = len(operation.inputs) - len(region.inputs)
        inside = {
            inner
            for inner, outer in zip(region.inputs, operation.inputs[first:], strict=True)
            if outer in read
        }
        if not all(is_repeatable(each, inside) for each in region.operations):
            return False
    return True


def unchanging(operations: Sequence[Operation], steady: set[Value]) -> set[Value]:
    """Return the values computed from loop invariants alone without effects, including `steady`."""
    found = set(steady)
    for operation in operations:
        if not operation.stateful and all(isinstance(x, Constant) or x in found for x in operation.inputs):
            found.update(operation.outputs)
    return found
