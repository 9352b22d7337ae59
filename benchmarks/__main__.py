"""The command `python -m benchmarks`; see the package's docstring."""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform
import sys
from collections.abc import Sequence

import numpy as np

from . import measuring, models, picture, report, tables
from .contestants import REFERENCE
from .figures import Figures
from .workloads import GROWTH, LOOPS, MODELS, TABLE

OF_MEMORY = ("chain", "RNN gradient", "MLP", *LOOPS)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    if options.draw:
        print(report.text(figures := Figures.read(options.draw)))
        options.draw.with_suffix(".svg").write_text(picture.drawn(figures))
        tables.DOCUMENT.write_text(tables.written(tables.DOCUMENT.read_text(), figures))
        return
    figures = Figures(_machine(options))
    try:
        _measured(figures, options)
    finally:  # Ctrl-C ends a long run, and keeps what it has found
        print(report.text(figures))
        if options.json:
            figures.write(options.json)
            options.json.with_suffix(".svg").write_text(picture.drawn(figures))
    if figures.unequal:
        names = ", ".join(
            f"{name} for {workload}" for workload, row in figures.unequal.items() for name in row
        )
        raise SystemExit(f"other results than {REFERENCE}: {names}")


def _measured(figures: Figures, options: argparse.Namespace) -> None:
    pythons = [sys.executable, *options.peer]
    with measuring.processes([sys.executable], [REFERENCE]) as asked:
        figures.machine["blas"] = asked[REFERENCE].ask("blas")["name"]
    if not options.models:
        _measured_programs(figures, options, pythons)
    for model in (name for name in MODELS if options.only in name):
        _told(model)
        models.measure(
            figures, pythons, options.contestant, model, options.size, options.rounds, options.neighbors
        )


def _measured_programs(figures: Figures, options: argparse.Namespace, pythons: Sequence[str]) -> None:
    workloads = [name for name in [*TABLE, *GROWTH] if options.only in name]
    with measuring.processes(pythons, options.contestant) as asked:
        measurement = measuring.Measurement(figures, asked, options.size)
        for workload in workloads:
            _told(workload)
            measurement.compare(workload)
        for number in range(options.rounds):
            _told(f"round {number + 1}")
            for workload in workloads:
                measurement.measure(workload, figures.calls)
            for workload in workloads if number < options.first_calls - 1 else ():
                measurement.first_calls(workload)
        if not options.only:
            measuring.imports(figures, asked, options.rounds)
    of_memory = [name for name in OF_MEMORY if options.only in name]
    measuring.memory(figures, pythons, options.contestant, options.size, of_memory)


def _told(what: str) -> None:
    if sys.stderr.isatty():
        print(what, file=sys.stderr)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description="Measure agc, and the peers that are installed."
    )
    parser.add_argument(
        "--peer",
        metavar="PYTHON",
        action="append",
        default=[python for python in os.environ.get("AGC_BENCHMARK_PEERS", "").split(os.pathsep) if python],
        help="an interpreter that has libraries of requirements.txt, besides those of $AGC_BENCHMARK_PEERS",
    )
    parser.add_argument("--rounds", type=int, default=7, help="how many figures of everything (default: 7)")
    parser.add_argument("--first-calls", type=int, default=5, help="… and of first calls (default: 5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="the workloads with this in their names")
    parser.add_argument("--models", action="store_true", help="only whole models")
    parser.add_argument(
        "--neighbors",
        type=int,
        default=1,
        metavar="N",
        help="spinning processes next to the models on the busy machine (default: 1)",
    )
    parser.add_argument("--contestant", action="append", default=[], metavar="NAME", help="these, and NumPy")
    parser.add_argument("--size", choices=("full", "tiny"), default="full", help="tiny is for trying it out")
    parser.add_argument(
        "--json", type=pathlib.Path, metavar="FILE", help="keep the figures there, and a picture"
    )
    parser.add_argument(
        "--draw",
        type=pathlib.Path,
        metavar="FILE",
        help="measure nothing, show kept figures, also in documents",
    )
    return parser.parse_args(arguments)


def _machine(options: argparse.Namespace) -> dict[str, object]:
    return {
        "date": datetime.date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "rounds": options.rounds,
        "neighbors": options.neighbors,
        "size": options.size,
    }


def _processor() -> str:
    information = pathlib.Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
