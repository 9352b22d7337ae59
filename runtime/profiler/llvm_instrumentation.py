"""Profiling of native code: an instrumented version reads the clock, and its times are added to the session.

    train    native, 3.0 ms
      while                    0.1 ms
        matmul         2.1 ms                      the total time of all iterations, without single events
        fused add+tanh 0.8 ms

The code's clock counts processor cycles; the time of the whole call converts them to nanoseconds. Calls of
one function are serialized, since they share the table of counters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any

from ..executors.llvm.jit_function import JitFunction
from .recorder import Measured, ProfilePoint, ProfileSession

if TYPE_CHECKING:
    from ..executors.llvm.codegen.instrumentation import Instrumentation
    from ..ir.graph import Graph, Operation


class MeasuredNative(JitFunction):
    """A graph compiled to instrumented native code."""

    _is_measured = True

    def __init__(self, graph: Graph, session: ProfileSession, spot: ProfilePoint) -> None:
        super().__init__(graph)
        self._session = session
        self._spot = spot
        self._lock = threading.RLock()

    @property
    def shortest(self) -> None:
        """Return None: no fast entry point may bypass the instrumentation."""
        return None

    def _code_of(self, unit: Any, key: Any, is_plain: bool) -> tuple[Callable[[Any], Any], None]:
        code, _ = super()._code_of(unit, key, is_plain)
        spots = [_spot_of(row.operations) for row in unit.meter.rows]

        def run(arrays: Any) -> Any:
            recorder = self._session.recorder()
            with self._lock:
                depth = recorder.depth()
                recorder.enter(self._spot)
                start = clock()
                try:
                    results = code(arrays)
                    recorder.measured(_notes(unit.meter, spots, clock() - start), start)
                finally:
                    unit.meter.table[:] = 0
                    recorder.leave_to(depth)
            return results

        return run, None


def _spot_of(operations: Sequence[Operation]) -> ProfilePoint:
    """Return the profile point of a position in the code, which may compute several operations."""
    if not operations:
        return ProfilePoint("native", "")
    last = operations[-1]
    origin = next((each.origin for each in reversed(operations) if each.origin is not None), None)
    names = [each.type for each in operations]
    name = names[0] if len(names) == 1 else f"fused {'+'.join(names[:4])}{'+…' if len(names) > 4 else ''}"
    result = last.outputs[0].name if last.outputs else ""
    return ProfilePoint("operation", name, origin, "" if result == last.type else result)


def _notes(meter: Instrumentation, spots: Sequence[ProfilePoint], took: int) -> list[Measured]:
    """Return the table's measurements of a call of `took` nanoseconds; an empty list for a call that failed."""
    cycles = meter.table[::2].tolist()
    calls = meter.table[1::2].tolist()
    whole = sum(cycles)
    if not calls[0] or whole <= 0:
        return []
    return [
        Measured(spot, row.parent - 1, count, own * took // whole, row.bytes)
        for spot, row, count, own in zip(spots[1:], meter.rows[1:], calls[1:], cycles[1:], strict=True)
    ]
