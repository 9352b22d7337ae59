"""Which values of a function are Python numbers, and between which they lie.

A number begins where a loop does: its state and what it is given, if their dtypes allow it. What is computed of numbers
alone is one too, in the loop and behind it; a state is none where the body makes something else of it. So nothing is
converted within a loop but for operations that work on arrays.

The state's ranges are guessed from where it begins, and widened to the whole dtype where a round leads beyond them.
What a test has found out narrows the ranges of its branches:

    while i < n:        i is at most the largest number less 1, so `i + 1` needs no wrapping
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ..limits import DEEPEST, is_inlined
from .expressions import ELEMENTS, RING, expression, result
from .facts import found_out
from .ranges import LIMITS, Range, can_be_number, holds, joined, of_constant, within
from .uses import Uses

_MOST_RAW = 1 << 96
"""Numbers that are not wrapped at once may become so large."""


class Numbers:
    """The numbers of one function, with the regions that are written within it."""

    def __init__(self, graph: Graph) -> None:
        self._ranges: dict[Operand, Range] = {}
        self._constants: dict[Constant, Range | None] = {}
        self._arrays: set[Value] = set()  # what has turned out not to be a number
        self._raw: set[Value] = set()  # what is not wrapped, since all that is computed of it is
        self._uses: dict[Graph, Uses] = {}
        self._can: dict[Operation, bool] = {}  # whether there is an expression for an operation
        self._given: dict[Operation, list[Range | None]] = {}  # what was known of its operands before
        self._in_loop = self._is_new = False
        if "while" in graph.types:
            self._graph(graph, 1)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def __contains__(self, operand: object) -> bool:
        return operand in self._ranges

    def range(self, operand: Operand) -> Range | None:
        """The range of a number or of a constant that can be one; None for others."""
        if type(operand) is not Constant:
            return self._ranges.get(operand)
        if operand not in self._constants:
            self._constants[operand] = of_constant(operand)
        return self._constants[operand]

    def given(self, operation: Operation) -> list[Range | None]:
        """The ranges of an operation's operands."""
        known = self._ranges
        return [self.range(x) if type(x) is Constant else known.get(x) for x in operation.inputs]

    def unwrapped(self, operation: Operation) -> Range | None:
        """The range of an operation's result before it is wrapped into its dtype; None where it need not be."""
        return None if operation.outputs[0] in self._raw else result(operation, self.given(operation))

    def uses_of(self, graph: Graph) -> Uses:
        """Who reads the values of a graph."""
        if graph not in self._uses:
            self._uses[graph] = Uses(graph)
        return self._uses[graph]

    # The values of a graph, in the order in which it is written.

    def _graph(self, graph: Graph, depth: int) -> None:
        for operation in self.uses_of(graph).live:
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
        if self._given.get(operation) == given:
            return  # as in the round before
        self._given[operation] = given
        if not self._is_computed(operation, given):
            self._are_arrays(operation.outputs)
            return
        value, raw = operation.outputs[0], result(operation, given)
        is_whole = holds(LIMITS[value.dtype], raw)
        (self._raw.add if not is_whole and self._stays_raw(value, raw, graph) else self._raw.discard)(value)
        self._set(value, raw if is_whole or value in self._raw else LIMITS[value.dtype])

    def _is_computed(self, operation: Operation, given: Sequence[Range | None]) -> bool:
        """Whether an operation is computed on numbers: on at least one, or to get an element of a tensor."""
        can = self._can.get(operation)
        if can is None:
            can = self._can[operation] = expression(operation, given) is not None
        if not can or operation.outputs[0] in self._arrays:
            return False
        is_element = operation.type in ELEMENTS
        if None in (given[1:] if is_element else given):
            return False
        return (is_element and self._in_loop) or not self._ranges.keys().isdisjoint(operation.inputs)

    def _stays_raw(self, value: Value, raw: Range, graph: Graph) -> bool:
        """Whether a result need not be wrapped. It is looked at once more after what is computed of it."""
        if value.dtype.kind not in "iu" or max(-raw[0], raw[1]) > _MOST_RAW or not self._in_loop:
            return False
        uses = self.uses_of(graph)
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
                known = dict(found_out(self, decision, number == 0, self.uses_of(graph)))
            self._enter(region, operands, known)
            self._graph(region, depth)
        for number, value in enumerate(operation.outputs):
            results = [region.outputs[number] for region in operation.regions]
            is_wanted = decision in self._ranges or not self._ranges.keys().isdisjoint(results)
            self._yielded(value, results, is_wanted)

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
            if found is None or not (self._in_loop or operand in self._ranges):
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
        """One round of a loop; the outermost one is gone through until nothing new is found.

        New is what leads to other ranges of what a round has come by already: a state of which the end of the body
        tells more than its beginning, and what has turned out not to be a number.
        """
        test, body = loop.regions
        count = len(loop.outputs)
        for number, value in enumerate(loop.outputs):
            values = [value, test.inputs[number], body.inputs[number]]
            self._state(values, loop.inputs[number], body.outputs[number] is not body.inputs[number])
        for number in range(count, len(loop.inputs)):
            self._state([test.inputs[number], body.inputs[number]], loop.inputs[number], False)
        self._graph(test, depth)
        known = dict(found_out(self, test.outputs[0], True, self.uses_of(test)))
        for number, value in enumerate(body.inputs):
            found = self._ranges.get(test.inputs[number])
            if found is not None and value not in self._arrays:
                self._set(value, within(found, known.get(test.inputs[number], found)))
        self._graph(body, depth)
        for value, made in zip(loop.outputs, body.outputs, strict=True):
            found = self.range(made)
            if found is None:
                self._are_arrays([value])
            elif value in self and not holds(self._ranges[value], found):
                self._widen(value, found)
                self._is_new = True

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
        if old is None or found[0] < old[0] or old[1] < found[1]:
            self._ranges[value] = found if old is None else joined(old, found)

    def _are_arrays(self, values: Sequence[Value]) -> None:
        for value in values:
            if value not in self._arrays:
                self._arrays.add(value)
                was_number = self._ranges.pop(value, None) is not None
                if was_number or self._raw:  # what is raw may be read by it
                    self._is_new = True
                    self._given.clear()


def _takes_raw(reader: Operation, value: Value) -> bool:
    """Whether the result of an operation is the same for an operand that was not wrapped, once it is wrapped itself."""
    if reader.type == "bitwise_and":
        other = reader.inputs[reader.inputs[0] is value]
        return isinstance(other, Constant) and bool(other.value >= 0)
    return reader.type in RING
