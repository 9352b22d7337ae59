"""Figures as a table.

    case             for one    unit  agc          TensorFlow  ratio  target
    while: counting  iteration  µs    0.066 ±0.01  4.4 ±0.4    65.7   ≤ 5 pass

The median of the rounds, ± half of the range in which the middle half of them lies.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..figures import spread
from ..report import aligned, number


class Row(NamedTuple):
    """A case: by contestant, its figures in `unit`, one for each round. Not every contestant has every case."""

    case: str
    part: str
    unit: str
    figures: Mapping[str, Sequence[float]]
    target: float | None = None

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(values) for name, values in self.figures.items()}

    def verdict(self) -> str:
        """Whether the first contestant, which is agc, meets the target."""
        if self.target is None:
            return ""
        return "pass" if next(iter(self.medians().values())) <= self.target else "MISS"

    def as_json(self) -> dict[str, Any]:
        """All of it, as plain data."""
        return self._asdict() | {"medians": self.medians(), "verdict": self.verdict()}


def table(rows: Sequence[Row]) -> str:
    """All rows, in columns; the ratio is the peer's median over agc's.

    >>> print(table([Row("power", "call", "µs", {"agc": [110.0], "TensorFlow": [990.0]}, 200.0)]))
    case   for one  unit  agc     TensorFlow  ratio  target
    power  call     µs    110 ±0  990 ±0      9.0    ≤ 200 pass
    """
    names = list(rows[0].figures)
    header = ["case", "for one", "unit", *names, *(["ratio"] if len(names) > 1 else []), "target"]
    return aligned([header, *(_cells(row, names) for row in rows)])


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    medians = row.medians()
    shown = [
        f"{number(medians[name])} ±{number(spread(row.figures[name]))}" if name in medians else ""
        for name in names
    ]
    first, *others = names
    ratios = [f"{medians[other] / medians[first]:.1f}" if other in medians else "" for other in others]
    target = "" if row.target is None else f"≤ {row.target:g} {row.verdict()}"
    return [row.case, row.part, row.unit, *shown, *ratios, target]
