"""Selection of the random stream of an operation: TensorFlow's rules for seeds.

    global seed   seed of the operation    the pair that selects the stream
    no            no                       (0, 0): different in every process
    yes           no                       (global seed, a number drawn for this call)
                                           in a graph: (global seed, 0), then 1, 2, … in each block
    no            yes                      (87654321, the operation's seed)
    yes           yes                      (global seed, the operation's seed)

Eager operations with the same pair share a stream and continue it, call after call. In a graph, every
operation has its own stream, which the graph's next call continues. `set_seed` restarts all streams.
Each call of a function inlined in another graph has its own streams, which start at the same seeds.
"""

from __future__ import annotations

import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any

from ...core.export import export
from ...ir.builder import Builder, current
from ...ir.clone import copied, with_parts
from ...ir.graph import Graph, Operation
from .philox import Stream

if TYPE_CHECKING:
    import random

_LIMIT = 2**31 - 1
_DEFAULT_GLOBAL = 87654321


class _State:
    def __init__(self) -> None:
        self.seed: int | None = None
        self.draws: random.Random | None = None  # created at the first draw
        self.streams: dict[tuple[Any, ...], Stream] = {}

    def draw(self) -> int:
        """Return the next number for an eager operation without a seed of its own."""
        import random  # not needed by a program that draws nothing

        if self.draws is None:
            self.draws = random.Random(self.seed)
        return self.draws.randint(0, _LIMIT)


_state = _State()
Key = tuple[str, int, int, int]
"""The arguments of `stream`, which select one: the kind of operation, two seeds, and a number."""

_graph_streams = itertools.count(1)
_drawn: weakref.WeakKeyDictionary[Builder, int] = weakref.WeakKeyDictionary()


@export("random.set_seed")
def set_seed(seed: int | None) -> None:
    """Set the global seed: later operations give the same numbers in every run of the program.

    >>> import agc.runtime as tf
    >>> tf.random.set_seed(3)
    >>> first = tf.random.uniform([2]).numpy().tolist()
    >>> tf.random.set_seed(3)
    >>> tf.random.uniform([2]).numpy().tolist() == first
    True
    """
    _state.seed = None if seed is None else int(seed)
    _state.draws = None
    _state.streams.clear()


def pair(seed: int | None) -> tuple[int, int, int]:
    """Return the pair of seeds for an operation with the given seed, and its stream's number (0 when eager)."""
    builder = current()
    number = 0 if builder is None else next(_graph_streams)
    if _state.seed is None and seed is None:
        return 0, 0, number
    first = _DEFAULT_GLOBAL if _state.seed is None else _state.seed % _LIMIT
    if seed is not None:
        second = int(seed) % _LIMIT
    elif builder is None:
        second = _state.draw()
    else:
        second = _drawn.get(builder, 0)
        _drawn[builder] = second + 1
    return (first, second, number) if (first, second) != (0, 0) else (0, _LIMIT, number)


def stream(kind: str, seed: int, seed2: int, number: int) -> Stream:
    """Return the stream of this kind of operation with this pair of seeds and this number."""
    key = (kind, seed, seed2, number)
    found = _state.streams.get(key)
    if found is None:
        if seed == seed2 == 0:
            seed, seed2 = _entropy(), _entropy()
        found = _state.streams[key] = Stream(seed, seed2)
    return found


def _entropy() -> int:
    """Return 63 random bits from the system."""
    return int.from_bytes(os.urandom(8)) >> 1


def restart(number: int) -> None:
    """Restart the stream with this number, of an operation in a graph."""
    for key in [key for key in _state.streams if key[3] == number]:
        del _state.streams[key]


def with_own_streams(graph: Graph) -> Graph:
    """Return the graph for one more call of it: a copy that draws from new streams, if it has seeds."""
    if not any(map(_is_seeded, graph.walk())):
        return graph
    return _renumbered(graph, {})


def _is_seeded(operation: Operation) -> bool:
    attrs = operation.attrs
    return bool("stream" in attrs and (attrs.get("seed") or attrs.get("seed2")))  # `print` has a stream, too


def _renumbered(graph: Graph, numbers: dict[int, int]) -> Graph:
    graph = copied(graph)
    operations = []
    for operation in graph.operations:
        attrs = operation.attrs
        if _is_seeded(operation):
            old = attrs["stream"]
            numbers.setdefault(old, next(_graph_streams))
            attrs = {**attrs, "stream": numbers[old]}
        regions = [_renumbered(region, numbers) for region in operation.regions]
        operations.append(with_parts(operation, regions=regions, attrs=attrs))
    return Graph(graph.name, graph.inputs, tuple(operations), graph.outputs)
