"""Choose the values of a function that are unboxed to Python numbers, and compute their ranges.

Unboxing starts at loops: state and invariants become numbers if their dtypes allow it. A value computed only
from numbers is a number too, inside the loop and after it. State remains boxed if the body
yields no number for it. So nothing is converted within a loop, except for operations on arrays.

The first range of a state is a guess from its initial value. It is widened to the limits of the dtype if an
iteration leaves it. A condition narrows the ranges in its branches:

    while i < n:        i is at most the largest number less 1, so `i + 1` needs no wrapping
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from ....ir.graph import Constant, Graph, Operand, Operation, Value
from ....ir.structured import is_branch, is_call, is_cond, is_loop
from ....ir.traits import MODULAR
from ....ops.framework.intervals import Range, hull
from ....ops.framework.region_ops import WHILE
from ....ops.math.bitwise import bitwise_and
from ..codegen_limits import DEEPEST, is_inlined
from .branch_refinement import refine_by_condition
from .range_analysis import LIMITS, can_be_number, holds, of_constant, within
from .scalar_expressions import expression, result, takes_elements
from .use_lists import Uses

_MOST_RAW = 1 << 96
"""The largest magnitude of unwrapped numbers."""


class _Ranges(dict[Operand, "Range | None"]):
    """The ranges of numbers and of constants that can be numbers; None for other operands."""

    def __missing__(self, operand: Operand) -> Range | None:
        found = self[operand] = of_constant(operand) if type(operand) is Constant else None
        return found


class UnboxedScalars:
    """The unboxed numbers of one function and of the regions that are emitted within it."""

    def __init__(self, graph: Graph) -> None:
        self._ranges = _Ranges()
        self._found: set[Operand] = set()  # the numbers
        self._arrays: set[Operand] = set()  # values found not to be numbers
        self._raw: set[Value] = set()  # unwrapped values; results computed from them are wrapped
        self._uses: dict[Graph, Uses] = {}
        self._expressions: dict[Operation, str | None] = {}
        self._given: dict[Operation, list[Range | None]] = {}  # the operands' ranges at the last visit
        self._in_loop = self._is_new = False
        if WHILE in graph.ops:
            self._graph(self.uses_of(graph), 1)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __contains__(self, operand: object) -> bool:
        return operand in self._found

    def expression(self, operation: Operation) -> str | None:
        """Return the expression for an operation on numbers; None if there is none."""
        known = self._expressions
        if operation not in known:
            known[operation] = expression(operation)
        return known[operation]

    def given(self, operation: Operation) -> list[Range | None]:
        """Return the ranges of an operation's operands; None for operands that are not numbers."""
        return list(map(self._ranges.__getitem__, operation.inputs))

    def unwrapped(self, operation: Operation) -> Range | None:
        """Return the range of an operation's result before wrapping; None if it needs no wrapping."""
        return None if operation.outputs[0] in self._raw else result(operation, self.given(operation))

    def uses_of(self, graph: Graph) -> Uses:
        """Return the use lists of a graph."""
        if graph not in self._uses:
            self._uses[graph] = Uses(graph)
        return self._uses[graph]

    # The transfer functions, in program order.

    def _graph(self, uses: Uses, depth: int) -> None:
        for operation in uses.live:
            if not operation.regions:
                if self._found or self._in_loop:
                    self._computed(operation, uses)
            elif is_loop(operation):
                self._while(operation, depth + 1)
            elif is_branch(operation):
                self._branches(operation, uses, depth + (1 if is_cond(operation) else 2))
            elif is_call(operation):
                self._call(operation, depth)
            else:
                self._are_arrays(operation.outputs)

    def _computed(self, operation: Operation, uses: Uses) -> None:
        if self.expression(operation) is None:
            return
        given = self.given(operation)
        if self._given.get(operation) == given:
            return  # unchanged since the last visit
        self._given[operation] = given
        if not self._is_computed(operation, given):
            self._are_arrays(operation.outputs)
            return
        value, raw = operation.outputs[0], result(operation, given)
        self._raw.discard(value)
        limits = LIMITS[value.dtype]
        if not holds(limits, raw):
            if self._stays_raw(value, raw, uses):
                self._raw.add(value)
            else:
                raw = limits
        self._set(value, raw)

    def _is_computed(self, operation: Operation, given: Sequence[Range | None]) -> bool:
        """Return whether an operation is computed on numbers.

        At least one operand is a number, or the operation takes an element of a tensor in a loop.
        """
        if operation.outputs[0] in self._arrays:
            return False
        is_element = takes_elements(operation.op)
        if None in (given[1:] if is_element else given):
            return False
        return (is_element and self._in_loop) or not self._found.isdisjoint(operation.inputs)

    def _stays_raw(self, value: Value, raw: Range, uses: Uses) -> bool:
        """Return whether a result needs no wrapping; checked again if a reader turns out to be an array."""
        if value.dtype.kind not in "iu" or max(-raw[0], raw[1]) > _MOST_RAW or not self._in_loop:
            return False
        return value not in uses.outputs and all(
            _takes_raw(reader, value)
            and self.expression(reader) is not None
            and reader.outputs[0] not in self._arrays
            for reader in uses.readers.get(value, ())
        )

    def _branches(self, operation: Operation, uses: Uses, depth: int) -> None:
        if depth > DEEPEST:
            self._are_arrays(operation.outputs)
            return
        decision, *operands = operation.inputs
        for number, region in enumerate(operation.regions):
            is_if = is_cond(operation)
            known = refine_by_condition(self._ranges, decision, number == 0, uses) if is_if else {}
            self._enter(region, operands, known)
            self._graph(self.uses_of(region), depth)
        columns = zip(*[region.outputs for region in operation.regions], strict=True)
        for value, results in zip(operation.outputs, columns, strict=True):
            self._yielded(value, results, decision in self._found or not self._found.isdisjoint(results))

    def _call(self, operation: Operation, depth: int) -> None:
        (callee,) = operation.regions
        if depth > DEEPEST or not is_inlined(callee):
            self._are_arrays(operation.outputs)
            return
        self._enter(callee, operation.inputs, {})
        self._graph(self.uses_of(callee), depth)
        for value, made in zip(operation.outputs, callee.outputs, strict=True):
            self._yielded(value, [made], made in self._found)

    def _yielded(self, value: Value, results: Sequence[Operand], is_wanted: bool) -> None:
        known = [found for each in results if (found := self._ranges[each]) is not None]
        if not is_wanted or len(known) < len(results) or not can_be_number(value.spec):
            self._are_arrays([value])
        else:
            self._set(value, functools.reduce(hull, known))

    def _enter(self, region: Graph, operands: Sequence[Operand], known: Mapping[Operand, Range]) -> None:
        for value, operand in zip(region.inputs, operands, strict=True):
            found = self._ranges[operand]
            if found is None or not (self._in_loop or operand in self._found):
                self._are_arrays([value])
            else:
                self._set(value, within(found, known[operand]) if operand in known else found)

    def _while(self, loop: Operation, depth: int) -> None:
        if depth > DEEPEST:
            self._are_arrays(loop.outputs)
        elif self._in_loop:
            self._round(loop, depth)
        else:
            self._in_loop = self._is_new = True
            while self._is_new:
                self._is_new = False
                self._round(loop, depth)
            self._in_loop = False

    def _round(self, loop: Operation, depth: int) -> None:
        """Visit a loop once; the outermost loop is visited until a fixed point is reached.

        A visit is needed again if a result of the body exceeds the range of its state, or if a value is found
        not to be a number.
        """
        test, body = loop.regions
        for number in range(len(loop.inputs)):
            self._begin(loop, number)
        uses = self.uses_of(test)
        self._graph(uses, depth)
        self._enter(body, test.inputs, refine_by_condition(self._ranges, test.outputs[0], True, uses))
        self._graph(self.uses_of(body), depth)
        for value, end in zip(loop.outputs, body.outputs, strict=True):
            found, before = self._ranges[end], self._ranges[value]
            if found is None:
                self._are_arrays([value])
            elif before is not None and not holds(before, found):
                self._widened(value, found)
                self._is_new = True

    def _begin(self, loop: Operation, number: int) -> None:
        """Set the ranges of one operand of the loop: of its result and of the inputs of test and body."""
        start, is_state = loop.inputs[number], number < len(loop.outputs)
        inside = [region.inputs[number] for region in loop.regions]
        values = [loop.outputs[number], *inside] if is_state else inside
        found = self._ranges[start] or (LIMITS[start.dtype] if can_be_number(start.spec) else None)
        is_new = values[0] not in self._found
        if found is None or (is_new and not self._may_be_numbers(values)):
            self._are_arrays(values)
            return
        if is_state and is_new:
            found = self._guess(loop, number, found)
        whole = self._widened(values[0], found)
        if is_state:
            self._set(inside[0], whole)  # the body's range is narrower

    def _guess(self, loop: Operation, number: int, start: Range) -> Range:
        """Return a guess of the range of a state; a right guess ends the analysis early.

        State that the test reads mostly counts upwards; other state that changes may have any value.
        """
        test, body = loop.regions
        value = body.inputs[number]
        if body.outputs[number] is value:
            return start
        low, high = LIMITS[value.dtype]
        return (start[0] if test.inputs[number] in self.uses_of(test).readers else low), high

    def _may_be_numbers(self, values: Sequence[Value]) -> bool:
        return self._arrays.isdisjoint(values) and all(can_be_number(value.spec) for value in values)

    def _widened(self, value: Value, found: Range) -> Range:
        """Widen a range that has grown to the limits of the dtype, so that the analysis terminates soon."""
        old = self._ranges.get(value)
        if old is not None:
            low, high = LIMITS[value.dtype]
            found = low if found[0] < old[0] else old[0], high if found[1] > old[1] else old[1]
        self._set(value, found)
        return found

    def _set(self, value: Value, found: Range) -> None:
        old = self._ranges.get(value)
        if old == found or value in self._arrays:
            return
        self._found.add(value)
        self._ranges[value] = found if old is None else hull(old, found)

    def _are_arrays(self, values: Sequence[Value]) -> None:
        for value in values:
            if value not in self._arrays:
                self._arrays.add(value)
                if value in self._found or self._raw:  # its operands may be raw
                    self._found.discard(value)
                    self._ranges[value] = None
                    self._is_new = True
                    self._given.clear()


def _takes_raw(reader: Operation, value: Value) -> bool:
    """Return whether an unwrapped operand does not change the operation's wrapped result."""
    if reader.op is bitwise_and:
        other = reader.inputs[reader.inputs[0] is value]
        return isinstance(other, Constant) and bool(other.value >= 0)
    return reader.op.has(MODULAR)
