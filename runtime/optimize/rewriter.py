"""The rewriter: the framework of all passes.

    y = identity x                      rewrite_all(graph, {identity: lambda operation, walk: operation.inputs})
    z = add y, 1            ==>         z = add x, 1

Graphs are immutable: a pass makes a new graph, and shares unchanged operations with the old one. Replacements
keep the origin of the operation, so that a failure still names the line of user code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.clone import Substitution, reading, substitute, with_regions
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ops.framework.op_errors import FAILURES


def fits(new: Operand, old: Value) -> bool:
    """Return whether `new` may replace `old` at all its uses: its type is at least as precise."""
    return old.spec == new.spec or old.spec.covers(new.spec)


Found = Sequence[Operand] | None
Rule = Callable[[Operation, "Rewriter"], Found]
"""A rewrite rule: return replacements for the results of an operation; None to keep it.

The operands of the operation are up to date.
"""


class _RefusedError(Exception):
    """Type inference rejects an operation that a pass adds."""


class Rewriter:
    """One walk over a graph, in the order of its operations.

    Attributes:
        known: The substitution so far.
        operations: The operations of the new graph.
        current: The operation that a rule is applied to. The rule may set another one with the same results.
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
        """Return the defining operation of each value in the new graph."""
        made = self._made
        for operation in self.operations[self._seen :]:
            for value in operation.outputs:
                made[value] = operation
        self._seen = len(self.operations)
        return made

    def maker(self, operand: Operand) -> Operation | None:
        """Return the operation of the new graph that defines `operand`; None for inputs and constants."""
        return self.makers().get(operand)

    def run(self, rules: Mapping[OpDef, Rule], visit: Callable[[Graph], Graph]) -> Graph:
        """Return the graph after applying `rules`, by operation; `visit` rewrites the regions."""
        known, kept = self.known, self.operations
        for operation in self.graph.operations:
            current = reading(operation, known) if known else operation
            if operation.regions:
                current = visiting(visit, current)
            rule = rules.get(current.op)
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
        """Apply a rule; undo its changes if type inference rejects its replacement."""
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
        """Replace the uses of `values` by `found` from now on."""
        self.is_changed = True
        for value, operand in zip(values, found, strict=True):
            if operand is not value:
                self.known[value] = operand

    def finish(self) -> Graph:
        """Return the new graph; the old one if nothing has changed."""
        graph = self.graph
        if not self.known and not self.is_changed:
            return graph
        outputs = substitute(graph.outputs, self.known)
        if not self.is_changed and outputs == tuple(graph.outputs):
            return graph
        return Graph(graph.name, graph.inputs, tuple(self.operations), outputs)

    def add(self, op: OpDef, inputs: Sequence[Operand], attrs: Mapping[str, Any] | None = None) -> Value:
        """Emit an operation with one result and the origin of the current operation.

        Type inference may reject it if shapes are better known than in the trace: the program would fail
        there if it ran.
        """
        (value,) = self.add_all(op, inputs, attrs)
        return value

    def add_all(
        self, op: OpDef, inputs: Sequence[Operand], attrs: Mapping[str, Any] | None = None
    ) -> tuple[Value, ...]:
        """Emit an operation as `add` does, and return all its results."""
        origin = self.current
        given = op.attribute_defaults if attrs is None else attrs
        try:
            specs = op.infer_all(list(inputs), given)
        except FAILURES as error:
            raise _RefusedError from error
        names = [value.name for value in origin.outputs]
        values = tuple(Value(names[min(i, len(names) - 1)], spec) for i, spec in enumerate(specs))
        op.set_elements(values, list(inputs), given)
        self.operations.append(Operation(op, tuple(inputs), given, values, (), origin.origin, origin.device))
        self.is_changed = True
        return values


def visiting(visit: Callable[[Graph], Graph], operation: Operation) -> Operation:
    """Return the operation with its regions replaced by the results of `visit`."""
    return with_regions(operation, list(map(visit, operation.regions)))


def rewrite_all(graph: Graph, rules: Mapping[OpDef, Rule]) -> Graph:
    """Return the graph after applying the rules to it, its regions and its callees."""
    done: dict[Graph, Graph] = {}

    def visit(graph: Graph) -> Graph:
        if rules.keys().isdisjoint(graph.ops):
            return graph
        if graph not in done:
            done[graph] = Rewriter(graph).run(rules, visit)
        return done[graph]

    return visit(graph)
