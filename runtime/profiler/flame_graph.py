"""A profile as a flame graph: a standalone page without scripts. The width of a bar is its time.

┌──────────────────────────────────┐
│ train                            │
├────────────────────┬─────────────┤
│ while              │ reduce_sum  │     nested calls are drawn below their caller
├────────┬─────────┬─┴─────────────┘
│ matmul │ tanh    │
└────────┴─────────┘
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from .recorder import ProfileNode
from .report import duration, label, place, size

if TYPE_CHECKING:
    from .report import Report

WIDTH = 1200.0
HEIGHT = 18
NARROWEST = 0.3  # narrower bars are left out
_LETTER = 6.6

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Profile</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 1.5em; }}
svg {{ width: 100%; font: 11px ui-monospace, monospace; }}
rect {{ stroke: white; stroke-width: 0.5; }}
g:hover > rect {{ stroke: black; stroke-width: 1.5; }}
pre {{ font: 12px ui-monospace, monospace; }}
</style>
</head>
<body>
<h1>Profile</h1>
<p>{summary}</p>
<svg viewBox="0 0 {width:.0f} {height}" role="img">
{bars}
</svg>
<pre>{table}</pre>
</body>
</html>
"""


class _Bar(NamedTuple):
    node: ProfileNode
    left: float
    width: float
    depth: int


def page(report: Report) -> str:
    """Return the page for a report."""
    bars = list(_bars(report))
    rows = 1 + max((bar.depth for bar in bars), default=0)
    head, _, table = report.text().partition("\n")
    return _PAGE.format(
        summary=escape(head),
        width=WIDTH,
        height=rows * HEIGHT,
        bars="\n".join(_drawn(bar, report.in_graphs) for bar in bars),
        table=escape(table.strip("\n")),
    )


def _bars(report: Report) -> Iterator[_Bar]:
    scale = WIDTH / (report.in_graphs or 1)
    pending: list[_Bar] = []
    left = 0.0
    for recorder in report.recorders:
        pending += _side_by_side(recorder.root, left, 0, scale)
        left += recorder.root.inner * scale
    while pending:
        bar = pending.pop()
        if bar.width >= NARROWEST:
            yield bar
            pending += _side_by_side(bar.node, bar.left, bar.depth + 1, scale)


def _side_by_side(node: ProfileNode, left: float, depth: int, scale: float) -> Iterator[_Bar]:
    for child in node.children.values():
        width = child.total * scale
        yield _Bar(child, left, width, depth)
        left += width


def _drawn(bar: _Bar, whole: int) -> str:
    node = bar.node
    top = bar.depth * HEIGHT
    name = label(node.spot)
    letters = int((bar.width - 4) / _LETTER)
    shown = name if len(name) <= letters else f"{name[: letters - 1]}…" if letters > 2 else ""
    share = node.total / (whole or 1)
    hover = [
        name,
        place(node.spot.origin),
        f"{duration(node.total)} ({share:.1%}), {duration(node.own)} of its own, in {node.calls} calls",
        f"{size(node.bytes)} of new arrays" if node.bytes else "",
    ]
    title = escape("\n".join(filter(None, hover)))
    hue = zlib.crc32(node.spot.name.encode()) % 60
    return (
        f'<g><title>{title}</title><rect x="{bar.left:.2f}" y="{top}" width="{bar.width:.2f}" height="{HEIGHT}" '
        f'fill="hsl({hue}, 85%, 68%)"/><text x="{bar.left + 3:.2f}" y="{top + 13}">{escape(shown)}</text></g>'
    )
