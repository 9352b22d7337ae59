"""Random numbers with a state: the streams that they come from become variables, and the drawing stateless.

    y = random_uniform [3] [seed=7, seed2=1, …]          s = read_variable stream
                                                 ==>     y = stateless_random_uniform [3], s
                                                         s.1 = stream_behind s, y
                                                         _ = assign_variable stream, s.1

A state is three numbers, as generators have them: the counter, its lower half first, and the key. So the numbers are
those of the interpreter, and a stream goes on when a run has succeeded, as variables change then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...ir.clone import with_parts
from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.value_types import TensorType, VariableType
from ...kernels.random import seeds
from ...ops.framework.op import REGISTRY

STATE = TensorType(dtypes.int64, (3,))
_HALF = (1 << 64) - 1

Key = tuple[str, int, int, int]
"""What names a stream: the kind of operation, its two seeds, and a number."""


class StreamVariable:
    """A stream as a variable of a graph. `tf.random.set_seed` starts it again, so it is looked up each time."""

    def __init__(self, key: Key) -> None:
        self._key = key

    @property
    def _array(self) -> np.ndarray[Any, Any]:
        stream = seeds.stream(*self._key)
        parts = stream.counter & _HALF, stream.counter >> 64, stream.key[0] | stream.key[1] << 32
        return np.array(parts, np.uint64).view(np.int64)

    @_array.setter
    def _array(self, state: np.ndarray[Any, Any]) -> None:
        low, high, _ = state.view(np.uint64).tolist()
        seeds.stream(*self._key).counter = high << 64 | low


class _Drawing(NamedTuple):
    """How an operation draws: the kind of its stream, and what draws the same from a state, by its inputs."""

    kind: Callable[[Operation], str]
    stateless: str
    inputs: Callable[[Sequence[Operand], Operand], tuple[Operand, ...]]
    keeps_dtype: bool = True


def _of_attribute(word: str) -> Callable[[Operation], str]:
    return lambda operation: f"{word} {operation.attrs['dtype'].name}"


def _behind_first(inputs: Sequence[Operand], state: Operand) -> tuple[Operand, ...]:
    return (inputs[0], state, *inputs[1:])


def _last(inputs: Sequence[Operand], state: Operand) -> tuple[Operand, ...]:
    return (*inputs, state)


_DRAWINGS = {
    "random_uniform": _Drawing(_of_attribute("uniform"), "stateless_random_uniform", _behind_first),
    "random_normal": _Drawing(_of_attribute("normal"), "stateless_random_normal", _behind_first),
    "random_truncated_normal": _Drawing(
        _of_attribute("truncated"), "stateless_random_truncated_normal", _behind_first
    ),
    "random_integers": _Drawing(
        lambda operation: f"integers {operation.inputs[1].dtype.name}",
        "stateless_random_integers",
        _behind_first,
        keeps_dtype=False,
    ),
    "random_shuffle": _Drawing(
        lambda operation: f"shuffle {operation.inputs[0].dtype.numpy}",
        "seeded_shuffle",
        _behind_first,
        keeps_dtype=False,
    ),
    "random_categorical": _Drawing(_of_attribute("categorical"), "seeded_categorical", _last),
    "stream_state": _Drawing(lambda operation: operation.attrs["kind"], "", _behind_first, keeps_dtype=False),
}


def with_streams(graph: Graph) -> tuple[Graph, list[StreamVariable]]:
    """The graph with a variable behind its inputs for each stream that it draws from, and these variables."""
    keys = list(dict.fromkeys(_keys(graph)))
    if not keys:
        return graph, []
    return _rewritten(graph, keys), [StreamVariable(key) for key in keys]


def _keys(graph: Graph) -> Iterator[Key]:
    for operation in graph.live_operations():
        if operation.type in _DRAWINGS and _can_draw(operation):
            yield _key(operation)
        elif operation.type in ("cond", "switch", "call", "while"):
            for region in operation.regions:
                yield from _keys(region)


def _can_draw(operation: Operation) -> bool:
    """Whether there is something stateless for it."""
    first = operation.inputs[0]
    if operation.type == "random_shuffle":
        return first.dtype.kind in "biufc" and getattr(first.spec, "shape", None) not in (None, ())
    return operation.type != "random_categorical" or first.dtype.kind == "f"


def _key(operation: Operation) -> Key:
    attrs = operation.attrs
    return _DRAWINGS[operation.type].kind(operation), attrs["seed"], attrs["seed2"], attrs["stream"]


def _rewritten(graph: Graph, keys: Sequence[Key]) -> Graph:
    streams = {key: Value("stream", VariableType(STATE)) for key in keys}
    operations: list[Operation] = []
    for operation in graph.live_operations():
        own = list(dict.fromkeys(_keys(Graph("one", (), [operation], operation.outputs))))
        if not own:
            operations.append(operation)
        elif operation.regions:
            regions = [_rewritten(region, own) for region in operation.regions]
            inputs = (*operation.inputs, *(streams[key] for key in own))
            operations.append(with_parts(operation, inputs, regions))
        else:
            operations += _drawn(operation, streams[own[0]])
    return Graph(graph.name, (*graph.inputs, *streams.values()), operations, graph.outputs)


def _drawn(operation: Operation, stream: Value) -> Iterator[Operation]:
    """What draws the same, and moves the stream on."""

    def made(name: str, inputs: Sequence[Operand], attrs: dict[str, Any], *outputs: Value) -> Operation:
        place = operation.origin, operation.device
        return Operation(REGISTRY[name], tuple(inputs), attrs, outputs, (), *place)

    drawing, attrs = _DRAWINGS[operation.type], operation.attrs
    (drawn,) = operation.outputs
    after, assigned = Value("after", STATE), Value("assigned", STATE)
    if operation.type == "stream_state":
        yield made("read_variable", [stream], {}, drawn)
        yield made("stream_after", [drawn, operation.inputs[0]], {"each": attrs["per_output"]}, after)
    else:
        state = Value("state", STATE)
        yield made("read_variable", [stream], {}, state)
        kept = {"dtype": attrs["dtype"]} if drawing.keeps_dtype else {}
        yield made(drawing.stateless, drawing.inputs(operation.inputs, state), kept, drawn)
        yield made("stream_behind", [state, drawn], {"drawing": operation.type}, after)
    yield made("assign_variable", [stream, after], {}, assigned)
