"""Value numbering: values with the same number are equal, in whichever region they are computed.

    a = multiply x, y           0 of (multiply, x, y)         is 7
    b = cond p, x, y            0 of (cond, p, (7,), (5,))    is 8, if the branches yield 7 and 5
      then x, y
        c = multiply x, y       0 of (multiply, x, y)         is 7

Results of operations with side effects are equal to no other value. Inputs of regions have the numbers of
their operands. The state of a loop is numbered by its position, so equal loops have equal numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.structured import is_branch, is_loop
from ..ir.traits import COMMUTATIVE
from . import value_keys


class ValueNumbering:
    """A table of value numbers by key."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = itertools.count()

    def fresh(self) -> int:
        """Return an unused number."""
        return next(self._next)

    def of(self, key: Hashable) -> int:
        """Return the number of a key."""
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = next(self._next)
        return found

    def operand(self, operand: Operand) -> int:
        """Return the number of a constant, or of a value from outside the region."""
        return self.of(
            ("constant", value_keys.of_constant(operand)) if type(operand) is Constant else operand
        )

    def outputs(self, graph: Graph, given: Sequence[int], depth: int = 0) -> tuple[int, ...]:
        """Return the numbers of a closed graph's outputs for inputs numbered `given`.

        `depth` is the number of loops around the graph.
        """
        numbers: dict[Operand, int] = dict(zip(graph.inputs, given, strict=True))

        def number(operand: Operand) -> int:
            return self.operand(operand) if type(operand) is Constant else numbers[operand]

        for operation in graph.operations:
            results = self.results(operation, list(map(number, operation.inputs)), depth)
            numbers.update(zip(operation.outputs, results, strict=True))
        return tuple(map(number, graph.outputs))

    def results(self, operation: Operation, given: list[int], depth: int = 0) -> list[int]:
        """Return the numbers of an operation's results."""
        if operation.stateful:
            return [self.fresh() for _ in operation.outputs]
        key = self.of(self.key(operation, given, depth))
        return [self.of(("result", key, slot)) for slot in range(len(operation.outputs))]

    def key(self, operation: Operation, given: list[int], depth: int = 0) -> Hashable:
        """Return a key that determines the results of an operation without side effects.

        `given` are the numbers of its operands.
        """
        parts: tuple[Hashable, ...] = ()
        if is_loop(operation):
            count = len(operation.outputs)
            state = [self.of(("state", depth, slot)) for slot in range(count)]
            parts = tuple(
                self.outputs(each, [*state, *given[count:]], depth + 1) for each in operation.regions
            )
            given = given[:count]
        elif is_branch(operation):
            parts = tuple(self.outputs(region, given[1:], depth) for region in operation.regions)
            given = given[:1]
        else:
            parts = tuple(map(id, operation.regions))  # callees are unique objects
            if operation.op.has(COMMUTATIVE):
                given = sorted(given)
        return operation.op, value_keys.of_attributes(operation.attrs), parts, tuple(given)
