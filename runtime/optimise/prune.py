"""Leave out what nobody needs: operations, results and state of loops and branches, what regions are given.

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

Operations with effects stay, and whatever decides whether they run. What is left out would not have run before
either, but for what a region computed beside what is needed of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import or_

from ..ir.copying import are_same, with_parts, with_regions
from ..ir.graph import Graph, Operand, Operation, Value
from .options import Options
from .rewrite import GIVEN


def run(graph: Graph, options: Options) -> Graph:
    return _straight(graph) if next(graph.regions(), None) is None else _pruned(graph, {})


def _straight(graph: Graph) -> Graph:
    live = graph.live_operations()
    if len(live) == len(graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, live, graph.outputs)


def _pruned(graph: Graph, done: dict[Graph, Graph]) -> Graph:
    """A graph that is not a region; `done` has the callees."""
    if graph not in done:
        needs = _Needs(graph, done)
        done[graph] = graph if needs.are_all else needs.kept(graph, graph.inputs, graph.outputs)
    return done[graph]


class _Needs:
    """What is needed of a graph and its regions: `values`, and for each structure which results and inputs of regions.

    `are_all` says that this is everything for sure; of a loop, the last look at its body tells.
    """

    def __init__(self, graph: Graph, done: dict[Graph, Graph]) -> None:
        self.done = done
        self.are_all = True
        self.values: set[Operand] = set(graph.outputs)
        self.structures: dict[Operation, tuple[Sequence[bool], Sequence[bool]]] = {}
        self._look(graph)

    def _look(self, graph: Graph) -> None:
        """Go back from what is needed of a graph's results to what that is made from."""
        values = self.values
        for operation in reversed(graph.operations):
            if not operation.stateful and values.isdisjoint(operation.outputs):
                self.are_all = False
            elif not operation.regions:
                values.update(operation.inputs)
            elif operation.type not in GIVEN:
                self.are_all = False  # of its callee, maybe
                values.update(operation.inputs)
            else:
                results, given = (self._loop if operation.type == "while" else self._branches)(operation)
                self.structures[operation] = results, given
                self.are_all = self.are_all and all(results) and all(given)

    def _branches(self, operation: Operation) -> tuple[Sequence[bool], Sequence[bool]]:
        values = self.values
        wanted = [value in values for value in operation.outputs]
        for region in operation.regions:
            values.update(compress(region.outputs, wanted))
            self._look(region)
        read = self._read(operation)
        decision, *given = operation.inputs
        values.add(decision)
        values.update(compress(given, read))
        return wanted, read

    def _loop(self, operation: Operation) -> tuple[Sequence[bool], Sequence[bool]]:
        """State is needed that is wanted behind the loop, or read by its test or by what makes needed state."""
        test, body = operation.regions
        values = self.values
        values.update(test.outputs)
        self._look(test)
        state = [
            value in values or tested in values
            for value, tested in zip(operation.outputs, test.inputs, strict=False)
        ]
        are_all = self.are_all
        while True:
            self.are_all = are_all
            values.update(compress(body.outputs, state))
            self._look(body)
            read = self._read(operation)
            before, state = state, list(map(or_, state, read))
            if state == before:
                break
        given = [*state, *read[len(state) :]]
        values.update(compress(operation.inputs, given))
        return state, given

    def _read(self, operation: Operation) -> list[bool]:
        """Which of the inputs of its regions any of them reads."""
        columns = zip(*[region.inputs for region in operation.regions], strict=True)
        return [not self.values.isdisjoint(column) for column in columns]

    def kept(self, graph: Graph, inputs: Sequence[Value], outputs: Sequence[Operand]) -> Graph:
        """What is needed of a graph, with these of its inputs and outputs."""
        values = self.values
        operations = [
            self._part(operation) if operation.regions else operation
            for operation in graph.operations
            if operation.stateful or not values.isdisjoint(operation.outputs)
        ]
        same = (
            len(inputs) == len(graph.inputs)
            and len(outputs) == len(graph.outputs)
            and are_same(operations, graph.operations)
        )
        return graph if same else Graph(graph.name, tuple(inputs), tuple(operations), tuple(outputs))

    def _part(self, operation: Operation) -> Operation:
        """What is needed of an operation with regions."""
        if operation.type not in GIVEN:
            return with_regions(operation, [_pruned(callee, self.done) for callee in operation.regions])
        results, given = self.structures[operation]
        regions = []
        for region in operation.regions:
            is_test = operation.type == "while" and region is operation.regions[0]
            outputs = region.outputs if is_test else list(compress(region.outputs, results))
            regions.append(self.kept(region, list(compress(region.inputs, given)), outputs))
        if are_same(regions, operation.regions):
            return operation
        first = GIVEN[operation.type]
        return with_parts(
            operation,
            [*operation.inputs[:first], *compress(operation.inputs[first:], given)],
            regions,
            list(compress(operation.outputs, results)),
        )
