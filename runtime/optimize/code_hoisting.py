"""Code hoisting: compute before a conditional what all its branches compute.

    y = cond p, x, n                                a = sin x
      then x, n                                     y = cond p, x, n, a
        a = sin x                                     then x, n, a
        b = add a, 1.0                      ==>         b = add a, 1.0
        yield b                                         yield b
      else x, n                                       else x, n, a
        c = sin x                                       d = multiply a, 2.0
        d = multiply c, 2.0                             yield d
        yield d

One branch runs, so this is never more work. It is less work if other code needs the same value, or if the
value is invariant in a loop around the conditional. Only operations that cannot fail are hoisted. The
predicate and earlier operations of a branch may fail before them.
"""

from __future__ import annotations

from collections.abc import Container

from ..ir.clone import Substitution, clone_value, reading, substitute, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.structured import region_arguments
from ..ops.framework.region_ops import COND, SWITCH
from .options import OptimizerOptions
from .rewriter import Rewriter, rewrite_all
from .speculation import is_speculatable
from .value_numbering import ValueNumbering


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, {COND: _lifted, SWITCH: _lifted})


def _lifted(operation: Operation, walk: Rewriter) -> None:
    if not set.intersection(*({each.op for each in region.operations} for region in operation.regions)):
        return
    numbering = ValueNumbering()
    branches = [_Branch(region, region_arguments(operation), numbering) for region in operation.regions]
    shared = set.intersection(*(set(branch.made) for branch in branches))
    if not shared:
        return
    values = branches[0].written(shared, walk)
    read = set.union(*(branch.read(shared) for branch in branches))
    passed = {number: value for number, value in values.items() if number in read}
    regions = [branch.without(shared, passed) for branch in branches]
    walk.current = with_parts(operation, [*operation.inputs, *passed.values()], regions)


class _Branch:
    """One region: `made` has its hoistable operations by value number."""

    def __init__(self, region: Graph, given: tuple[Operand, ...], numbering: ValueNumbering) -> None:
        self.region = region
        self.known: Substitution = dict(zip(region.inputs, given, strict=True))
        self.made: dict[int, Operation] = {}
        self.numbers: dict[Operand, int] = {
            inner: numbering.operand(outer) for inner, outer in self.known.items()
        }
        for operation in region.operations:
            if _may_move(operation, self.numbers):
                operands = [
                    numbering.operand(x) if type(x) is Constant else self.numbers[x] for x in operation.inputs
                ]
                (number,) = numbering.results(operation, operands)
                number = numbering.of((number, operation.outputs[0].spec))
                self.numbers[operation.outputs[0]] = number
                self.made.setdefault(number, operation)

    def written(self, shared: set[int], walk: Rewriter) -> dict[int, Value]:
        """Emit the shared operations before the conditional, and return their results by value number."""
        values: dict[int, Value] = {}
        for number, operation in self.made.items():
            if number in shared:
                inputs = [values.get(self.numbers.get(x, -1), self.known.get(x, x)) for x in operation.inputs]
                made = with_parts(operation, inputs, outputs=[clone_value(operation.outputs[0])])
                walk.operations.append(made)
                (values[number],) = made.outputs
        return values

    def kept(self, shared: set[int]) -> list[Operation]:
        """Return the operations that remain in the region."""
        numbers = self.numbers
        return [
            operation
            for operation in self.region.operations
            if not any(value in numbers and numbers[value] in shared for value in operation.outputs)
        ]

    def read(self, shared: set[int]) -> set[int]:
        """Return the value numbers that the region reads after the shared operations are hoisted."""
        kept = self.kept(shared)
        operands = [*self.region.outputs, *(operand for operation in kept for operand in operation.inputs)]
        return {self.numbers[operand] for operand in operands if operand in self.numbers}

    def without(self, shared: set[int], passed: dict[int, Value]) -> Graph:
        """Return the region without the shared operations; their results become inputs."""
        inner = {number: clone_value(value) for number, value in passed.items()}
        known: Substitution = {
            value: inner[number] for value, number in self.numbers.items() if number in inner
        }
        region = self.region
        operations = tuple([reading(operation, known) for operation in self.kept(shared)])
        inputs = (*region.inputs, *inner.values())
        return Graph(region.name, inputs, operations, substitute(region.outputs, known))


def _may_move(operation: Operation, known: Container[Operand]) -> bool:
    """Return whether an operation can be hoisted to a point where the values `known` are available."""
    if len(operation.outputs) != 1 or not all(type(x) is Constant or x in known for x in operation.inputs):
        return False
    return is_speculatable(operation)
