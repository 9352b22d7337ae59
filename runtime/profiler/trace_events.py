"""A profile in the Trace Event format: one complete event (`"ph": "X"`) for each call, microseconds from the start."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any

from ..storage.gfile import GFile
from .recorder import Event
from .report import label, place

if TYPE_CHECKING:
    from .report import Report


def timeline(report: Report) -> dict[str, Any]:
    """Return the events of a report, those of each thread in the order of their start."""
    events: list[dict[str, Any]] = []
    for number, recorder in enumerate(report.recorders, start=1):
        events.append({
            "ph": "M", "name": "thread_name", "pid": os.getpid(), "tid": number, "args": {"name": recorder.thread},
        })  # fmt: skip
        ordered = sorted(recorder.events, key=lambda event: (event.start, -event.duration))
        events += [_as_json(event, number, report.started) for event in ordered]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _as_json(event: Event, thread: int, started: int) -> dict[str, Any]:
    spot = event.spot
    found: dict[str, Any] = {
        "ph": "X",
        "name": label(spot),
        "cat": spot.kind,
        "ts": (event.start - started) / 1000,
        "dur": event.duration / 1000,
        "pid": os.getpid(),
        "tid": thread,
    }
    arguments: dict[str, Any] = {} if spot.origin is None else {"line": place(spot.origin)}
    if event.calls > 1:
        arguments["calls"] = event.calls
    if arguments:
        found["args"] = arguments
    return found


def write(report: Report, path: str) -> None:
    """Write the events to a file; compressed when its name ends in `.gz`."""
    content = json.dumps(timeline(report)).encode()
    with GFile(path, "wb") as file:
        file.write(gzip.compress(content) if path.endswith(".gz") else content)
