"""Rebuilding graphs: what all passes are written with.

    y = identity x                      rewrite(graph, {"identity": lambda operation, walk: operation.inputs})
    z = add y, 1            ==>         z = add x, 1

Graphs are not changed: a pass makes new ones, and shares with the old one every operation that stays as it is.
What an operation is replaced by keeps its origin, so a failure still names the user's line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from ..ir.clone import Substitution, reading, substitute, with_regions
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.value_types import TensorType
from ..ops.framework.op_errors import OF_COMPUTING

if TYPE_CHECKING:
    from ..ops.framework.op import Op

BRANCHES = ("cond", "switch")

GIVEN = {"cond": 1, "switch": 1, "while": 0}
"""Where the operands begin that the regions of these operations are given, one to one."""


def fits(new: Operand, old: Value) -> bool:
    """Whether `new` may stand for `old` wherever that is read: as much is known of it."""
    return old.spec == new.spec or old.spec.covers(new.spec)


Found = Sequence[Operand] | None
Rule = Callable[[Operation, "Rewriter"], Found]
"""What stands for the results of an operation, whose operands are up to date; None where it stays."""


class _RefusedError(Exception):
    """The rule of an operation refuses what a pass would make of the program."""


class Rewriter:
    """One way through a graph, in the order of its operations.

    Attributes: `known`, the substitution so far; `operations`, those of the new graph; `current`, the operation
    that a rule looks at, which the rule may exchange for another one with the same results.
    """

    current: Operation

    def __init__(self, graph: Graph, known: Substitution | None = None) -> None:
        self.graph = graph
        self.known: Substitution = {} if known is None else known
        self.operations: list[Operation] = []
        self._made: dict[Operand, Operation] = {}
        self._seen = 0
        self.is_changed = False

    def makers(self) -> dict[Operand, Operation]:
        """For each value that an operation of the new graph gives, that operation."""
        made = self._made
        for operation in self.operations[self._seen :]:
            for value in operation.outputs:
                made[value] = operation
        self._seen = len(self.operations)
        return made

    def maker(self, operand: Operand) -> Operation | None:
        """The operation of the new graph that gives `operand`; None for inputs and constants."""
        return self.makers().get(operand)

    def run(self, rules: Mapping[str, Rule], visit: Callable[[Graph], Graph]) -> Graph:
        """The graph after the rules, by type of operation, its regions and callees being what `visit` makes of them."""
        known, kept = self.known, self.operations
        for operation in self.graph.operations:
            current = operation
            if known and not known.keys().isdisjoint(operation.inputs):
                current = reading(operation, known)
            if operation.regions:
                current = visiting(visit, current)
            rule = rules.get(current.type)
            if rule is not None:
                found = self._found(rule, current)
                if found is not None:
                    self.replace(operation.outputs, found)
                    continue
                current = self.current
            kept.append(current)
            if current is not operation:
                self.is_changed = True
        return self.finish()

    def _found(self, rule: Rule, operation: Operation) -> Found:
        """What a rule says; nothing, if it wants an operation that is refused."""
        self.current = operation
        count, was_changed = len(self.operations), self.is_changed
        try:
            return rule(operation, self)
        except _RefusedError:
            del self.operations[count:]
            self._seen = min(self._seen, count)
            self.current, self.is_changed = operation, was_changed
            return None

    def replace(self, values: Sequence[Value], found: Sequence[Operand]) -> None:
        """Let `found` stand for `values` from now on."""
        self.is_changed = True
        for value, operand in zip(values, found, strict=True):
            if operand is not value:
                self.known[value] = operand

    def finish(self) -> Graph:
        """The new graph; the old one, if nothing has changed."""
        graph = self.graph
        if not self.known and not self.is_changed:
            return graph
        outputs = substitute(graph.outputs, self.known)
        if not self.is_changed and outputs == tuple(graph.outputs):
            return graph
        return Graph(graph.name, graph.inputs, tuple(self.operations), outputs)

    def add(
        self,
        op: Op,
        inputs: Sequence[Operand],
        attrs: Mapping[str, Any] | None = None,
    ) -> Value:
        """A new operation with one result, in the place and of the origin of the one that is being looked at.

        Where more is known of shapes than when the program was traced, its rule may refuse what the program would
        fail on there, if it ran.
        """
        origin = self.current
        given = op._usual_attributes if attrs is None else attrs
        try:
            spec: TensorType = op.infer(list(inputs), given)
        except (errors.OpError, *OF_COMPUTING) as error:
            raise _RefusedError from error
        value = Value(origin.outputs[0].name, spec)
        if op.known is not None:
            value.elements = op.known(*op.grouped(list(inputs)), **given)
        self.operations.append(
            Operation(op, tuple(inputs), given, (value,), (), origin.origin, origin.device)
        )
        self.is_changed = True
        return value


def visiting(visit: Callable[[Graph], Graph], operation: Operation) -> Operation:
    """The operation, whose regions are what `visit` makes of them."""
    return with_regions(operation, list(map(visit, operation.regions)))


def rewrite_all(graph: Graph, rules: Mapping[str, Rule]) -> Graph:
    """The graph after the rules, which go for its regions and callees too."""
    done: dict[Graph, Graph] = {}

    def visit(graph: Graph) -> Graph:
        if rules.keys().isdisjoint(graph.types):
            return graph
        if graph not in done:
            done[graph] = Rewriter(graph).run(rules, visit)
        return done[graph]

    return visit(graph)
