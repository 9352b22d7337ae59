"""`TracingTurns`: one thread traces at a time, unless the tracing thread waits for another one.

    main thread    trace f ─── t.start(), t.join() ······················ goes on ──► graph of f
    thread t                   call g: f is traced, its thread stands still ──► trace g

A trace changes the code of functions in sight, and the first trace of a function makes its variables, so traces take
turns. But a trace runs the user's Python, which may wait for a thread that traces, too. No lock can find such a wait.
So a thread watches the holder of the turn, and goes ahead when the holder stands still. The state of a trace is kept
per thread, so two traces at a time are merely more work.
"""

from __future__ import annotations

import sys
import threading
import time

_POLL = 0.05  # seconds
_STILL = 10
"""The number of polls in a row that must find the holder at one instruction: busy machines starve threads, too."""
_PATIENCE = 60.0
"""Seconds after which a thread goes ahead anyway: the holder may wait in a loop of its own."""
_DEEPEST = 50
"""The most traces that may wait for one another: more are a circle."""


class TracingTurns:
    """A re-entrant lock for traces, as a context manager. See the picture of this module."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders: list[int] = []  # threads by number, the one whose turn it is at the end

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if me not in self._holders:
                self._wait()
            self._holders.append(me)

    def _wait(self) -> None:
        """Return once there is no holder, or the last one stands still."""
        until = time.monotonic() + _PATIENCE
        before, still = None, 0
        while self._holders and still < _STILL and time.monotonic() < until:
            self._changed.wait(_POLL)
            place = _place(self._holders[-1]) if self._holders else None
            still = still + 1 if place == before else 0
            before = place
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


def _place(thread: int) -> tuple[int, int, int] | None:
    """The instruction that a thread executes; None for a thread that is gone."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return None
    return thread, id(frame), frame.f_lasti
