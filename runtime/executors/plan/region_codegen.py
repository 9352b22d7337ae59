"""Emit regions as nested blocks of generated source.

Inputs of a region keep the names of their operands. A yielded value is stored directly under the name of the
result if nothing reads that name any more:

    m = cond odd, n                     if odd:
      then n                                m = n + int32_1
        t = add n, 1            ==>     else:
        yield t                             m = n
      else n
        yield n

A test that is one expression becomes the condition of the `while` statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.op_def import OpDef
from ...ops.framework.region_ops import CALL, COND, SWITCH
from .buffer_donation import BufferOwnership, body_of
from .codegen_limits import DEEPEST, is_inlined
from .escaping import literal
from .liveness import in_place, may_be_big
from .source_module import Location, PlanSource, Scope
from .source_writer import Lines, tuple_of


class Regions(Lines):
    """The code generator for operations that have regions."""

    def __init__(self, module: PlanSource, graph: Graph) -> None:
        super().__init__(module, graph)
        self.owning = BufferOwnership(graph, (), module)

    def operations(
        self,
        graph: Graph,
        scope: Scope,
        depth: int,
        wanted: Scope,
        owning: BufferOwnership | None = None,
        is_test: bool = False,
    ) -> None:
        """Emit the operations of a graph; see `PlanCodegen`."""
        raise NotImplementedError

    def _cond(self, operation: Operation, scope: Scope, targets: list[str], depth: int) -> None:
        then, orelse = operation.regions
        decision, *inputs = operation.inputs
        text = bare(self.either(decision, scope))
        self.line(depth, f"if {text}:", (operation, scope))
        self._branch(operation, then, inputs, scope, targets, depth + 1)
        if targets or orelse.stateful:
            self.line(depth, "else:")
            self._branch(operation, orelse, inputs, scope, targets, depth + 1)

    def _switch(self, operation: Operation, scope: Scope, targets: list[str], depth: int) -> None:
        index, *inputs = operation.inputs
        text = self.either(index, scope)
        self.line(depth, f"match int({text}):", (operation, scope))
        for number, region in enumerate(operation.regions):
            last = number == len(operation.regions) - 1
            self.line(depth + 1, f"case {'_' if last else number}:")
            self._branch(operation, region, inputs, scope, targets, depth + 2)

    def _call(self, operation: Operation, scope: Scope, targets: list[str], depth: int) -> None:
        (callee,) = operation.regions
        self._branch(operation, callee, operation.inputs, scope, targets, depth, is_inlined(callee), empty="")

    def _branch(
        self,
        operation: Operation,
        region: Graph,
        operands: Sequence[Operand],
        outside: Scope,
        targets: list[str],
        depth: int,
        inline: bool = True,
        empty: str = "pass",
    ) -> None:
        """Emit a region with results stored in `targets`, names that nothing reads before."""
        start = len(self.module.lines)
        if not inline or depth > DEEPEST:
            inputs = [self.text(operand, outside) for operand in operands]
            call = f"{self.module.function(region)}({', '.join(inputs)})"
            self.line(depth, f"{tuple_of(targets)} = {call}" if targets else call)
            return
        scope = self._entered(region.inputs, operands, outside, depth)
        made = {value for operation in region.operations for value in operation.outputs}
        wanted: Scope = {}
        for output, value, target in zip(region.outputs, operation.outputs, targets, strict=True):
            if output in made and (output in self.numbers) == (value in self.numbers):
                wanted.setdefault(output, target)
        self.operations(region, scope, depth, wanted)
        self._assign(targets, self._results(region, operation.outputs, scope), depth)
        if len(self.module.lines) == start and empty:
            self.line(depth, empty)

    def _entered(
        self, inputs: Sequence[Value], operands: Sequence[Operand], outside: Scope, depth: int
    ) -> Scope:
        """Return the names of a region's inputs: the names of the operands if no conversion is needed."""
        scope = {}
        for value, operand in zip(inputs, operands, strict=True):
            text = scope[value] = self.like(value, operand, outside)
            if isinstance(operand, Value) and text != outside[operand]:
                scope[value] = self.fresh(value)
                self.line(depth, f"{scope[value]} = {text}")
        return scope

    def _results(self, region: Graph, values: Sequence[Value], scope: Scope) -> list[str]:
        """Return the source of a region's results, converted to the representation of `values`."""
        return [self.like(value, made, scope) for value, made in zip(values, region.outputs, strict=True)]

    def _assign(self, targets: Sequence[str], results: Sequence[str], depth: int) -> None:
        """Emit a parallel assignment of the results that are not stored in their targets yet."""
        pairs = [pair for pair in zip(targets, results, strict=True) if pair[0] != pair[1]]
        if pairs:
            self.line(depth, f"{', '.join(t for t, _ in pairs)} = {', '.join(r for _, r in pairs)}")

    def _dead_state(self, operation: Operation, dead: list[Value], scope: Scope) -> list[str]:
        """Return the names of initial values that nothing reads once the loop has its own names for them."""
        count = len(operation.outputs)
        invariants = set(operation.inputs[count:])
        initial = set(operation.inputs[:count])
        return [scope[value] for value in dead if value in initial and value not in invariants]

    def while_loop(
        self, operation: Operation, outside: Scope, targets: list[str], depth: int, early: list[str]
    ) -> None:
        test, body = operation.regions
        inputs = operation.inputs[: len(targets)]
        start = [
            self.like(value, operand, outside)
            for value, operand in zip(operation.outputs, inputs, strict=True)
        ]
        self._assign(targets, start, depth)
        self.delete(early, depth)
        state = [*targets, *self._invariants(operation, outside, depth)]
        inside = self._prepare(operation, targets, depth)
        limit = operation.attrs.get("maximum_iterations")
        self.line(depth, "while True:" if limit is None else f"for _ in range({literal(limit)}):")
        head = len(self.module.lines)
        self._test(operation, test, state, depth + 1)
        results = self._body(operation, body, state, depth + 1, inside)
        self._assign(targets, results, depth + 1)
        spent = [
            name
            for value, name in zip(body.outputs, results, strict=True)
            if isinstance(value, Value) and name not in state and may_be_big(value)
        ]
        self.delete(list(dict.fromkeys(spent)), depth + 1)
        if len(self.module.lines) == head:
            self.line(depth + 1, "pass")

    def _invariants(self, loop: Operation, outside: Scope, depth: int) -> list[str]:
        """Return the source of the loop's invariant operands, as the loop takes them."""
        count = len(loop.outputs)
        operands = loop.inputs[count:]
        if depth + 1 > DEEPEST:
            return [self.text(operand, outside) for operand in operands]
        inside = self._entered(loop.regions[1].inputs[count:], operands, outside, depth)
        return list(inside.values())

    def _test(self, loop: Operation, test: Graph, state: list[str], depth: int) -> None:
        """Emit the test of a loop: in the `while` statement if it is one expression."""
        lines = self.module.lines
        before = len(lines)
        (result,) = test.outputs
        (go,) = self._region(test, state, depth, {}, None, is_test=True)
        if isinstance(result, Constant) and result.value.all():
            return
        location: Location = loop, {}
        if len(lines) == before and lines[-1].endswith("while True:"):
            lines[-1] = lines[-1].replace("True:", f"{bare(go)}:")
            self.module.locations[before] = location
        else:
            self.line(depth, f"if not {go}:", location)
            self.line(depth + 1, "break")

    def _body(
        self, loop: Operation, body: Graph, state: list[str], depth: int, owning: BufferOwnership | None
    ) -> list[str]:
        """Emit the body of a loop; return its results as source, in the representation of the state."""
        if depth > DEEPEST:
            return self._region(body, state, depth, {}, owning)
        kinds = [value in self.numbers for value in loop.outputs]
        wanted = {
            value: name
            for value, name in in_place(body, state[: len(kinds)]).items()
            if (value in self.numbers) == kinds[body.outputs.index(value)]
        }
        scope = dict(zip(body.inputs, state, strict=True))
        self.operations(body, scope, depth, wanted, owning)
        return self._results(body, loop.outputs, scope)

    def _prepare(self, operation: Operation, targets: list[str], depth: int) -> BufferOwnership | None:
        """Emit copies of the initial state that a loop may not change, and return the ownership in its body."""
        owned = self.owning.states.get(operation, frozenset())
        for number in sorted(owned):
            if not self.owning.dies(operation.inputs[number], operation):
                self.line(depth, f"{targets[number]} = {targets[number]}.copy()")
        if depth + 1 > DEEPEST:
            return None
        return body_of(operation, owned, self.module)

    def _region(
        self,
        region: Graph,
        inputs: list[str],
        depth: int,
        wanted: Scope,
        owning: BufferOwnership | None = None,
        is_test: bool = False,
    ) -> list[str]:
        """Emit a region, and return its results as source."""
        if depth <= DEEPEST:
            scope = dict(zip(region.inputs, inputs, strict=True))
            self.operations(region, scope, depth, wanted, owning, is_test)
            return [self.either(operand, scope) for operand in region.outputs]
        results = [self.names.unique(f"{region.name}_result") for _ in region.outputs]
        call = f"{self.module.function(region)}({', '.join(inputs)})"
        self.line(depth, f"{tuple_of(results)} = {call}" if results else call)
        return results


STRUCTURES: dict[OpDef, Callable[[Regions, Operation, Scope, list[str], int], None]] = {
    COND: Regions._cond,
    SWITCH: Regions._switch,
    CALL: Regions._call,
}


def bare(text: str) -> str:
    """Return an expression without the parentheses around it."""
    return text[1:-1] if text.startswith("(") else text
