"""What was measured, as plain data that is kept as JSON, and what is read off it.

figures.calls["power"]["agc plan"]      microseconds of later calls, one for each round
figures.firsts["power"]["agc plan"]     milliseconds of the call that traces and compiles
figures.overheads["power"]["agc plan"]  … of it, what a later call does not take
figures.colds["CNN"]["agc plan"]        milliseconds of the first call in a new process
figures.peaks["CNN"]["agc plan"]        megabytes: the most memory of that process, with its libraries
figures.busy["CNN"]["agc plan"]         microseconds of later calls while other processes spin
figures.memory["chain"]["agc plan"]     megabytes that two runs add to the most that the process took
figures.imports["agc"]                  milliseconds
figures.missing["power"]["numba"]       why there is no figure
figures.unequal["power"]["numba"]       … where its result is another than NumPy's by hand
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

Table = dict[str, dict[str, list[float]]]


@dataclasses.dataclass
class Figures:
    machine: dict[str, Any]
    titles: dict[str, str] = dataclasses.field(default_factory=dict)
    calls: Table = dataclasses.field(default_factory=dict)
    firsts: Table = dataclasses.field(default_factory=dict)
    overheads: Table = dataclasses.field(default_factory=dict)
    colds: Table = dataclasses.field(default_factory=dict)
    peaks: Table = dataclasses.field(default_factory=dict)
    busy: Table = dataclasses.field(default_factory=dict)
    memory: Table = dataclasses.field(default_factory=dict)
    imports: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    missing: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    unequal: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)

    def write(self, path: pathlib.Path) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, path: pathlib.Path) -> Figures:
        return cls(**json.loads(path.read_text()))

    def contestants(self, order: Sequence[str]) -> list[str]:
        """Return the contestants that have a figure."""
        present = {name for row in self.calls.values() for name in row}
        return [name for name in order if name in present]


def slowdowns(figures: Figures) -> Table:
    """Return how many times as long the models take next to spinning processes, for each round.

    >>> slowdowns(Figures({}, calls={"CNN": {"JAX": [2.0, 1.0]}}, busy={"CNN": {"JAX": [5.0, 2.0]}}))
    {'CNN': {'JAX': [2.5, 2.0]}}
    """
    return {
        model: {name: ratios(times, figures.calls[model][name]) for name, times in row.items()}
        for model, row in figures.busy.items()
    }


def ratios(ours: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return the ratio of each round: the machine may be slower in another one."""
    return [a / b for a, b in zip(ours, others, strict=False)]


def ratio(ours: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return the median of the rounds' ratios, and half of the range between their quartiles.

    >>> ratio([2.0, 4.0, 2.2], [1.0, 2.0, 1.0])
    (2.0, 0.05)
    """
    found = ratios(ours, others)
    return statistics.median(found), spread(found)


def spread(values: Sequence[float]) -> float:
    """Half of the range between the quartiles.

    >>> spread([1.0, 2.0, 3.0, 4.0, 5.0])
    1.0
    """
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return round((high - low) / 2, 9)
