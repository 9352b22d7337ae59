"""Run a function once and note the values of its operations, and once more for their times.

    y = matmul x, w     ==>     {"runs": 3, "values": [{"type": "float32[2]", "min": "-1", "max": "4", "first": "…"}]}

The reference interpreter runs the graph, so that each operation of the text has a value. Variables get their former
values back afterwards. Random numbers and files are not restored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from agc.runtime.core.fast_path_guard import block_fast_path
from agc.runtime.executors import Plan, interpret
from agc.runtime.ir.graph import Graph, Operation
from agc.runtime.profiler import Profiling
from agc.runtime.profiler.plan_instrumentation import spot_of

FIRST = 6
"""The number of elements that are shown."""
MOST_BYTES = 1 << 20
"""Larger results are summarized at once, not kept to the end of the run."""


class ValueRecorder:
    """An observer of the interpreter: by operation, the number of runs and the last results."""

    def __init__(self) -> None:
        self.runs: dict[Operation, int] = {}
        self._last: dict[Operation, list[Any]] = {}

    def __call__(self, operation: Operation, results: Sequence[Any]) -> None:
        self.runs[operation] = self.runs.get(operation, 0) + 1
        self._last[operation] = [
            summary(each) if getattr(each, "nbytes", 0) > MOST_BYTES else each for each in results
        ]

    def as_json(self, operation: Operation) -> dict[str, Any]:
        """Return the entry of an operation that ran."""
        last = self._last[operation]
        return {
            "runs": self.runs[operation],
            "values": [each if isinstance(each, dict) else summary(each) for each in last],
        }


def summary(value: Any) -> dict[str, Any]:
    """Return shape, dtype, extremes and first elements of a value, as text.

    >>> summary(np.array([1.5, -2.0]))
    {'type': 'float64[2]', 'min': '-2', 'max': '1.5', 'first': '1.5, -2'}
    """
    if not isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        return {"type": type(value).__name__, "first": _cut(repr(value))}
    array = np.asarray(value)
    found: dict[str, Any] = {"type": f"{array.dtype}[{', '.join(map(str, array.shape))}]"}
    if array.dtype.kind in "iuf" and array.size:
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        if finite.size:
            found.update(min=_number(finite.min()), max=_number(finite.max()))
        if finite.size < array.size:
            found["other"] = f"{array.size - finite.size} NaN or infinite"
    shown = [_number(each) for each in array.ravel()[:FIRST]]
    found["first"] = _cut(", ".join(shown)) + (", …" if array.size > FIRST else "")
    return found


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"


@contextmanager
def restored(variables: Sequence[Any]) -> Iterator[None]:
    """Give variables the values back that they had before the block."""
    before = [(variable, variable.numpy()) for variable in variables if variable.is_initialized()]
    try:
        yield
    finally:
        for variable, value in before:
            variable.assign(value)


class ObservedRun:
    """One run of a function: its arguments as arrays, its result, the values of its operations."""

    def __init__(self, function: Callable[..., Any], concrete: Any, args: Any, kwargs: Any) -> None:
        self.values = ValueRecorder()
        self.arguments: list[Any] = []
        usual = concrete.runner

        def watched(arguments: Sequence[Any]) -> list[Any]:
            self.arguments = list(arguments)
            return interpret(concrete.graph, arguments, self.values)

        block_fast_path(self, True)
        concrete.runner = watched
        try:
            with restored(concrete.variables):
                self.result = function(*args, **kwargs)
        finally:
            block_fast_path(self, False)
            concrete.runner = usual

    def observe(self, graph: Graph) -> None:
        """Run an optimized form of the graph as well, for the values of its operations."""
        interpret(graph, self.arguments, self.values)


def times(graph: Graph, arguments: Sequence[Any], variables: Sequence[Any]) -> dict[Operation, int]:
    """Return the nanoseconds of each operation of a graph that the plan runs, without nested operations."""
    with restored(variables):
        Plan(graph).run(arguments)
        with Profiling() as profiling:
            Plan(graph).run(arguments)
    spent: Counter[Any] = Counter()
    for node in profiling.report.nodes():
        spent[node.spot.name, node.spot.origin, node.spot.result] += node.own
    spots: dict[Any, list[Operation]] = {}
    for operation in graph.walk():
        spot = spot_of(operation)
        spots.setdefault((spot.name, spot.origin, spot.result), []).append(operation)
    # Operations that the profile does not distinguish share their time.
    return {each: spent[key] // len(alike) for key, alike in spots.items() for each in alike}
