"""Outline repeated parts: sequences of operations that are equal but for their operands become calls of one function.

    a = matmul x, u                               b = call @repeated x, u, v
    b = matmul a, v
    c = matmul b, w                   ==>         d = call @repeated b, w, z
    d = matmul c, z
                                                  graph repeated(x, u, v)
                                                    a = matmul x, u
                                                    b = matmul a, v
                                                    return b

Native code lowers and compiles the function once. Layers of a network and steps of an unrolled loop are such parts. A
part consists of some periods that follow one another in the graph, so that its call can replace it.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ir import value_keys
from ..ir.clone import Substitution, clone_value, renewed, substitute
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.operation_kinds import kinds_of
from ..ir.traits import UPDATE
from ..ir.value_types import TensorType
from ..ops.framework.fusion_traits import works_on_elements
from ..ops.framework.region_ops import CALL
from .operand_numbers import FIXED, OperandNumbers, identity, is_given

WORTH = 256
"""The number of operations that calls must save from being lowered again."""

_SHORTEST = 16
"""The number of operations that a part has at least, since a call takes some nanoseconds."""

_FUSED = 256
"""The number of operations that a part of elementwise operations has at least, since it becomes few loop nests."""

_TRIED = 8
"""The number of periods that are tried."""

_CALLS = 8
"""The number of calls whose lowering takes about as long as that of an operation. Long functions have few calls."""

_MOST = 48
"""The number of operands and results of a call up to which a part has several periods."""

_SAMPLE = 16
"""The number of periods that decide where a part begins."""


class _Sequence(NamedTuple):
    """A periodic sequence in the symbols of all operations: from one position to another, and the period."""

    symbols: np.ndarray[Any, Any]
    start: int
    stop: int
    period: int


class _Part(NamedTuple):
    """Consecutive operations, from one position to another, and the values from outside in the order of their uses."""

    start: int
    stop: int
    given: tuple[Operand, ...]


def run(graph: Graph) -> Graph:
    """Return the graph with its repeated parts as calls."""
    live = graph.live_operations()
    if len(live) < len(graph.operations):
        graph = Graph(graph.name, graph.inputs, live, graph.outputs)
    sequences = [*_sequences(_symbols(graph))] if len(live) > WORTH else []
    calls = _Outliner(graph, live).calls(sequences) if sequences else {}
    if not calls:
        return graph
    operations: list[Operation] = []
    position = 0
    for start, (stop, call) in sorted(calls.items()):
        operations += [*live[position:start], call]
        position = stop
    return Graph(graph.name, graph.inputs, (*operations, *live[position:]), graph.outputs)


class _Outliner:
    """The repeated parts of one graph."""

    def __init__(self, graph: Graph, live: Sequence[Operation]) -> None:
        self._live = live
        self._numbers = OperandNumbers(live, graph.outputs)

    def calls(self, sequences: Sequence[_Sequence]) -> dict[int, tuple[int, Operation]]:
        """Return the calls, each with the position after its part, by the position of its first operation."""
        groups: dict[Hashable, list[_Part]] = defaultdict(list)
        for each in sequences:
            for part, key in self._parts(each):
                groups[key].append(part)
        found: dict[int, tuple[int, Operation]] = {}
        for parts in groups.values():
            if sum(part.stop - part.start for part in parts[1:]) >= WORTH:
                found.update(self._outlined(parts))
        return found

    def _parts(self, sequence: _Sequence) -> Iterator[tuple[_Part, Hashable]]:
        """Yield the parts of a sequence; parts with equal keys can be calls of one function.

        The last period is in no part: the operations after it may run in one loop nest with its own.
        """
        symbols, start, stop, period = sequence
        stop -= period
        first = start + self._phase(start, min(stop, start + _SAMPLE * period), period)
        is_fused = all(map(works_on_elements, self._live[start : start + period]))
        shortest = _FUSED if is_fused else _SHORTEST
        count = max(math.isqrt((stop - first) // (period * period * _CALLS)), -(-shortest // period))
        while count > 1 and self._arguments(first + period, count * period) > _MOST:
            count -= 1
        for begin in range(first, stop - count * period + 1, count * period):
            part, wires = self._wired(begin, begin + count * period)
            if all(map(_is_plain, part.given)):
                types = map(value_keys.of_type, part.given)
                yield part, (symbols[part.start : part.stop].tobytes(), tuple(wires), *types)

    def _arguments(self, start: int, size: int) -> int:
        part, _ = self._wired(start, min(start + size, len(self._live)))
        return len(part.given) + len(self._results(part))

    def _phase(self, start: int, stop: int, period: int) -> int:
        """Return the position in a period where a part begins: where the fewest bytes are in use at the border.

        Values that are also used long after that are in memory anyway. An elementwise value that only elementwise
        operations use counts more, since it is not in memory within a loop nest.
        """
        change = np.zeros(stop - start + 1)
        users: dict[Operand, list[int]] = defaultdict(list)
        for i in range(start, stop):
            for operand in self._live[i].inputs:
                users[operand].append(i)
        for i in range(start, stop):
            for value in self._live[i].outputs:
                near = [user for user in users[value] if user <= i + period]
                if near:
                    readers = [self._live[i], *(self._live[user] for user in near)]
                    weight = _bytes(value) * (2 if all(map(works_on_elements, readers)) else 1)
                    change[i + 1 - start] += weight
                    change[near[-1] + 1 - start] -= weight
        whole = (stop - start) // period * period
        costs = np.cumsum(change)[:whole].reshape(-1, period)[1:-1].sum(axis=0)
        return int(np.argmin(costs))

    def _wired(self, start: int, stop: int) -> tuple[_Part, list[int]]:
        """Return a part, and where each operand of its operations comes from."""
        given: dict[int, int] = {}
        first = self._numbers.first_result[start]
        wires = [
            number - first if number >= first else given.setdefault(number, ~len(given))
            for number in self._numbers.read_in(start, stop)
        ]
        given.pop(FIXED, None)
        return _Part(start, stop, tuple(map(self._numbers.operand, given))), wires

    def _results(self, part: _Part) -> set[int]:
        """Return the numbers of the results of a part, among those of its operations, that are used after it."""
        uses = enumerate(self._numbers.last_uses_in(part.start, part.stop))
        return {number for number, last_use in uses if last_use >= part.stop}

    def _outlined(self, parts: Sequence[_Part]) -> Iterator[tuple[int, tuple[int, Operation]]]:
        """Yield the calls that replace equal parts."""
        results = sorted(set().union(*map(self._results, parts)))
        columns = zip(*(part.given for part in parts), strict=True)
        varies = [isinstance(some[0], Value) or len(set(map(identity, some))) > 1 for some in columns]
        function = self._function(parts[0], results, varies)
        for part in parts:
            given = tuple([operand for operand, x in zip(part.given, varies, strict=True) if x])
            first = self._numbers.first_result[part.start]
            outputs = tuple([self._numbers.results[first + number] for number in results])
            origin = self._live[part.start].origin
            call = Operation(CALL, given, {}, outputs, (function,), origin)
            yield part.start, (part.stop, call)

    def _function(self, part: _Part, results: Sequence[int], varies: Sequence[bool]) -> Graph:
        """Return the function that computes a part from the operands that vary."""
        given = [operand for operand, is_input in zip(part.given, varies, strict=True) if is_input]
        inputs = {identity(each): _input(each) for each in given}
        live = self._live[part.start : part.stop]
        operands = [operand for operation in live for operand in operation.inputs]
        known: Substitution = {each: inputs[key] for each in operands if (key := identity(each)) in inputs}
        operations = tuple([renewed(each, known) for each in live])
        made = [*itertools.chain.from_iterable([each.outputs for each in live])]
        outputs = [made[number] for number in results]
        return Graph("repeated", tuple(inputs.values()), operations, substitute(outputs, known))


def _symbols(graph: Graph) -> np.ndarray[Any, Any]:
    """Return a number for each operation: equal ones differ only in operands that are values or large constants."""
    kinds, operations = kinds_of(graph), graph.operations
    whole = np.array(kinds.numbers, np.int64) + 1
    found = whole.copy()
    count = len(kinds.first) + 1
    numbers: dict[Hashable, int] = {}
    for i in kinds.constant:
        known = [
            (j, x) for j, x in enumerate(operations[i].inputs) if type(x) is Constant and not is_given(x)
        ]
        key = (kinds.numbers[i], *[(j, value_keys.of_constant(x)) for j, x in known])
        if known:
            found[i] = numbers.setdefault(key, count + len(numbers))
    fixed = [number for number, first in enumerate(kinds.first, 1) if not _may_move(first)]
    positions = np.arange(len(found))
    return np.where(np.isin(whole, fixed), -positions, found)  # negative: equal to no other one


def _may_move(operation: Operation) -> bool:
    """Return whether an operation may be in a part. Updates remain, since calls would copy what they overwrite."""
    is_kept = operation.stateful or operation.regions or operation.op.has(UPDATE)
    return not is_kept and all(map(_is_plain, operation.outputs))


def _is_plain(operand: Operand) -> bool:
    """Return whether an operand is a tensor of numbers, of known shape."""
    spec = operand.spec
    return (
        isinstance(spec, TensorType)
        and spec.shape is not None
        and None not in spec.shape
        and spec.dtype.kind in "biufc"
    )


def _input(operand: Operand) -> Value:
    return clone_value(operand) if isinstance(operand, Value) else Value("constant", operand.spec)


def _bytes(value: Value) -> int:
    return math.prod(value.shape or ()) * value.dtype.size  # type: ignore[arg-type]


def _sequences(symbols: np.ndarray[Any, Any]) -> Iterator[_Sequence]:
    """Yield periodic sequences that do not overlap, the longest first."""
    free = np.ones(len(symbols), bool)
    found = []
    for period in _distances(symbols):
        for start, stop in _stretches(symbols[:-period] == symbols[period:]):
            if stop - start > WORTH:
                found.append((stop - start, -period, start, stop + period))
    for _, negative, start, stop in sorted(found, reverse=True):
        for first, last in _stretches(free[start:stop]):
            if last - first > WORTH - negative:
                free[start + first : start + last] = False
                yield _Sequence(symbols, start + first, start + last, -negative)


def _distances(symbols: np.ndarray[Any, Any]) -> list[int]:
    """Return the most frequent distances to the next equal symbol."""
    order = np.argsort(symbols, kind="stable")
    distances, counts = np.unique(np.diff(order)[np.diff(symbols[order]) == 0], return_counts=True)
    return distances[np.argsort(-counts, kind="stable")][:_TRIED].tolist()  # type: ignore[no-any-return]


def _stretches(holds: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Return the ranges of positions in which all are true."""
    edges = np.flatnonzero(np.diff(holds.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
