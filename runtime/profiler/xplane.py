"""A profile as an XSpace message, the form that TensorBoard's profile plug-in (the package xprof) reads.

matmul at settle.py:9, 3 µs long   ==>   XSpace > XPlane "/host:CPU" > XLine of the thread > XEvent "matmul/y:matmul"

Names and lines are stored once in the plane; events refer to them by number. The numbers of the fields are those of
TensorFlow's `xplane.proto`.
"""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

from ..storage.protobuf import field
from .recorder import Event, ProfilePoint, ThreadRecorder
from .report import label, place

if TYPE_CHECKING:
    from .report import Report

_PICO = 1000  # picoseconds of a nanosecond


class _Numbers:
    """Numbers of names, counted from one."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of) + 1)

    def entries(self, number: int) -> bytes:
        """Return the names as a map field: by number, a message of number and name."""
        return b"".join(
            field(number, field(1, key) + field(2, field(1, key) + field(2, name)))
            for name, key in self.of.items()
        )


def encoded(report: Report) -> bytes:
    """Return the events of a report as an XSpace message.

    >>> import agc.runtime as tf
    >>> report = tf.profiler.profile(tf.function(lambda x: x @ x), tf.eye(2))
    >>> b"/host:CPU" in encoded(report) and b"matmul" in encoded(report)
    True
    """
    names, kinds = _Numbers(), _Numbers()
    lines = b"".join(
        field(3, _line(number, each, report, names, kinds))
        for number, each in enumerate(report.recorders, start=1)
    )
    plane = field(1, 1) + field(2, "/host:CPU") + lines + names.entries(4) + kinds.entries(5)
    return field(1, plane) + field(4, socket.gethostname())


def _line(number: int, recorder: ThreadRecorder, report: Report, names: _Numbers, kinds: _Numbers) -> bytes:
    ordered = sorted(recorder.events, key=lambda event: (event.start, -event.duration))
    events = b"".join(field(4, _event(each, report.started, names, kinds)) for each in ordered)
    return field(1, number) + field(2, recorder.thread) + events


def _event(event: Event, started: int, names: _Numbers, kinds: _Numbers) -> bytes:
    """Return an event: its name, its start and duration in picoseconds, and its line in the program."""
    spot = event.spot
    stats = [field(1, kinds["calls"]) + field(4, event.calls)] if event.calls > 1 else []
    if spot.origin is not None:
        stats.append(field(1, kinds["line"]) + field(5, place(spot.origin)))
    times = field(2, (event.start - started) * _PICO) + field(3, event.duration * _PICO)
    return field(1, names[_name(spot)]) + times + b"".join(field(4, each) for each in stats)


def _name(spot: ProfilePoint) -> str:
    """Return the name of an event; the plug-in reads `name:type` as an operation of a graph.

    >>> _name(ProfilePoint("operation", "fused tanh+multiply", result="x.1"))
    'fused_tanh_multiply/x.1:fused_tanh_multiply'
    """
    if spot.kind != "operation":
        return label(spot)
    kind = re.sub("[^A-Za-z0-9]+", "_", spot.name)
    return f"{kind}/{spot.result}:{kind}" if spot.result else f"{kind}:{kind}"
