"""Run a function, and note the values and times of its operations.

    y = matmul x, w     ==>     {"runs": 3, "values": [{"type": "float32[2]", "min": "-1", "max": "4", "first": "…"}]}

The interpreter runs the traced graph once, so that each operation of the text has a value. If the graph has no effects
but those on variables, the plan runs it as well, for the times and the values of the optimized graph; a quick run is
repeated, as the first run of a plan is slower. Variables get their former values back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns as clock
from typing import Any

import numpy as np
from agc.runtime.core.fast_path_guard import block_fast_path
from agc.runtime.executors import ObservedPlan, interpret
from agc.runtime.ir.graph import Graph, Operation
from agc.runtime.kernels.persistent_array import PersistentArray

FIRST = 6
"""The number of elements that are shown."""
MOST_BYTES = 1 << 20
"""Larger results are summarized at once, not kept to the end of the run."""
QUICK = 20_000_000
"""A run of the plan of fewer nanoseconds is repeated, as the first one is slower."""


class RunRecorder:
    """An observer of a run: by operation, the number of runs, the last results, and the nanoseconds.

    The time of an operation is the time since the last observation, so nested operations are not included.
    """

    def __init__(self) -> None:
        self.runs: Counter[Operation] = Counter()
        self.times: Counter[Operation] = Counter()
        self._last: dict[Operation, list[Any]] = {}
        self._since = clock()

    def __call__(self, operation: Operation, results: Sequence[Any]) -> None:
        self.times[operation] += clock() - self._since
        self.runs[operation] += 1
        self._last[operation] = [_kept(each) for each in results]
        self._since = clock()

    def as_json(self, operation: Operation) -> dict[str, Any]:
        """Return the entry of an operation that ran."""
        last = self._last[operation]
        return {
            "runs": self.runs[operation],
            "values": [each if isinstance(each, dict) else summary(each) for each in last],
        }


def _kept(value: Any) -> Any:
    """Return a value as it is now, for a later summary: the run may overwrite arrays and lists."""
    if isinstance(value, list) or getattr(value, "nbytes", 0) > MOST_BYTES:
        return summary(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def summary(value: Any) -> dict[str, Any]:
    """Return shape, dtype, extremes and first elements of a value, as text.

    >>> summary(np.array([1.5, -2.0]))
    {'type': 'float64[2]', 'min': '-2', 'max': '1.5', 'first': '1.5, -2'}
    """
    if isinstance(value, PersistentArray):
        value = value.items()
    if isinstance(value, list):
        firsts = [summary(each)["first"] for each in value[:FIRST]]
        return {"type": f"list of {len(value)}", "first": _cut(", ".join(f"[{each}]" for each in firsts))}
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
    """One run of a function in the interpreter: its result or error, and a record of the operations."""

    def __init__(self, function: Callable[..., Any], concrete: Any, args: Any, kwargs: Any) -> None:
        self.record = RunRecorder()
        self.arguments: list[Any] = []
        self.result: Any = None
        self.error: Exception | None = None
        usual = concrete.runner

        def watched(arguments: Sequence[Any]) -> list[Any]:
            self.arguments = list(arguments)
            self.record = RunRecorder()
            return interpret(concrete.graph, arguments, self.record)

        block_fast_path(self, True)
        concrete.runner = watched
        try:
            with restored(concrete.variables):
                self.result = function(*args, **kwargs)
        except Exception as error:  # of the user's program: the page shows the values until then
            self.error = error
        finally:
            block_fast_path(self, False)
            concrete.runner = usual


def run_plan(graph: Graph, arguments: Sequence[Any], variables: Sequence[Any]) -> RunRecorder:
    """Run a graph in the plan, and return the record: once, or twice if that takes little time."""
    record = RunRecorder()
    plan = ObservedPlan(graph, lambda operation, results: record(operation, results))
    for _ in range(2):
        with restored(variables):
            record = RunRecorder()
            plan.run(arguments)
        if record.times.total() > QUICK:
            break
    return record
