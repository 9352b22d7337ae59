"""Emit conditions at their only use.

    odd = equal rest, 1                     if (n % 2) == 1:
    m = cond odd, n              ==>            ...
      ...

An operation needs no line of its own if its result is read once, by a condition or by another deferred
operation. No line may come between the two.
"""

from __future__ import annotations

from ....ir.graph import Graph, Operation, Value
from ....ir.structured import is_cond
from ....ir.traits import INLINE_SCALAR
from .scalar_expressions import may_fail
from .unboxing_analysis import UnboxedScalars
from .use_lists import Uses


def deferred(numbers: UnboxedScalars, graph: Graph, is_test: bool) -> set[Operation]:
    """Return the operations that are emitted at their only use. The result of a test is used by its loop."""
    if not numbers:
        return set()
    uses = numbers.uses_of(graph)
    position: dict[Operation, int] = {}
    found: set[Operation] = set()
    number = written = len(uses.live)  # `written` is the position of the next operation that is not deferred
    for operation in reversed(uses.live):
        number -= 1
        position[operation] = number
        end = -1
        if _is_quiet(operation, numbers):
            end = _place_of_reader(operation.outputs[0], uses, position, found, is_test)
        if number < end <= written:
            found.add(operation)
        else:
            written = number
    return found


def _is_quiet(operation: Operation, numbers: UnboxedScalars) -> bool:
    is_number = operation.op.has(INLINE_SCALAR) and operation.outputs[0] in numbers
    return is_number and not may_fail(operation, numbers.given(operation))


def _place_of_reader(
    value: Value, uses: Uses, position: dict[Operation, int], found: set[Operation], is_test: bool
) -> int:
    """Return the position of the only reader if it is a condition or is deferred; -1 otherwise."""
    readers = uses.readers.get(value, [])
    if value in uses.outputs:
        return len(uses.live) if is_test and not readers else -1
    if len(readers) != 1:
        return -1
    (reader,) = readers
    return position[reader] if reader in found or (is_cond(reader) and reader.inputs[0] is value) else -1
