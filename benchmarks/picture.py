"""The figures as one picture: a line for each workload, a dot for each contestant, how many times the limit it takes.

    Whole models
    CNN            ╎  ● ○  ○
                   1       10      100          (logarithmic)
    Small programs
    power          ╎  ●        ●   ○    ○
    Collatz        ●     ○  ●           ○
                   1       10      100          (logarithmic)

Without a limit, the fastest contestant is 1. Dots that would hide each other are drawn one below the other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from html import escape

from .contestants import CONTESTANTS, LIMIT
from .figures import Figures
from .report import number
from .workloads import MODELS, TABLE

COLORS = {
    "agc eager": "#f4a582", "agc plan": "#e8703a", "agc automatic": "#f2b134", "agc native": "#b2182b",
    "TF eager": "#b5c7e3", "TF graph": "#2166ac", "TF XLA": "#67a9cf",
    "JAX": "#1b7837", "torch": "#762a83", "torch compiled": "#c2a5cf", "numba": "#8c6d1f", "NumPy": "#777777",
}  # fmt: skip
PANELS = {"Whole models": (MODELS, 2), "Small programs": (TABLE, 6)}
"""Their workloads, and how many decades they show at most: dots that are farther away are drawn at the end."""
LEFT, RIGHT, ROW, TOP, FOOT, WIDTH = 330, 60, 36, 84, 32, 1000
LEGEND = 6  # names a line
LANES = (0, -10, 10)  # above and below the line of a workload
FONT = 'font-family="sans-serif" font-size="13"'


def drawn(figures: Figures) -> str:
    """The text of an SVG file."""
    panels = {
        title: rows
        for title, (names, _) in PANELS.items()
        if (rows := {name: medians for name in names if (medians := _medians(figures, name))})
    }
    height = TOP + sum(ROW * (len(rows) + 2) for rows in panels.values()) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *_legend(figures),
    ]
    top = TOP
    for title, rows in panels.items():
        parts += _panel(figures, title, rows, top)
        top += ROW * (len(rows) + 2)
    return "\n".join([*parts, *_foot(figures, height), "</svg>", ""])


def _panel(figures: Figures, title: str, rows: Mapping[str, Mapping[str, float]], top: int) -> Iterator[str]:
    """A heading, the lines of its workloads, and below them a scale of its own."""
    shown = (_times(row)[name] for row in rows.values() for name in row if name in COLORS)
    far = max(shown, default=10.0)
    decades = min(max(1, math.ceil(math.log10(far))), PANELS[title][1])
    yield f'<text x="12" y="{top + ROW / 2 + 6}" font-size="15" font-weight="bold">{title}</text>'
    yield from _grid(decades, top + ROW * 0.75, top + ROW * (len(rows) + 1))
    for index, (name, row) in enumerate(rows.items()):
        yield from _row(figures.titles[name], row, top + ROW * (index + 1.5), decades)


def _medians(figures: Figures, workload: str) -> dict[str, float]:
    return {name: statistics.median(times) for name, times in figures.calls.get(workload, {}).items()}


def _times(row: Mapping[str, float]) -> dict[str, float]:
    """How many times the limit each takes."""
    least = row.get(LIMIT, min(row.values()))
    return {name: time / least for name, time in row.items()}


def _place(times: float, decades: int) -> float:
    # Half a decade is left of the limit, for contestants that beat it.
    share = (math.log10(min(max(times, 0.33), 10.0**decades)) + 0.5) / (decades + 0.5)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _legend(figures: Figures) -> Iterator[str]:
    names = [name for name in figures.contestants([c.name for c in CONTESTANTS]) if name in COLORS]
    yield '<text x="12" y="24" font-size="16">Time of a call, as a multiple of the limit: C, or bare BLAS</text>'
    for index, name in enumerate(names):
        x, y = 18 + index % LEGEND * 160, 48 + index // LEGEND * 22
        yield f'<circle cx="{x}" cy="{y}" r="{_radius(name)}" fill="{COLORS[name]}"/>'
        yield f'<text x="{x + 12}" y="{y + 4}">{escape(name)}</text>'


def _grid(decades: int, top: float, bottom: float) -> Iterator[str]:
    for power in range(decades + 1):
        x = _place(10.0**power, decades)
        color = "#444" if power == 0 else "#ddd"
        yield f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{color}"/>'
        label = f"{number(10.0**power)} times" if power else "limit"
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{label}</text>'


def _row(title: str, row: Mapping[str, float], y: float, decades: int) -> Iterator[str]:
    yield f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#eee"/>'
    yield f'<text x="12" y="{y + 4}">{escape(title)}</text>'
    places = {name: _place(times, decades) for name, times in _times(row).items() if name in COLORS}
    lanes = _lanes(places)
    for name in sorted(places, key=_is_ours):  # ours are drawn last, on top
        place = f'cx="{places[name]:.1f}" cy="{y + lanes[name]}" r="{_radius(name)}"'
        note = f"{name}: {number(row[name])} µs"
        yield f'<circle {place} fill="{COLORS[name]}" fill-opacity="0.85">'
        yield f"<title>{escape(note)}</title></circle>"


def _lanes(places: Mapping[str, float]) -> dict[str, int]:
    """How far from the line each dot is: in the lane whose last dot is far enough, or the farthest away."""
    last = dict.fromkeys(LANES, -math.inf)
    found = {}
    for name in sorted(places, key=lambda name: places[name]):
        free = [lane for lane in LANES if places[name] - last[lane] > 13]
        found[name] = lane = free[0] if free else min(LANES, key=lambda lane: last[lane])
        last[lane] = places[name]
    return found


def _is_ours(name: str) -> bool:
    return name.startswith("agc")


def _radius(name: str) -> int:
    return 7 if _is_ours(name) else 5


def _foot(figures: Figures, height: int) -> Iterator[str]:
    machine = figures.machine
    about = (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, Python {machine['python']}, "
        f"NumPy {machine['numpy']}; medians of {machine['rounds']} rounds. Where there is no limit, the fastest is 1."
    )
    yield f'<text x="12" y="{height - 12}" font-size="12" fill="#555">{escape(about)}</text>'
