"""Which values of a function are Python numbers, and between which they lie.

A number begins where a loop does: its state and what it is given, if their dtypes allow it. What is computed of numbers
alone is one too, in the loop and behind it; a state is none where the body makes something else of it. So nothing is
converted within a loop but for operations that work on arrays.

The state's ranges are guessed from where it begins, and widened to the whole dtype where a round leads beyond them.
What a test has found out narrows the ranges of its branches:

    while i < n:        i is at most the largest number less 1, so `i + 1` needs no wrapping
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ..limits import DEEPEST, is_inlined
from .expressions import ELEMENTS, QUIET, RING, expression, may_fail, result
from .ranges import LIMITS, Range, can_be_number, holds, joined, of_operand, within

_MOST_RAW = 1 << 96
"""Numbers that are not wrapped at once may become so large."""


class Uses:
    """Of each value of one graph: the operations that read it; and the results of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.live = graph.live_operations()
        self.outputs = set(graph.outputs)
        self.makers: dict[Operand, Operation] = {}
        self.readers: dict[Operand, list[Operation]] = {}
        for operation in self.live:
            self.makers.update(dict.fromkeys(operation.outputs, operation))
            for operand in operation.inputs:
                self.readers.setdefault(operand, []).append(operation)


class Numbers:
    """The numbers of one function, with the regions that are written within it."""

    def __init__(self, graph: Graph) -> None:
        self._ranges: dict[Value, Range] = {}
        self._arrays: set[Value] = set()  # what has turned out not to be a number
        self._raw: set[Value] = set()  # what is not wrapped, since all that is computed of it is
        self._uses: dict[Graph, Uses] = {}
        self._can: dict[Operation, bool] = {}  # whether there is an expression for an operation
        self._in_loop = self._is_new = False
        if any(operation.type == "while" for operation in graph.walk()):
            self._graph(graph, 1)

    def __contains__(self, operand: object) -> bool:
        return operand in self._ranges

    def range(self, operand: Operand) -> Range | None:
        """The range of a number or of a constant that can be one; None for others."""
        return of_operand(operand, self._ranges.get(operand) if isinstance(operand, Value) else None)

    def given(self, operation: Operation) -> list[Range | None]:
        """The ranges of an operation's operands."""
        return [self.range(operand) for operand in operation.inputs]

    def unwrapped(self, operation: Operation) -> Range | None:
        """The range of an operation's result before it is wrapped into its dtype; None where it need not be."""
        return None if operation.outputs[0] in self._raw else result(operation, self.given(operation))

    def deferred(self, graph: Graph, is_test: bool) -> set[Operation]:
        """The operations that are written where their only reader is: nothing is written between the two.

        The result of a test is read by its loop.
        """
        if not self._ranges:
            return set()
        uses = self._uses_of(graph)
        place = {operation: number for number, operation in enumerate(uses.live)}
        found: set[Operation] = set()
        written = len(uses.live)  # the place of the next operation that is not deferred
        for number in reversed(range(len(uses.live))):
            operation = uses.live[number]
            end = -1
            if self._is_quiet(operation):
                end = _place_of_reader(operation.outputs[0], uses, place, found, is_test)
            if number < end <= written:
                found.add(operation)
            else:
                written = number
        return found

    def _is_quiet(self, operation: Operation) -> bool:
        return (
            operation.type in QUIET
            and operation.outputs[0] in self._ranges
            and not may_fail(operation, self.given(operation))
        )

    def _uses_of(self, graph: Graph) -> Uses:
        if graph not in self._uses:
            self._uses[graph] = Uses(graph)
        return self._uses[graph]

    # The values of a graph, in the order in which it is written.

    def _graph(self, graph: Graph, depth: int) -> None:
        for operation in self._uses_of(graph).live:
            kind = operation.type
            if kind == "while":
                self._while(operation, depth + 1)
            elif kind in ("cond", "switch"):
                self._branches(operation, graph, depth + (1 if kind == "cond" else 2))
            elif kind == "call":
                self._call(operation, graph, depth)
            elif self._ranges or self._in_loop:
                self._computed(operation, graph)

    def _computed(self, operation: Operation, graph: Graph) -> None:
        given = self.given(operation)
        if not self._is_computed(operation, given):
            self._are_arrays(operation.outputs)
            return
        value, raw = operation.outputs[0], result(operation, given)
        is_whole = holds(LIMITS[value.dtype], raw)
        (self._raw.add if not is_whole and self._stays_raw(value, raw, graph) else self._raw.discard)(value)
        self._set(value, raw if is_whole or value in self._raw else LIMITS[value.dtype])

    def _is_computed(self, operation: Operation, given: Sequence[Range | None]) -> bool:
        """Whether an operation is computed on numbers: on at least one, or to get an element of a tensor."""
        if operation not in self._can:
            self._can[operation] = expression(operation, given) is not None
        if not self._can[operation] or operation.outputs[0] in self._arrays:
            return False
        is_element = operation.type in ELEMENTS
        if None in (given[1:] if is_element else given):
            return False
        return (is_element and self._in_loop) or any(operand in self._ranges for operand in operation.inputs)

    def _stays_raw(self, value: Value, raw: Range, graph: Graph) -> bool:
        """Whether a result need not be wrapped. It is looked at once more after what is computed of it."""
        if value.dtype.kind not in "iu" or max(-raw[0], raw[1]) > _MOST_RAW or not self._in_loop:
            return False
        uses = self._uses_of(graph)
        return value not in uses.outputs and all(
            _takes_raw(reader, value) and reader.outputs[0] not in self._arrays
            for reader in uses.readers.get(value, ())
        )

    def _branches(self, operation: Operation, graph: Graph, depth: int) -> None:
        if depth > DEEPEST:
            self._are_arrays(operation.outputs)
            return
        decision, *operands = operation.inputs
        for number, region in enumerate(operation.regions):
            known = {}
            if operation.type == "cond":
                known = dict(self._found_out(decision, number == 0, self._uses_of(graph)))
            self._enter(region, operands, known)
            self._graph(region, depth)
        for number, value in enumerate(operation.outputs):
            results = [region.outputs[number] for region in operation.regions]
            self._yielded(value, results, decision in self or any(each in self for each in results))

    def _call(self, operation: Operation, graph: Graph, depth: int) -> None:
        (callee,) = operation.regions
        if depth > DEEPEST or not is_inlined(callee):
            self._are_arrays(operation.outputs)
            return
        self._enter(callee, operation.inputs, {})
        self._graph(callee, depth)
        for value, made in zip(operation.outputs, callee.outputs, strict=True):
            self._yielded(value, [made], made in self)

    def _yielded(self, value: Value, results: Sequence[Operand], is_wanted: bool) -> None:
        found = [self.range(each) for each in results]
        known = [each for each in found if each is not None]
        if not is_wanted or len(known) < len(found) or not can_be_number(value.spec):
            self._are_arrays([value])
            return
        whole = known[0]
        for each in known[1:]:
            whole = joined(whole, each)
        self._set(value, whole)

    def _enter(self, region: Graph, operands: Sequence[Operand], known: dict[Operand, Range]) -> None:
        for value, operand in zip(region.inputs, operands, strict=True):
            found = self.range(operand)
            if found is None or not (operand in self or self._in_loop):
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
        """One round of a loop; the outermost one is gone through until nothing new is found."""
        test, body = loop.regions
        count = len(loop.outputs)
        for number, value in enumerate(loop.outputs):
            values = [value, test.inputs[number], body.inputs[number]]
            self._state(values, loop.inputs[number], body.outputs[number] is not body.inputs[number])
        for number in range(count, len(loop.inputs)):
            self._state([test.inputs[number], body.inputs[number]], loop.inputs[number], False)
        self._graph(test, depth)
        known = dict(self._found_out(test.outputs[0], True, self._uses_of(test)))
        for number, value in enumerate(body.inputs):
            found = self._ranges.get(test.inputs[number])
            if found is not None and value not in self._arrays:
                self._set(value, within(found, known.get(test.inputs[number], found)))
        self._graph(body, depth)
        for value, made in zip(loop.outputs, body.outputs, strict=True):
            found = self.range(made)
            if found is None:
                self._are_arrays([value])
            elif value in self:
                self._widen(value, found)

    def _state(self, values: list[Value], start: Operand, is_changed: bool) -> None:
        """A state of a loop, or what is given to it, by its names outside, in the test, and in the body."""
        found = self.range(start) or (LIMITS[start.dtype] if can_be_number(start.spec) else None)
        if (
            found is None
            or not all(can_be_number(value.spec) for value in values)
            or any(value in self._arrays for value in values)
        ):
            self._are_arrays(values)
            return
        self._widen(values[0], found, is_changed)
        if len(values) > 2:
            self._set(values[1], self._ranges[values[0]])

    def _widen(self, value: Value, found: Range, is_changed: bool = False) -> None:
        """What is beyond the range that was known may be anything: so this ends soon."""
        old = self._ranges.get(value)
        if old is None:
            # What counts does so upwards, mostly: that is one round less.
            self._set(value, (found[0], LIMITS[value.dtype][1]) if is_changed else found)
        elif not holds(old, found):
            low, high = LIMITS[value.dtype]
            self._set(value, (low if found[0] < old[0] else old[0], high if found[1] > old[1] else old[1]))

    def _set(self, value: Value, found: Range) -> None:
        if value in self._arrays:
            return
        old = self._ranges.get(value)
        new = found if old is None else joined(old, found)
        if new != old:
            self._ranges[value] = new
            self._is_new = True

    def _are_arrays(self, values: Sequence[Value]) -> None:
        for value in values:
            if value not in self._arrays:
                self._arrays.add(value)
                self._ranges.pop(value, None)
                self._is_new = True

    def _found_out(self, decision: Operand, is_true: bool, uses: Uses) -> Iterator[tuple[Operand, Range]]:
        """What is known of operands where a decision was found true, or false."""
        maker = uses.makers.get(decision)
        if maker is None or decision not in self:
            return
        if maker.type == "logical_not":
            yield from self._found_out(maker.inputs[0], not is_true, uses)
        elif maker.type == ("logical_and" if is_true else "logical_or"):
            for operand in maker.inputs:
                yield from self._found_out(operand, is_true, uses)
        elif maker.type in _COMPARISONS and maker.inputs[0].dtype.kind in "iu":
            yield from self._compared(_COMPARISONS[maker.type] if is_true else _OPPOSITES[maker.type], maker)

    def _compared(self, sign: str, comparison: Operation) -> Iterator[tuple[Operand, Range]]:
        a, b = comparison.inputs
        x, y = self.range(a), self.range(b)
        if x is None or y is None:
            return
        step = 1 if len(sign) == 1 else 0
        if sign[0] == "<":
            yield a, (x[0], y[1] - step)
            yield b, (x[0] + step, y[1])
        elif sign[0] == ">":
            yield a, (y[0] + step, x[1])
            yield b, (y[0], x[1] - step)
        elif sign == "==":
            yield a, y
            yield b, x


def _place_of_reader(
    value: Value, uses: Uses, place: dict[Operation, int], deferred: set[Operation], is_test: bool
) -> int:
    """Where a value is read, if it is read once, and by a decision or by something that is deferred as well; or -1."""
    readers = uses.readers.get(value, [])
    if value in uses.outputs:
        return len(place) if is_test and not readers else -1
    if len(readers) != 1:
        return -1
    (reader,) = readers
    return (
        place[reader] if reader in deferred or (reader.type == "cond" and reader.inputs[0] is value) else -1
    )


_COMPARISONS = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
_OPPOSITES = {
    "less": ">=",
    "less_equal": ">",
    "greater": "<=",
    "greater_equal": "<",
    "equal": "!=",
    "not_equal": "==",
}


def _takes_raw(reader: Operation, value: Value) -> bool:
    """Whether the result of an operation is the same for an operand that was not wrapped, once it is wrapped itself."""
    if reader.type == "bitwise_and":
        other = reader.inputs[reader.inputs[0] is value]
        return isinstance(other, Constant) and bool(other.value >= 0)
    return reader.type in RING
