"""Sessions: one profile at a time, of all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import errors
from .plan_instrumentation import Watching
from .recorder import ProfileSession
from .report import Report

_lock = threading.Lock()
_running: list[Watching] = []


def running() -> ProfileSession | None:
    """Return the active session."""
    return _running[0].session if _running else None


def begin() -> None:
    """Start a session. Raises AlreadyExistsError while one is active."""
    with _lock:
        if _running:
            raise errors.AlreadyExistsError("Another profiler is running.")
        _running.append(Watching(ProfileSession()))


def finish() -> Report:
    """End the session and return its report. Raises UnavailableError without a session."""
    with _lock:
        if not _running:
            raise errors.UnavailableError("Cannot export profiling results. No profiler is running.")
        watching = _running.pop()
    watching.session.end()
    watching.end()
    return Report(watching.session)


class Profiling:
    """A block whose graphs are profiled; `report` has the results at its end.

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

    def __exit__(self, *exception: object) -> None:
        self.report = finish()


def profile(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """Call a function once under a profile; the report has the function's result.

    Tracing time is not counted as graph time, so it does not matter whether the function was called before.

    >>> import agc.runtime as tf
    >>> report = tf.profiler.profile(tf.function(lambda x: tf.exp(x) @ x), tf.ones([2, 2]))
    >>> sorted(row.name for row in report.rows)
    ['exp', 'lambda_', 'matmul']
    """
    with Profiling() as profiling:
        result = function(*args, **kwargs)
    profiling.report.result = result
    return profiling.report
