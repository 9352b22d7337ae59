"""The record of a profile: a call tree, and the first calls one by one.

    enter(while)                      while        1 call     3.0 ms, of which 0.1 ms are its own
      enter(multiply)  leave   ==>      multiply   500 calls  2.1 ms
      enter(less)      leave            less       501 calls  0.8 ms
    leave

The overhead of recording is subtracted from all times.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import perf_counter_ns as clock
from typing import NamedTuple

import numpy as np

from ..ir.source_location import Origin

MOST_EVENTS = 200_000
"""The number of calls of a thread that are recorded one by one; further calls are only counted."""


class ProfilePoint:
    """A point of a program: an operation of a graph, a graph, or a `Trace` name. Compared by identity."""

    __slots__ = ("kind", "name", "origin", "result")

    def __init__(self, kind: str, name: str, origin: Origin | None = None, result: str = "") -> None:
        self.kind = kind  # "operation", "graph", "native" or "trace"
        self.name = name
        self.origin = origin
        self.result = result  # the name of its result

    def __repr__(self) -> str:
        return f"Spot({self.kind} {self.name})"


class ProfileNode:
    """A profile point in the call tree: calls, nanoseconds in total and in nested nodes, bytes of new arrays."""

    __slots__ = ("bytes", "calls", "children", "inner", "parent", "spot", "total")

    def __init__(self, spot: ProfilePoint, parent: ProfileNode | None = None) -> None:
        self.spot = spot
        self.parent = parent
        self.children: dict[ProfilePoint, ProfileNode] = {}
        self.calls = self.total = self.inner = self.bytes = 0

    @property
    def own(self) -> int:
        """The nanoseconds without those of nested nodes."""
        return self.total - self.inner


class Event(NamedTuple):
    """One call: its start, and its duration including the recording overhead, in nanoseconds.

    In native code one event may stand for several calls, as if they had followed each other.
    """

    spot: ProfilePoint
    start: int
    duration: int
    calls: int = 1


class Measured(NamedTuple):
    """A measurement of native code for one point: `around` is the index of the enclosing one, or -1."""

    spot: ProfilePoint
    around: int
    calls: int
    own: int
    bytes: int


class ThreadRecorder:
    """The record of one thread."""

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self.root = self._node = ProfileNode(ProfilePoint("root", thread))
        self.events: list[Event] = []
        self.dropped = 0
        self._open: list[tuple[int, int]] = []  # the start of each open call, and the overhead until then
        self._lost = 0

    def enter(self, spot: ProfilePoint) -> None:
        """Record the start of a call."""
        before = clock()
        node = self._node.children.get(spot)
        if node is None:
            node = self._node.children[spot] = ProfileNode(spot, self._node)
        self._node = node
        start = clock()
        self._lost += start - before
        self._open.append((start, self._lost))

    def leave(self, results: Sequence[object] = ()) -> None:
        """Record the end of the last open call, and its results."""
        now = clock()
        start, lost = self._open.pop()
        node = self._node
        took = now - start - (self._lost - lost)
        node.calls += 1
        node.total += took
        for result in results:
            if type(result) is np.ndarray and result.base is None:
                node.bytes += result.nbytes
        if len(self.events) < MOST_EVENTS:
            self.events.append(Event(node.spot, start, now - start))
        else:
            self.dropped += 1
        parent = node.parent
        assert parent is not None
        parent.inner += took
        self._node = parent
        self._lost += clock() - now

    def measured(self, notes: Sequence[Measured], start: int) -> None:
        """Add measurements to the open call, one after the other; each comes after the one that encloses it."""
        totals = [note.own for note in notes]
        for i in range(len(notes) - 1, -1, -1):
            if notes[i].around >= 0:
                totals[notes[i].around] += totals[i]
        nodes: list[ProfileNode] = []
        begins: list[int] = []
        # The start of the next call within each; the last entry: at the top.
        free = [start] * (len(notes) + 1)
        for note, total in zip(notes, totals, strict=True):
            parent = nodes[note.around] if note.around >= 0 else self._node
            node = parent.children.get(note.spot) or ProfileNode(note.spot, parent)
            nodes.append(node)
            begins.append(free[note.around])
            free[len(nodes) - 1] = free[note.around]
            free[note.around] += total
            if note.calls:
                parent.children[note.spot] = node
                node.calls += note.calls
                node.total += total
                node.bytes += note.bytes
                parent.inner += total
                if len(self.events) < MOST_EVENTS:
                    self.events.append(Event(note.spot, begins[-1], total, note.calls))
                else:
                    self.dropped += 1

    def depth(self) -> int:
        """Return the number of open calls."""
        return len(self._open)

    def leave_to(self, depth: int) -> None:
        """End the calls beyond this depth; an exception may leave several open."""
        while len(self._open) > depth:
            self.leave()


class ProfileSession:
    """The records of all threads, from the session's start to its end."""

    def __init__(self) -> None:
        self.recorders: list[ThreadRecorder] = []
        self.started = clock()
        self.ended = self.started
        self._lock = threading.Lock()

    def end(self) -> None:
        """End the session."""
        self.ended = clock()

    def recorder(self) -> ThreadRecorder:
        """Return the recorder of this thread."""
        found = getattr(_here, "recorder", None)
        if found is None or _here.session is not self:
            _here.session = self
            found = _here.recorder = ThreadRecorder(threading.current_thread().name)
            with self._lock:
                self.recorders.append(found)
        return found


_here = threading.local()


def enter(spot: ProfilePoint) -> None:
    """Record the start of a call in this thread, which must have a recorder."""
    _here.recorder.enter(spot)


def leave(*results: object) -> None:
    """Record the end of the last open call in this thread."""
    _here.recorder.leave(results)
