"""An interpreter for which a failure matters only where its result does: the measure of what an optimizer may drop.

An operation without effects that fails gives a `Failure`, as do those that read one. It is raised by what has effects,
by what decides about effects, and by the results of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from agc.runtime import errors
from agc.runtime.executors.interpreter import _compute
from agc.runtime.ir.graph import Constant, Graph, Operation


class Failure:
    """A placeholder for the results of an operation that failed."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def interpret_lazily(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    """The outputs of a graph; the first failure among them is raised."""
    with np.errstate(all="ignore"):
        return [_sound(value) for value in _run(graph, arguments)]


def _sound(value: Any) -> Any:
    if isinstance(value, Failure):
        raise value.error
    return value


def _run(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    values: dict[Any, Any] = dict(zip(graph.inputs, arguments, strict=True))

    def read(operand: Any) -> Any:
        return operand.value if isinstance(operand, Constant) else values[operand]

    for operation in graph.live_operations():
        results = _results(operation, [read(operand) for operand in operation.inputs])
        values.update(zip(operation.outputs, results, strict=True))
    return [read(operand) for operand in graph.outputs]


def _results(operation: Operation, inputs: list[Any]) -> Sequence[Any]:
    try:
        structure = _STRUCTURES.get(operation.type)
        if structure is not None:
            return structure(operation, inputs)
        return _compute(operation, list(map(_sound, inputs)))
    except errors.OpError as error:
        if operation.stateful:
            raise
        return [Failure(error)] * len(operation.outputs)


def _cond(operation: Operation, inputs: list[Any]) -> Sequence[Any]:
    then, orelse = operation.regions
    return _run(then if _sound(inputs[0]) else orelse, inputs[1:])


def _switch(operation: Operation, inputs: list[Any]) -> Sequence[Any]:
    regions = operation.regions
    number = _sound(inputs[0]) if len(regions) > 1 else 0  # an unused value where there is no choice
    return _run(regions[number] if 0 <= number < len(regions) else regions[-1], inputs[1:])


def _call(operation: Operation, inputs: list[Any]) -> Sequence[Any]:
    return _run(operation.regions[0], inputs)


def _while(operation: Operation, inputs: list[Any]) -> Sequence[Any]:
    test, body = operation.regions
    count, limit = len(operation.outputs), operation.attrs.get("maximum_iterations")
    state, given = inputs[:count], inputs[count:]
    while limit is None or limit > 0:
        (go,) = _run(test, [*state, *given])
        if not _sound(go):
            break
        state = _run(body, [*state, *given])
        limit = None if limit is None else limit - 1
    return state


_STRUCTURES = {"cond": _cond, "switch": _switch, "call": _call, "while": _while}
