"""`TracingTurns`: a lock that lets one thread trace at a time, unless the tracing thread waits for another one.

    main thread    trace f ─── t.start(), t.join() ······················ goes on ──► graph of f
    thread t                   call g: f is traced, its thread is blocked ──► trace g

A trace changes the code of reachable functions, and the first trace of a function creates its variables. So traces
exclude each other. But a trace runs user code, which may wait for another thread that traces. A lock cannot detect
such a wait. So a waiting thread watches the holder, and proceeds if the holder is blocked. The state of a trace is
thread-local, so two concurrent traces are correct, only slower.
"""

from __future__ import annotations

import sys
import threading
import time

_POLL = 0.05  # seconds
_STILL = 10
"""The number of consecutive polls that must find the holder at the same instruction; a busy machine starves threads.
"""
_PATIENCE = 60.0
"""The number of seconds after which a thread proceeds anyway: the holder may wait in a polling loop."""
_DEEPEST = 50
"""The maximum number of traces that wait for each other; more of them form a cycle."""


class TracingTurns:
    """A re-entrant lock for traces, as a context manager. See the picture of this module."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders: list[int] = []  # thread identifiers, the current holder last

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if me not in self._holders:
                self._wait()
            self._holders.append(me)

    def _wait(self) -> None:
        """Return when there is no holder, the last one is blocked, or `_PATIENCE` seconds are over."""
        until = time.monotonic() + _PATIENCE
        before, still = None, 0
        while self._holders and still < _STILL and time.monotonic() < until:
            self._changed.wait(_POLL)
            location = _position(self._holders[-1]) if self._holders else None
            still = still + 1 if location == before else 0
            before = location
        if len(self._holders) >= _DEEPEST:
            raise RuntimeError(
                f"{_DEEPEST} functions are being traced, each by a thread that waits for the next one: does a function "
                "start a thread that calls the same function? Call it before, or outside of tf.function"
            )

    def __exit__(self, *exception: object) -> None:
        me = threading.get_ident()
        with self._changed:
            last = len(self._holders) - 1 - self._holders[::-1].index(me)
            del self._holders[last]
            self._changed.notify_all()


def _position(thread: int) -> tuple[int, int, int] | None:
    """Return the instruction that a thread executes; None if the thread has ended."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return None
    return thread, id(frame), frame.f_lasti
