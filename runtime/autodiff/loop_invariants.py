"""What is known of a loop before it runs: what is the same in every round, and what counts the rounds.

total = while i, total, xs, W
  body i, total, xs, W               xs and W are the same in every round
    j = add i, 1                     i counts: in round n it is what it was at first, and n more
    w = read_variable W              the same in every round, as nothing in the loop assigns W
    s = reduce_sum w                 as is what is computed of such things alone
    ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import dtypes
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.induction_variables import induction_steps
from ..ir.value_types import TensorType, VariableType

READ = "read_variable"
CUSTOM = "custom_gradient"
CALLS = frozenset({"py_function", "numpy_function", "iterator_advance", "iterator_next"})
"""Operations that run Python: nobody knows what they assign."""
REFUSALS = frozenset({"assert", "check_numerics", "raise"})
"""Operations that do nothing, if they have let something pass once."""


class Counter(NamedTuple):
    """Which part of the state counts, and how far it gets in a round."""

    place: int
    step: int


def steady_inputs(operation: Operation) -> dict[Value, int]:
    """The inputs of the body that are the same in every round, with their numbers."""
    _, body = operation.regions
    count = len(operation.outputs)
    return {
        value: i
        for i, value in enumerate(body.inputs)
        if i >= count or body.outputs[i] is value or isinstance(value.spec, VariableType)
    }


def counters(operation: Operation) -> dict[Value, Counter]:
    """The inputs of the body to which every round adds the same integer."""
    _, body = operation.regions
    places = induction_steps(operation).items()
    return {
        body.inputs[place]: Counter(place, step) for place, step in places if _is_count(body.inputs[place])
    }


def _is_count(value: Value) -> bool:
    spec = value.spec
    return isinstance(spec, TensorType) and spec.shape == () and spec.dtype in (dtypes.int32, dtypes.int64)


def only_read(regions: Sequence[Graph]) -> set[Value]:
    """The references among the inputs of an operation's regions that none of the regions assigns."""
    if any(operation.type in CALLS for region in regions for operation in region.walk()):
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
        operation.type in (READ, CUSTOM)
        or (bool(operation.regions) and all(_only_reads(*given) for given in _given(operation, reference)))
        for operation in graph.operations
        if reference in operation.inputs
    )


def _given(operation: Operation, value: Operand) -> Iterator[tuple[Graph, Value]]:
    """The inputs of the operation's regions that stand for a value."""
    for region in operation.regions:
        first = len(operation.inputs) - len(region.inputs)
        for place, operand in enumerate(operation.inputs):
            if operand is value and place >= first:
                yield region, region.inputs[place - first]


def is_repeatable(operation: Operation, read: set[Value]) -> bool:
    """Whether an operation gives the same once more: it has no effects but reading variables that stay."""
    if not operation.stateful or operation.type in REFUSALS:
        return True
    if operation.type == READ:
        return operation.inputs[0] in read
    if operation.op.stateful or not operation.regions:
        return False
    if operation.type == CUSTOM:
        return True  # the region is run on the way back only
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
    """What is computed of steady things alone, without effects; `steady` included."""
    found = set(steady)
    for operation in operations:
        if not operation.stateful and all(isinstance(x, Constant) or x in found for x in operation.inputs):
            found.update(operation.outputs)
    return found
