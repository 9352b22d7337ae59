"""Add loop-carried values to a loop, so that it keeps the residuals of every iteration in lists.

h = while h, xs                       h, n, as = while h, 0, [], xs
  body h, xs                            body h, n, as, xs
    a = f(h, xs)              ==>         a = f(h, xs)
    yield g(a)                            yield g(a), n + 1, list_append as, a
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..ir.builder import Builder, recorders
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.framework.op import wrap
from ..ops.lists.tensor_list import list_append
from ..ops.math.arithmetic import add
from .backward_loop import INT, number
from .graph_vjp import blank, making_list
from .residual_policy import ResidualPlan
from .tape_records import GraphRecord


class LoopResiduals(NamedTuple):
    """Additional loop-carried values, and their values after an iteration."""

    parts: list[Value]
    after: list[Operand]


def append_residuals(
    body: Builder, last: Sequence[Value], stacked: Sequence[Value], counts: bool
) -> LoopResiduals:
    """Extend a body with an iteration counter, the last values of `last`, and lists of the values of `stacked`."""
    parts = [Value("rounds", INT)] if counts else []
    with body:
        after: list[Operand] = [body.operand(add(wrap(part, body), number(1))) for part in parts]
        for value in last:
            parts.append(Value(value.name, value.spec))
            after.append(value)
        for value in stacked:
            parts.append(Value(value.name, ListType(value.spec)))
            after.append(body.operand(appended(wrap(parts[-1], body), wrap(value, body))))
    return LoopResiduals(parts, after)


def appended(array: Any, value: Any) -> Any:
    """Return the list with one more element, which may be a list."""
    if not isinstance(array.spec.element, ListType):
        return list_append(array, value)
    from ..ops.lists.nested_lists import list_keep  # few lists contain lists

    return list_keep(array, value)


def round_counter(operation: Operation, saving: ResidualPlan) -> int | None:
    """Return the index of an induction variable that counts the iterations from 0; None if there is none."""
    for counter in saving.counters.values():
        start = operation.inputs[counter.position]
        is_zero = isinstance(start, Constant) and start.spec == INT and not start.value
        if is_zero and counter.step == 1:
            return counter.position
    return None


def grown(record: GraphRecord, kept: LoopResiduals, body: Graph) -> list[Any]:
    """Add loop-carried values to a loop of the graph under construction; return their final values."""
    operation = record.operation
    test, _ = operation.regions
    count = len(operation.outputs)
    inside = (*body.inputs[:count], *kept.parts, *body.inputs[count:])
    new_body = Graph(body.name, inside, body.operations, (*body.outputs, *kept.after))
    ignored = [Value(part.name, part.spec) for part in kept.parts]
    seen = (*test.inputs[:count], *ignored, *test.inputs[count:])
    starts = _starts(record, [part.spec for part in kept.parts])
    operation.inputs = (*operation.inputs[:count], *starts, *operation.inputs[count:])
    operation.regions = (Graph(test.name, seen, test.operations, test.outputs), new_body)
    results = tuple(Value(part.name, part.spec) for part in kept.parts)
    operation.outputs = (*operation.outputs, *results)
    for tape in recorders():
        tape.grown(operation, results)
    return [wrap(value, record.builder) for value in results]


def _starts(record: GraphRecord, specs: Sequence[AnySpec]) -> list[Operand]:
    """Return the initial values of additional loop-carried values: empty lists, made before the loop, or zeros."""
    starts: list[Operand] = []
    made: list[Operation] = []
    known: dict[ListType, Value] = {}  # shared, so that loops nested n deep have n² such operations, not n³
    for spec in specs:
        if isinstance(spec, ListType):
            made += making_list(spec, known)
            starts.append(made[-1].outputs[0])
            continue
        assert isinstance(spec, TensorType)
        starts.append(Constant.int32(0) if spec == INT else Constant(blank(spec)._array))
    if made:
        index = record.builder.operations.index(record.operation)
        record.builder.operations[index:index] = made
    return starts
