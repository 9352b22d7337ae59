"""The figures as text: a row for each workload, a column for each contestant; then the targets."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from .contestants import CONTESTANTS
from .figures import Figures, Table, slowdowns, spread
from .targets import Verdict, verdicts
from .workloads import MODELS

NAMES = [contestant.name for contestant in CONTESTANTS]


def text(figures: Figures) -> str:
    """All of it."""
    names = figures.contestants(NAMES)
    machine = figures.machine
    about = f"{machine.get('processor', '')}, {machine.get('cores', '')} cores, {machine.get('blas', 'unknown BLAS')}"
    programs = {name: row for name, row in figures.calls.items() if name not in MODELS}
    parts = [
        ("later calls, µs (median ±half the interquartile range)", _rows(figures, programs, names)),
        ("first calls: conversion, tracing, compilation, one run, ms", _rows(figures, figures.firsts, names)),
        ("first calls over later ones, ms", _rows(figures, figures.overheads, names)),
        ("memory that two runs add to the process, MB", _rows(figures, figures.memory, names)),
        ("models: later calls, ms", _rows(figures, _in_milliseconds(figures.calls), names)),
        (
            "models: later calls next to spinning processes, ms",
            _rows(figures, _in_milliseconds(figures.busy), names),
        ),
        ("models: times as long next to spinning processes", _rows(figures, slowdowns(figures), names)),
        ("models: the first call in a new process, ms", _rows(figures, figures.colds, names)),
        ("models: the most memory of the process, MB", _rows(figures, figures.peaks, names)),
    ]
    shown = [
        f"{title}\n{aligned(_without_empty_columns([['', *names], *rows]))}" for title, rows in parts if rows
    ]
    shown.insert(0, about)
    imports = [[name, _shown(times)] for name, times in figures.imports.items()]
    shown += [f"import over NumPy's, ms\n{aligned(imports)}"] if imports else []
    for title, reasons in (("other results", figures.unequal), ("no figures", figures.missing)):
        shown += [f"{title}\n{aligned(_reasons(reasons))}"] if reasons else []
    shown += [f"targets\n{aligned(map(_verdict, found))}"] if (found := list(verdicts(figures))) else []
    return "\n\n".join(shown)


def _in_milliseconds(table: Table) -> Table:
    return {
        name: {contestant: [value / 1e3 for value in values] for contestant, values in row.items()}
        for name, row in table.items()
        if name in MODELS
    }


def _rows(figures: Figures, table: Table, names: Sequence[str]) -> list[list[str]]:
    return [
        [figures.titles.get(workload, workload), *(_shown(row.get(name, ())) for name in names)]
        for workload, row in table.items()
    ]


def _reasons(table: Mapping[str, Mapping[str, str]]) -> Iterable[list[str]]:
    return ([workload, name, reason] for workload, row in table.items() for name, reason in row.items())


def _verdict(verdict: Verdict) -> list[str]:
    shown = f"{number(verdict.value)} ±{number(verdict.spread)}" if verdict.spread else number(verdict.value)
    return [verdict.word, verdict.what, f"{shown} {verdict.unit}", f"≤ {number(verdict.most)}"]


def _shown(times: Sequence[float]) -> str:
    if not times:
        return ""
    middle = number(statistics.median(times))
    return f"{middle} ±{number(spread(times))}" if len(times) > 1 else middle


def _without_empty_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    columns = [column for column in zip(*rows, strict=True) if not column[0] or any(column[1:])]
    return [list(row) for row in zip(*columns, strict=True)]


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Rows in columns.

    >>> print(aligned([["power", "15"], ["x", "1"]]))
    power  15
    x      1
    """
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def number(value: float) -> str:
    """Three digits, with thousands apart.

    >>> number(12345.6), number(0.01234), number(0.0)
    ('12,346', '0.0123', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"
