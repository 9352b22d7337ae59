"""Number the operands of operations: lists of numbers for all of them, which take less time to read than operations.

a = matmul x, u           results   a  b  c              0  1  2
b = add a, 1.0      ==>   read      x  u  a  1.0  b  v   -1 -2 0 FIXED 1 -3
c = matmul b, v           last uses of the results       1  2  -1
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import numpy as np

from ..ir import value_keys
from ..ir.graph import Constant, Operand, Operation, Value

FIXED = -(1 << 62)
"""The number of constants that are part of an operation, and no operands of it: small ones."""


class OperandNumbers:
    """The numbers of the operands of all operations, one after another; those of results are their positions.

    `first_result` has the number of the first result of each operation.
    """

    def __init__(self, operations: Sequence[Operation], outputs: Sequence[Operand]) -> None:
        self.results: list[Value] = []
        self.first_result, self._first_operand = [0], [0]
        operands: list[Operand] = []
        for operation in operations:
            self.results += operation.outputs
            operands += operation.inputs
            self.first_result.append(len(self.results))
            self._first_operand.append(len(operands))
        self._known = _Numbers(self.results)
        self._read = [*map(self._known.__getitem__, operands)]
        self._last_uses = self._found_last_uses(outputs)

    def _found_last_uses(self, outputs: Sequence[Operand]) -> list[int]:
        read, count = np.array(self._read, np.int64), len(self._first_operand) - 1
        users = np.repeat(np.arange(count), np.diff(self._first_operand))
        found = np.full(len(self.results), -1)
        found[read[read >= 0]] = users[read >= 0]  # the last of several users stays
        for output in outputs:
            if (number := self._known[output]) >= 0:
                found[number] = count
        return found.tolist()

    def read_in(self, start: int, stop: int) -> list[int]:
        """Return the numbers of the operands of some consecutive operations."""
        return self._read[self._first_operand[start] : self._first_operand[stop]]

    def last_uses_in(self, start: int, stop: int) -> list[int]:
        """Return the position of the last user of each result of some consecutive operations; -1 if there is none.

        The outputs of the graph are used after all operations.
        """
        return self._last_uses[self.first_result[start] : self.first_result[stop]]

    def operand(self, number: int) -> Operand:
        """Return the operand with a number, the first one of equal constants."""
        return self.results[number] if number >= 0 else self._known.others[~number]


class _Numbers(dict[Operand, int]):
    """The number of each operand; those of `others`, which are no results, are found out when they are read."""

    def __init__(self, results: Sequence[Value]) -> None:
        super().__init__(zip(results, itertools.count()))
        self.others: list[Operand] = []
        self._numbers: dict[Hashable, int] = {}

    def __missing__(self, operand: Operand) -> int:
        number = FIXED
        if isinstance(operand, Value) or is_given(operand):
            number = self._numbers.setdefault(identity(operand), ~len(self.others))
            if number == ~len(self.others):
                self.others.append(operand)
        self[operand] = number
        return number


def is_given(constant: Constant) -> bool:
    """Return whether a constant may be an operand of a call: large ones of floats, unless they may be uniform."""
    if constant.value.size <= value_keys.SMALL or constant.dtype.kind not in "fc":
        return False
    first = constant.value.flat[: value_keys.SMALL]
    return bool((first != first[0]).any())


def identity(operand: Operand) -> Hashable:
    """Return a key that equal values have in common."""
    return value_keys.of_constant(operand) if isinstance(operand, Constant) else operand
