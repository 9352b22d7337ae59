"""Random graphs in which much is said twice: the same operations, branches, loops and state.

Each operation without effects may stand there once more, each loop may carry its state twice, and the last of several
branches may be the first again; what read a value reads the one or the other from then on.
"""

from __future__ import annotations

from collections.abc import Sequence

from agc.runtime.ir.clone import clone_value, copied, renewed, with_parts
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation
from hypothesis import strategies as st
from support.random_graphs import graphs


@st.composite
def doubled_graphs(draw: st.DrawFn, depth: int = 2) -> Graph:
    """A random graph, and then all that twice."""
    return _Doubler(draw).graph(draw(graphs(depth, draw(st.booleans()))))


class _Doubler:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.done: dict[Graph, Graph] = {}

    def graph(self, graph: Graph) -> Graph:
        twins: dict[Operand, Operand] = {}
        operations: list[Operation] = []
        for operation in graph.operations:
            inside = with_parts(operation, regions=list(map(self.region, self.regions(operation))))
            if operation.op.name == "while":
                inside = self.with_more_state(inside, twins)
            current = with_parts(inside, [self.either(x, twins) for x in inside.inputs])
            operations.append(current)
            if not operation.stateful and self.draw(st.booleans()):
                made: dict[Operand, Operand] = {}
                again = renewed(current, made)
                inputs = [self.either(x, twins) for x in inside.inputs]
                place = self.draw(st.integers(len(operations) - 1, len(operations)))
                operations.insert(place, with_parts(again, inputs))
                twins.update(made)
        outputs = tuple([self.either(x, twins) for x in graph.outputs])
        return Graph(graph.name, graph.inputs, tuple(operations), outputs)

    def regions(self, operation: Operation) -> Sequence[Graph]:
        if operation.op.name not in ("cond", "switch") or self.draw(st.booleans()):
            return operation.regions
        first, *others = operation.regions
        return [first, *others[:-1], *(copied(first) for _ in others[-1:])]

    def region(self, graph: Graph) -> Graph:
        if graph not in self.done:
            self.done[graph] = self.graph(graph)
        return self.done[graph]

    def either(self, operand: Operand, twins: dict[Operand, Operand]) -> Operand:
        other = twins.get(operand, operand)
        return operand if type(operand) is Constant or self.draw(st.booleans()) else other

    def with_more_state(self, loop: Operation, twins: dict[Operand, Operand]) -> Operation:
        """Return a loop that carries its whole state a second time, after the first."""
        if not self.draw(st.booleans()):
            return loop
        count = len(loop.outputs)
        outputs = list(map(clone_value, loop.outputs))
        twins.update(zip(loop.outputs, outputs, strict=True))
        regions = []
        for region in loop.regions:
            state, given = region.inputs[:count], region.inputs[count:]
            more = list(map(clone_value, state))
            inner: dict[Operand, Operand] = dict(zip(state, more, strict=True))
            operations = [
                with_parts(each, [self.either(x, inner) for x in each.inputs]) for each in region.operations
            ]
            results = list(region.outputs)
            if region is loop.regions[1]:
                results += region.outputs
            results = [self.either(x, inner) for x in results]
            regions.append(Graph(region.name, (*state, *more, *given), tuple(operations), tuple(results)))
        inputs = [*loop.inputs[:count], *loop.inputs]
        return with_parts(loop, inputs, regions, [*loop.outputs, *outputs])
