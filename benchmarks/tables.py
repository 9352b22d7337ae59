"""The figures of whole models as a table of Markdown, which is in docs/performance.md between two marks.

| ms per step (first call, peak memory) | agc | agc, `jit_compile=True` | TensorFlow | … |
| CNN 28x28 training step, momentum | **8.1** (0.11 s, 190 MB) | …
"""

from __future__ import annotations

import re
import statistics

from .contestants import LIMIT
from .figures import Figures, slowdowns
from .processes import ROOT
from .report import number
from .workloads import MODELS

DOCUMENT = ROOT / "docs/performance.md"
BEGIN, END = "<!-- models: written by python -m benchmarks --draw -->\n", "<!-- end of models -->\n"

COLUMNS = {
    "agc": ("agc automatic", "agc eager"), "agc, native": ("agc native",), "TensorFlow": ("TF graph", "TF eager"),
    "XLA": ("TF XLA",), "JAX": ("JAX",), "PyTorch": ("torch",), "torch.compile": ("torch compiled",), "BLAS": (LIMIT,),
}  # fmt: skip
"""The contestants of each column: a program without graphs has figures of the second."""


def markdown(figures: Figures) -> str:
    """Return the lines of two tables: alone, and next to spinning processes."""
    models = [model for model in MODELS if model in figures.calls]
    if not models:
        return ""
    columns = {
        title: names for title, names in COLUMNS.items() if any(_of(figures, m, names) for m in models)
    }
    header = ["model", *columns]
    alone, busy = (
        [
            [figures.titles[m], *(text(figures, m, _of(figures, m, names)) for names in columns.values())]
            for m in models
        ]
        for text in (_step, _slowdown)
    )
    spinning = figures.machine.get("neighbors", figures.machine.get("cores"))
    return (
        "Milliseconds per step, in brackets the first call of a new process and the peak of its memory. The fastest\n"
        f"library is in bold:\n\n{_table(header, alone)}\n"
        f"Times as long next to spinning processes ({spinning}):\n\n{_table(header, busy)}"
    )


def _of(figures: Figures, model: str, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in figures.calls[model]), None)


def _step(figures: Figures, model: str, name: str | None) -> str:
    if name is None:
        return "-"
    row = {each: statistics.median(times) for each, times in figures.calls[model].items()}
    shown = number(row[name] / 1e3)
    if name == LIMIT:
        return shown
    if row[name] == min(
        row[each] for names in COLUMNS.values() for each in names if each in row and each != LIMIT
    ):
        shown = f"**{shown}**"
    first = statistics.median(figures.colds[model][name]) / 1e3
    peak = figures.peaks.get(model, {}).get(name)
    return f"{shown} ({number(first)} s, {number(peak[0])} MB)" if peak else f"{shown} ({number(first)} s)"


def _slowdown(figures: Figures, model: str, name: str | None) -> str:
    times = slowdowns(figures).get(model, {}).get(name or "")
    return number(statistics.median(times)) if times else "-"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def written(document: str, figures: Figures) -> str:
    """Return the document with the tables of the figures between its marks."""
    text = f"{BEGIN}{markdown(figures)}{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: text, document, flags=re.DOTALL)
