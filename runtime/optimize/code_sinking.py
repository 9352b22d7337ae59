"""Code sinking: move operations into the only branch that uses their results.

    a = sin x                                       y = cond p, x
    y = cond p, a, x                                  then x
      then a, x                                         a = sin x
        b = add a, 1.0                      ==>         b = add a, 1.0
        yield b                                         yield b
      else a, x                                       else x
        yield x                                         yield x

So no operation, loop or conditional is computed in vain. An operation that may fail is not moved past a side
effect, since it would fail too late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.clone import Substitution, are_same, clone_value, reading, substitute, with_parts
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.structured import is_branch
from ..ir.value_types import TensorType
from ..ops.framework.region_ops import COND, SWITCH
from .options import OptimizerOptions
from .rewriter import visiting
from .speculation import is_speculatable

Home = tuple[Operation, int]
"""A branch: its operation, and the number of the region."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    done: dict[Graph, Graph] = {}

    def visit(graph: Graph) -> Graph:
        if graph.ops.isdisjoint((COND, SWITCH)):
            return graph
        if graph not in done:
            done[graph] = _sunk(graph, visit)
        return done[graph]

    return visit(graph)


def _sunk(graph: Graph, visit: Callable[[Graph], Graph]) -> Graph:
    homes = _Homes(graph)
    operations = []
    for operation in graph.operations:
        if operation in homes.moved:
            continue
        current = operation
        guests = homes.guests.get(operation, [])
        if any(guests):
            current = _with_guests(operation, guests)
        operations.append(visiting(visit, current) if current.regions else current)
    if are_same(operations, graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, tuple(operations), graph.outputs)


class _Homes:
    """The new positions of a graph's operations: `guests` are those that sink, by operation and region."""

    def __init__(self, graph: Graph) -> None:
        self.moved: set[Operation] = set()
        self.guests: dict[Operation, list[list[Operation]]] = {}
        self._readers: dict[Operand, Home | None] = dict.fromkeys(graph.outputs)  # None: stays outside
        self._effects = 0
        self._effects_after: dict[Operation, int] = {}
        branches = [operation for operation in graph.operations if is_branch(operation)]
        given = set().union(*[operation.inputs[1:] for operation in branches])
        if any(not given.isdisjoint(operation.outputs) for operation in graph.operations):
            for operation in reversed(graph.operations):
                self._place(operation)

    def _place(self, operation: Operation) -> None:
        home = self._home(operation)
        if home is not None:
            self.moved.add(operation)
            self.guests[home[0]][home[1]].append(operation)
            for operand in operation.inputs:
                self._read(operand, home)
            return
        self._effects_after[operation] = self._effects
        self._effects += operation.stateful
        if is_branch(operation):
            self._branches(operation)
        else:
            for operand in operation.inputs:
                self._read(operand, None)

    def _branches(self, operation: Operation) -> None:
        self.guests[operation] = [[] for _ in operation.regions]
        self._read(operation.inputs[0], None)
        used = [_read_in(region) for region in operation.regions]
        for index, operand in enumerate(operation.inputs[1:]):
            readers = [n for n, region in enumerate(operation.regions) if region.inputs[index] in used[n]]
            self._read(operand, (operation, readers[0]) if len(readers) == 1 else None)

    def _read(self, operand: Operand, home: Home | None) -> None:
        if self._readers.setdefault(operand, home) != home:
            self._readers[operand] = None

    def _home(self, operation: Operation) -> Home | None:
        """Return the only branch that reads an operation's results, if the operation may sink into it."""
        if operation.stateful:
            return None
        homes = {self._readers[value] for value in operation.outputs if value in self._readers}
        home = homes.pop() if len(homes) == 1 else None
        if home is None or not all(type(value.spec) is TensorType for value in operation.outputs):
            return None
        no_effects = self._effects - home[0].stateful == self._effects_after[home[0]]
        return home if no_effects or is_speculatable(operation) else None


def _read_in(region: Graph) -> set[Operand]:
    return set(region.outputs).union(*[operation.inputs for operation in region.operations])


def _with_guests(operation: Operation, guests: Sequence[list[Operation]]) -> Operation:
    """Return the operation with the guests at the start of its branches; `guests` are in reverse order."""
    gone = {value for each in guests for guest in each for value in guest.outputs}
    given = operation.inputs[1:]
    kept = [index for index, operand in enumerate(given) if operand not in gone]
    outer = [given[index] for index in kept]
    inner = [[region.inputs[index] for index in kept] for region in operation.regions]
    positions: dict[Operand, int] = {operand: index for index, operand in enumerate(outer)}
    for guest in (guest for each in guests for guest in each):
        for operand in guest.inputs:
            if type(operand) is Value and operand not in positions and operand not in gone:
                positions[operand] = len(outer)
                outer.append(operand)
                for inputs in inner:
                    inputs.append(clone_value(operand))
    regions = []
    for number, region in enumerate(operation.regions):
        inside: Substitution = {operand: inner[number][index] for operand, index in positions.items()}
        first = [reading(guest, inside) for guest in reversed(guests[number])]
        known: Substitution = {
            region.inputs[index]: operand for index, operand in enumerate(given) if operand in gone
        }
        rest = [reading(each, known) for each in region.operations]
        outputs = substitute(region.outputs, known)
        regions.append(Graph(region.name, tuple(inner[number]), (*first, *rest), outputs))
    return with_parts(operation, [operation.inputs[0], *outer], regions)
