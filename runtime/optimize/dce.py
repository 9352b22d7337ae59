"""DCE: remove unused operations, unused results and state of conditionals and loops, and unused inputs of
regions.

    a, b = while x, 0, y, z                         a = while x, y
      test n, k, y, z                                 test n, y
        go = less n, y                                  go = less n, y
        yield go                                        yield go
      body n, k, y, z                       ==>       body n, y
        n.1 = multiply n, 2                             n.1 = multiply n, 2
        k.1 = add k, 1                                  yield n.1
        yield n.1, k.1
    c = add x, 1
    return a                                        return a

Operations with side effects are live, and so are the predicates that control them. The errors of removed
operations are lost with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from ..ir.clone import are_same, with_parts
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.structured import first_argument, is_control_flow, is_loop
from .options import OptimizerOptions


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    if next(graph.regions(), None) is None:
        return _straight(graph)
    return graph if _is_all_read(graph, _read_in(graph, set())) else _pruned(graph, {})


def _read_in(graph: Graph, found: set[Operand]) -> set[Operand]:
    """Return the values that are used in a graph and its regions, yields included."""
    found.update(graph.outputs)
    for operation in graph.operations:
        found.update(operation.inputs)
        for region in operation.regions:
            _read_in(region, found)
    return found


def _is_all_read(graph: Graph, read: set[Operand]) -> bool:
    """Return whether every operation, result of a structure and input of a region is used: all is live then.

    The last operation's results are outputs, so its operands are live, and so on backwards.
    """
    for operation in graph.operations:
        if not operation.stateful and read.isdisjoint(operation.outputs):
            return False
        if operation.regions and not (is_control_flow(operation) and _is_structure_read(operation, read)):
            return False
    return True


def _is_structure_read(operation: Operation, read: set[Operand]) -> bool:
    inputs = [region.inputs for region in operation.regions]
    # A test may use state that is dead after the loop; a use in the body alone keeps nothing alive.
    test = inputs[:1] if is_loop(operation) else ()
    values = chain(zip(operation.outputs, *test, strict=False), zip(*inputs, strict=True))
    if any(map(read.isdisjoint, values)):
        return False
    return all(_is_all_read(region, read) for region in operation.regions)


def _straight(graph: Graph) -> Graph:
    live = graph.live_operations()
    if len(live) == len(graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, live, graph.outputs)


def _pruned(graph: Graph, done: dict[Graph, Graph]) -> Graph:
    """Return the pruned graph of the main function or a callee; `done` has the results so far."""
    if graph not in done:
        needs = _Needs(graph, done)
        done[graph] = needs.kept(graph)
    return done[graph]


class _Needs:
    """The live values and operations of a graph and its regions."""

    def __init__(self, graph: Graph, done: dict[Graph, Graph]) -> None:
        self.done = done
        self.values: set[Operand] = set(graph.outputs)
        self.operations: set[Operation] = set()
        self._made: dict[Operand, tuple[Operation, int]] = {}
        self._given: dict[Operand, tuple[Operation, int]] = {}  # inputs of regions
        self._pending: list[Operand] = list(self.values)
        self._collect(graph)
        self._spread()

    def _collect(self, graph: Graph) -> None:
        for operation in graph.operations:
            for number, value in enumerate(operation.outputs):
                self._made[value] = operation, number
            if is_control_flow(operation):
                for region in operation.regions:
                    for number, value in enumerate(region.inputs):
                        self._given[value] = operation, number
                    self._collect(region)
            if operation.stateful:
                self._keep(operation)

    def _want(self, operands: Iterable[Operand]) -> None:
        new = [operand for operand in operands if operand not in self.values]
        self.values.update(new)
        self._pending += new

    def _spread(self) -> None:
        pending, kept = self._pending, self.operations
        while pending:
            value = pending.pop()
            if value in self._made:
                operation, number = self._made[value]
                if operation not in kept:
                    self._keep(operation)
                if operation.regions and is_control_flow(operation):
                    self._want_result(operation, number)
            elif value in self._given:
                self._want_given(*self._given[value])

    def _keep(self, operation: Operation) -> None:
        self.operations.add(operation)
        if is_loop(operation):
            self._want(operation.regions[0].outputs)
        elif is_control_flow(operation):
            self._want(operation.inputs[:1])
        else:
            self._want(operation.inputs)

    def _want_result(self, operation: Operation, number: int) -> None:
        if is_loop(operation):
            self._want_state(operation, number)
        else:
            self._want([region.outputs[number] for region in operation.regions])

    def _want_state(self, operation: Operation, number: int) -> None:
        self._want([operation.inputs[number], operation.regions[1].outputs[number]])

    def _want_given(self, operation: Operation, number: int) -> None:
        if is_loop(operation) and number < len(operation.outputs):
            self._want_state(operation, number)
        else:
            self._want([operation.inputs[number + first_argument(operation)]])

    def kept(
        self, graph: Graph, inputs: Sequence[Value] | None = None, outputs: Sequence[Operand] | None = None
    ) -> Graph:
        """Return the live part of a graph; `inputs` and `outputs` are the live ones of a region."""
        operations = [self._part(operation) for operation in graph.operations if operation in self.operations]
        inputs = graph.inputs if inputs is None else inputs
        outputs = graph.outputs if outputs is None else outputs
        same = (
            len(inputs) == len(graph.inputs)
            and len(outputs) == len(graph.outputs)
            and are_same(operations, graph.operations)
        )
        return graph if same else Graph(graph.name, tuple(inputs), tuple(operations), tuple(outputs))

    def _part(self, operation: Operation) -> Operation:
        """Return a live operation without its dead parts."""
        if not operation.regions:
            return operation
        if not is_control_flow(operation):
            regions = [_pruned(region, self.done) for region in operation.regions]
            same = are_same(regions, operation.regions)
            return operation if same else with_parts(operation, regions=regions)
        return self._structure(operation)

    def _structure(self, operation: Operation) -> Operation:
        first = first_argument(operation)
        given = range(len(operation.inputs) - first)
        columns = zip(*(region.inputs for region in operation.regions), strict=True)
        read = [not self.values.isdisjoint(column) for column in columns]
        wanted = [value in self.values for value in operation.outputs]
        if is_loop(operation):
            state = [w or r for w, r in zip(wanted, read, strict=False)]
            wanted, read = state, [*state, *read[len(state) :]]
        results = [k for k, needed in enumerate(wanted) if needed]
        regions = []
        for region in operation.regions:
            is_test = is_loop(operation) and region is operation.regions[0]
            outputs = region.outputs if is_test else [region.outputs[k] for k in results]
            inputs = [value for value, needed in zip(region.inputs, read, strict=True) if needed]
            regions.append(self.kept(region, inputs, outputs))
        if are_same(regions, operation.regions) and len(results) == len(operation.outputs):
            return operation
        arguments = [operation.inputs[first + j] for j in given if read[j]]
        return with_parts(
            operation,
            [*operation.inputs[:first], *arguments],
            regions,
            [operation.outputs[k] for k in results],
        )
