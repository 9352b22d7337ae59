"""`trace_on`, `trace_export` and `trace_off`: graphs of functions, and a profile, for TensorBoard.

trace_on(graph=True)        train_step(x)        trace_export("step", step=0)    ==>    the graph of train_step
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ..core.export import export
from ..ir.graph import Graph
from ..profiler import experimental as profiler
from ..profiler.plan_instrumentation import spot_of
from ..profiler.recorder import ProfilePoint
from ..profiler.report import Report
from ..storage.tensor_protos import serialized
from ..tracing import concrete_function
from . import events, graphs, state

PLAIN, TIMED = "graph_run_metadata_graph", "graph_run_metadata"
"""TensorBoard's plug-ins for graphs of functions, without and with times."""


class _Trace:
    """The graphs that have run for the first time, and whether a profile is being recorded."""

    def __init__(self, wants_graphs: bool, profiles: bool, folder: Any) -> None:
        self.wants_graphs, self.profiles, self.folder = wants_graphs, profiles, folder
        self.graphs: list[Graph] = []


_running: list[_Trace] = []


@export("summary.trace_on")
def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Start to collect the graphs of functions that run for the first time, and a profile.

    Args:
        graph: whether to collect graphs.
        profiler: whether to record a profile of all graphs; `profiler_outdir` is its folder.

    Has no effect while a trace is running.

    >>> import agc.runtime as tf, tempfile
    >>> trace_on()
    >>> _ = tf.function(tf.sin)(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tf.summary.create_file_writer(folder).as_default():
    ...         trace_export("sin", step=0)
    """
    if _running:
        return
    trace = _Trace(graph, profiler, profiler_outdir)
    if graph:
        concrete_function.first_run_listeners.append(trace.graphs.append)
    if profiler:
        _start_profile(profiler_outdir)
    _running.append(trace)


def _start_profile(folder: Any) -> None:
    profiler.start(os.fspath(folder or os.curdir))


@export("summary.trace_export")
def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Write the collected graphs to the default writer, and the profile to its folder; end the trace.

    Args:
        name: the name of the trace.
        step: its step; the default step if None.
        profiler_outdir: accepted: the profile is in the folder that `trace_on` got.

    Raises ValueError without a trace, or without a step. TensorBoard shows the graphs under the name, with the times
    of their operations if a profile was recorded.

    >>> import agc.runtime as tf, tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> tf.summary.trace_on()
    >>> tf.function(lambda x: x + 1)(1.0).numpy()
    np.float32(2.0)
    >>> with writer.as_default():
    ...     tf.summary.trace_export("adding", step=0)
    """
    if not _running:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    number = state.step_or_default(step)
    report = _end(save=True)
    trace, writer = report.trace, state.current().writer
    if trace.graphs and writer is not None:
        spent = Counter[Any]() if report.profile is None else _times(report.profile)
        content = graphs.run_metadata(trace.graphs, lambda operation: spent[_key(spot_of(operation))])
        kind = PLAIN if report.profile is None else TIMED
        tensor = serialized(np.array(content, object))
        writer.write(
            events.summary_event(time.time(), int(number), name, tensor, events.metadata(kind, b"1"))
        )


def _times(report: Report) -> Counter[Any]:
    """Return the nanoseconds of operations by name, line and result. Fused operations have a row of their own."""
    spent: Counter[Any] = Counter()
    for node in report.nodes():
        spent[_key(node.spot)] += node.own
    return spent


def _key(spot: ProfilePoint) -> tuple[Any, ...]:
    return spot.name, spot.origin, spot.result


@export("summary.trace_off")
def trace_off() -> None:
    """End the trace without writing it.

    >>> trace_on()
    >>> trace_off()
    """
    if _running:
        _end(save=False)


class _Ended(NamedTuple):
    trace: _Trace
    profile: Report | None


def _end(save: bool) -> _Ended:
    trace = _running.pop()
    if trace.wants_graphs:
        concrete_function.first_run_listeners.remove(trace.graphs.append)
    return _Ended(trace, profiler.stopped(save) if trace.profiles else None)
