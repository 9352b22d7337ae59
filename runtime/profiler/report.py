"""The report of a profile: rows for operations and lines, a text, a trace for Perfetto, a page with a flame graph."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agc.autograph.api import shown_path

from ..core import late_binding
from ..ir.source_location import Origin
from ..storage.gfile import GFile
from .recorder import ProfileNode, ProfilePoint, ProfileSession, ThreadRecorder

_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000))
_SIZES = (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))


class ReportRow(NamedTuple):
    """One operation of one line: calls, nanoseconds in total and without nested operations, bytes of results.

    >>> import agc.runtime as tf
    >>> report = tf.profiler.profile(tf.function(lambda x: x @ x), tf.eye(2))
    >>> [(row.name, row.calls, row.bytes) for row in report.rows if row.name == "matmul"]
    [('matmul', 1, 16)]
    """

    name: str
    origin: Origin | None
    calls: int
    total: int
    own: int
    bytes: int


class Report:
    """The results of a session. Attributes: `result`, the profiled function's return value, if any.

    `str(report)` is the text.

    >>> import agc.runtime as tf
    >>> report = tf.profiler.profile(tf.function(lambda x: x @ x), tf.eye(2))
    >>> report.result.shape, "matmul" in [row.name for row in report.rows]
    (TensorShape([2, 2]), True)
    """

    def __init__(self, session: ProfileSession, result: Any = None) -> None:
        self.recorders: list[ThreadRecorder] = [each for each in session.recorders if each.root.children]
        self.started = session.started
        self.wall = session.ended - session.started
        self.result = result

    @property
    def in_graphs(self) -> int:
        """The nanoseconds that graphs ran, in all threads."""
        return sum(each.root.inner for each in self.recorders)

    def nodes(self) -> Iterator[ProfileNode]:
        """Yield all nodes, each before the nodes nested in it."""
        pending = [each.root for each in reversed(self.recorders)]
        while pending:
            node = pending.pop()
            if node.parent is not None:
                yield node
            pending.extend(reversed(node.children.values()))

    @property
    def rows(self) -> list[ReportRow]:
        """The operations, summed by name and line, sorted by their own time."""
        return _summed((node.spot.name, node.spot.origin, node) for node in self.nodes())

    @property
    def lines(self) -> list[ReportRow]:
        """The lines of the program, sorted by their own time; the name is the line's text."""
        return _summed((_text_of(node.spot.origin), node.spot.origin, node) for node in self.nodes())

    def text(self, most: int = 30) -> str:
        """Return the operations and the lines that took longest, as two tables."""
        count = sum(node.calls for node in self.nodes() if node.spot.kind == "operation")
        head = f"{count} operations, {duration(self.in_graphs)} in graphs of {duration(self.wall)} in all"
        dropped = sum(each.dropped for each in self.recorders)
        if dropped:
            head += f" (of which {dropped} only counted: they are not in the trace)"
        return "\n".join([head, "", *self._table("operation", self.rows, most), "", *self._by_line(most), ""])

    def _by_line(self, most: int) -> list[str]:
        return self._table("source", self.lines, most)

    def _table(self, title: str, rows: list[ReportRow], most: int) -> list[str]:
        whole = self.in_graphs or 1
        width = max([len(title), *[len(row.name) for row in rows[:most]]], default=0)
        lines = [
            f"{'share':>6} {'self':>9} {'total':>9} {'calls':>8} {'bytes':>9}  {title:<{width}}  line".rstrip()
        ]
        for row in rows[:most]:
            numbers = (
                f"{row.own / whole:>6.1%} {duration(row.own):>9} {duration(row.total):>9} {row.calls:>8} "
                f"{size(row.bytes):>9}"
            )
            lines.append(f"{numbers}  {row.name:<{width}}  {place(row.origin)}".rstrip())
        if len(rows) > most:
            lines.append(f"… and {len(rows) - most} more")
        return lines

    def trace(self) -> dict[str, Any]:
        """Return the calls in the Trace Event format, which chrome://tracing and ui.perfetto.dev show."""
        return late_binding.trace_events.timeline(self)

    def page(self) -> str:
        """Return a flame graph as a standalone page: width is time; nested calls are drawn below their caller."""
        return late_binding.flame_graph.page(self)

    def write_trace(self, path: str) -> None:
        """Write `trace()` to a file, as JSON; compressed when the name ends in `.gz`."""
        late_binding.trace_events.write(self, path)

    def write_page(self, path: str) -> None:
        """Write `page()` to a file."""
        with GFile(path, "w") as file:
            file.write(self.page())

    def _repr_html_(self) -> str:
        from ..core.html_repr import folded_html, rows_html, text_html

        head, _, _ = self.text().partition("\n")
        whole = self.in_graphs or 1
        tables = [
            (
                title,
                [
                    (f"{row.own / whole:.1%}", duration(row.own), str(row.calls), row.name, place(row.origin))
                    for row in rows
                ],
            )
            for title, rows in (("Operations", self.rows[:30]), ("Lines", self.lines[:30]))
        ]
        columns = ["share", "self", "calls", "name", "line"]
        parts = [folded_html(title, rows_html(columns, rows), is_open=True) for title, rows in tables]
        return text_html(head) + "".join(parts)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report: {duration(self.in_graphs)} in graphs, {len(self.rows)} rows>"


def _summed(parts: Iterable[tuple[str, Origin | None, ProfileNode]]) -> list[ReportRow]:
    found: dict[tuple[str, Origin | None], ReportRow] = {}
    inside: dict[ProfileNode, set[Any]] = {}
    for name, origin, node in parts:
        key = name, origin
        around = inside.get(node.parent, set()) if node.parent is not None else set()
        inside[node] = around | {key}
        row = found.get(key, ReportRow(name, origin, 0, 0, 0, 0))
        total = 0 if key in around else node.total  # time within itself is not counted twice
        found[key] = ReportRow(
            name,
            origin,
            row.calls + node.calls,
            row.total + total,
            row.own + node.own,
            row.bytes + node.bytes,
        )
    return sorted(found.values(), key=lambda row: -row.own)


def _text_of(origin: Origin | None) -> str:
    return "" if origin is None else linecache.getline(origin.filename, origin.line).strip()


def place(origin: Origin | None) -> str:
    """Return a line as the tables show it, with the file name relative to the working directory.

    >>> import os
    >>> place(None), place(Origin(os.path.abspath("train.py"), 7, "fit"))
    ('', 'train.py:7, in fit')
    """
    if origin is None:
        return ""
    return str(origin._replace(filename=shown_path(origin.filename)))


def label(spot: ProfilePoint) -> str:
    """Return a short text for a profile point: `multiply → y`."""
    return f"{spot.name} → {spot.result}" if spot.result else spot.name


def duration(nanoseconds: int) -> str:
    for unit, least in _UNITS:
        if nanoseconds >= least:
            if nanoseconds < 1000 * least:
                return f"{nanoseconds / least:.3g} {unit}"
            return f"{nanoseconds // least} {unit}"
    return f"{nanoseconds} ns"


def size(count: int) -> str:
    """Return a number of bytes as text.

    >>> size(12), size(1536), size(5 << 20)
    ('12 B', '1.5 kB', '5.0 MB')
    """
    for unit, least in _SIZES:
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} B"
