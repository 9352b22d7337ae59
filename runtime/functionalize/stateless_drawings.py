"""Functionalization of random numbers: drawing operations become stateless, and their streams variables.

    y = random_uniform [3] [seed=7, seed2=1, …]          s = read_variable stream
                                                 ==>     y = stateless_random_uniform [3], s
                                                         s.1 = stream_after_drawing s, y
                                                         _ = assign_variable stream, s.1

The state of a stream consists of three numbers, as in generators: the two halves of the counter, low half
first, and the key. The random numbers equal those of the interpreter. A stream advances when a run has
succeeded, like all variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import dtypes
from ..ir.clone import with_parts
from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import TensorType, VariableType
from ..kernels.random.seeds import Key
from ..ops.framework.region_ops import CALL, COND, SWITCH, WHILE
from ..ops.random.rng_state import stream_after, stream_after_drawing
from ..ops.random.stateful import (
    random_categorical,
    random_integers,
    random_normal,
    random_shuffle,
    random_truncated_normal,
    random_uniform,
)
from ..ops.random.stateless import (
    stateless_random_integers,
    stateless_random_normal,
    stateless_random_truncated_normal,
    stateless_random_uniform,
)
from ..ops.random.stateless_distributions import seeded_categorical, seeded_shuffle, stream_state
from ..ops.state.variable_ops import assign_variable, read_variable

STATE = TensorType(dtypes.int64, (3,))


class _Drawing(NamedTuple):
    """The functional form of a drawing operation: the kind of its stream, its stateless operation, its inputs."""

    kind: Callable[[Operation], str]
    stateless: OpDef | None
    inputs: Callable[[Sequence[Operand], Operand], tuple[Operand, ...]]
    keeps_dtype: bool = True


def _of_attribute(word: str) -> Callable[[Operation], str]:
    return lambda operation: f"{word} {operation.attrs['dtype'].name}"


def _after_first(inputs: Sequence[Operand], state: Operand) -> tuple[Operand, ...]:
    return (inputs[0], state, *inputs[1:])


def _last(inputs: Sequence[Operand], state: Operand) -> tuple[Operand, ...]:
    return (*inputs, state)


_DRAWINGS: dict[OpDef, _Drawing] = {
    random_uniform: _Drawing(_of_attribute("uniform"), stateless_random_uniform, _after_first),
    random_normal: _Drawing(_of_attribute("normal"), stateless_random_normal, _after_first),
    random_truncated_normal: _Drawing(
        _of_attribute("truncated"), stateless_random_truncated_normal, _after_first
    ),
    random_integers: _Drawing(
        lambda operation: f"integers {operation.inputs[1].dtype.name}",
        stateless_random_integers,
        _after_first,
        keeps_dtype=False,
    ),
    random_shuffle: _Drawing(
        lambda operation: f"shuffle {operation.inputs[0].dtype.numpy_dtype}",
        seeded_shuffle,
        _after_first,
        keeps_dtype=False,
    ),
    random_categorical: _Drawing(_of_attribute("categorical"), seeded_categorical, _last),
    stream_state: _Drawing(lambda operation: operation.attrs["kind"], None, _after_first, keeps_dtype=False),
}


def with_streams(graph: Graph) -> tuple[Graph, list[Key]]:
    """Return the graph with an additional variable input for each stream that it draws from, and their keys."""
    keys = list(dict.fromkeys(_keys(graph)))
    return _rewritten(graph, keys) if keys else graph, keys


def _keys(graph: Graph) -> Iterator[Key]:
    for operation in graph.live_operations():
        if operation.op in _DRAWINGS and _can_draw(operation):
            yield _key(operation)
        elif operation.op in (COND, SWITCH, CALL, WHILE):
            for region in operation.regions:
                yield from _keys(region)


def _can_draw(operation: Operation) -> bool:
    """Return whether the operation has a stateless equivalent."""
    first = operation.inputs[0]
    if operation.op is random_shuffle:
        return first.dtype.kind in "biufc" and getattr(first.spec, "shape", None) not in (None, ())
    return operation.op is not random_categorical or first.dtype.kind == "f"


def _key(operation: Operation) -> Key:
    attrs = operation.attrs
    return _DRAWINGS[operation.op].kind(operation), attrs["seed"], attrs["seed2"], attrs["stream"]


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
    """Yield the stateless operations that draw the same numbers and advance the stream."""

    def made(op: OpDef, inputs: Sequence[Operand], attrs: dict[str, Any], *outputs: Value) -> Operation:
        provenance = operation.origin, operation.device
        return Operation(op, tuple(inputs), attrs, outputs, (), *provenance)

    drawing, attrs = _DRAWINGS[operation.op], operation.attrs
    (drawn,) = operation.outputs
    after, assigned = Value("after", STATE), Value("assigned", STATE)
    if drawing.stateless is None:
        yield made(read_variable, [stream], {}, drawn)
        yield made(stream_after, [drawn, operation.inputs[0]], {"each": attrs["per_output"]}, after)
    else:
        state = Value("state", STATE)
        yield made(read_variable, [stream], {}, state)
        kept = {"dtype": attrs["dtype"]} if drawing.keeps_dtype else {}
        yield made(drawing.stateless, drawing.inputs(operation.inputs, state), kept, drawn)
        yield made(stream_after_drawing, [state, drawn], {"drawing": operation.type}, after)
    yield made(assign_variable, [stream, after], {}, assigned)
