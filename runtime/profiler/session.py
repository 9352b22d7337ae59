"""Sessions: one profile at a time, of all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .. import errors
from .plan_instrumentation import Watching
from .recorder import Session
from .report import Report

_lock = threading.Lock()
_running: list[Watching] = []


def running() -> Session | None:
    """The session that takes notes now."""
    return _running[0].session if _running else None


def begin() -> None:
    """Take notes from now on. Raises AlreadyExistsError while that is done already."""
    with _lock:
        if _running:
            raise errors.AlreadyExistsError("Another profiler is running.")
        _running.append(Watching(Session()))


def finish() -> Report:
    """Take no more notes; what they say. Raises UnavailableError when nobody began."""
    with _lock:
        if not _running:
            raise errors.UnavailableError("Cannot export profiling results. No profiler is running.")
        watching = _running.pop()
    watching.session.end()
    watching.end()
    return Report(watching.session)


class Profiling:
    """A block whose graphs are profiled; `report` says at its end what they did.

    >>> import agc.runtime as tf
    >>> twice = tf.function(lambda x: x + x)
    >>> with tf.profiler.Profiling() as profiling:
    ...     y = twice(tf.constant(1)), twice(tf.constant(2))
    >>> [(row.name, row.calls) for row in profiling.report.rows if row.name == "add"]
    [('add', 2)]
    """

    report: Report

    def __enter__(self) -> Profiling:
        begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.report = finish()


def profile(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """Call a function once, and note what its graphs do; the report has the result.

    The time for tracing is not that of a graph, so it does not matter whether the function was called before.
    """
    with Profiling() as profiling:
        result = function(*args, **kwargs)
    profiling.report.result = result
    return profiling.report
