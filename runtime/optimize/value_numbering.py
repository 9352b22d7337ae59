"""Numbers for values: those with the same number are equal, wherever they are computed.

    a = multiply x, y           0 of (multiply, x, y)         is 7
    b = cond p, x, y            0 of (cond, p, (7,), (5,))    is 8, if the branches yield 7 and 5
      then x, y
        c = multiply x, y       0 of (multiply, x, y)         is 7

What an operation with effects gives is equal to nothing else. In a region the inputs have the numbers of what they
are given; the state of a loop has numbers by its place, so equal loops have equal numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

from ..ir.graph import Constant, Graph, Operand, Operation
from . import value_keys
from .rewriter import GIVEN

COMMUTES = frozenset({
    "add", "multiply", "equal", "not_equal", "squared_difference", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor",
})  # fmt: skip
"""Operations whose operands may change places: to the last bit, but for which of two NaNs they give."""


class ValueNumbering:
    """A table of what has numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = itertools.count()

    def fresh(self) -> int:
        """A number that nothing has."""
        return next(self._next)

    def of(self, key: Hashable) -> int:
        """The number of what has this key."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = next(self._next)
        return found

    def operand(self, operand: Operand) -> int:
        """The number of a constant, or of a value that is given from outside."""
        return self.of(
            ("constant", value_keys.of_constant(operand)) if type(operand) is Constant else operand
        )

    def outputs(self, graph: Graph, given: Sequence[int], depth: int = 0) -> tuple[int, ...]:
        """The numbers of what a closed graph gives for these; `depth` is that of the loops around it."""
        numbers: dict[Operand, int] = dict(zip(graph.inputs, given, strict=True))

        def number(operand: Operand) -> int:
            return self.operand(operand) if type(operand) is Constant else numbers[operand]

        for operation in graph.operations:
            results = self.results(operation, list(map(number, operation.inputs)), depth)
            numbers.update(zip(operation.outputs, results, strict=True))
        return tuple(map(number, graph.outputs))

    def results(self, operation: Operation, given: list[int], depth: int = 0) -> list[int]:
        """The numbers of an operation's results."""
        if operation.stateful:
            return [self.fresh() for _ in operation.outputs]
        key = self.of(self.key(operation, given, depth))
        return [self.of(("result", key, place)) for place in range(len(operation.outputs))]

    def key(self, operation: Operation, given: list[int], depth: int = 0) -> Hashable:
        """What says all about an operation without effects, if its operands have these numbers."""
        name = operation.op.name
        parts: tuple[Hashable, ...] = ()
        if name == "while":
            count = len(operation.outputs)
            state = [self.of(("state", depth, place)) for place in range(count)]
            parts = tuple(
                self.outputs(each, [*state, *given[count:]], depth + 1) for each in operation.regions
            )
            given = given[:count]
        elif name in GIVEN:
            first = GIVEN[name]
            parts = tuple(self.outputs(region, given[first:], depth) for region in operation.regions)
            given = given[:first]
        else:
            parts = tuple(map(id, operation.regions))  # callees, of which there is one each
            if name in COMMUTES:
                given = sorted(given)
        return operation.op, value_keys.of_attributes(operation.attrs), parts, tuple(given)
