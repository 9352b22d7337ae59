"""The command `python -m benchmarks.compiler`; see the package's docstring."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import platform
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from ..processes import Process
from . import overhead
from .cases import CASES, Case
from .report import Row, table

IMPORT_TARGET = 60.0
SIZE_TARGET = 3.0


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    cases = [case for case in CASES if options.only in case.name]
    with contextlib.ExitStack() as stack:
        contestants = [stack.enter_context(_process("agc", "agc.runtime", sys.executable))]
        if options.peer:
            contestants.append(stack.enter_context(_process("TensorFlow", "tensorflow", options.peer)))
        rows = list(measured(contestants, cases, options.rounds, options.only))
    print(table(rows))
    if options.json:
        machine = {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": platform.machine(),
        }
        figures = {"rounds": options.rounds, **machine, "rows": [row.as_json() for row in rows]}
        options.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def _process(name: str, library: str, python: str) -> Process:
    return Process(name, library, python, ["benchmarks.compiler.worker", library])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.compiler", description="Measure agc, and TensorFlow if it is installed."
    )
    parser.add_argument(
        "--peer",
        metavar="PYTHON",
        default=os.environ.get("AGC_BENCHMARK_PEER"),
        help="an interpreter that has TensorFlow and NumPy (default: $AGC_BENCHMARK_PEER)",
    )
    parser.add_argument("--rounds", type=int, default=7, help="how many figures of everything (default: 7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases with this in their names")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures there")
    return parser.parse_args(arguments)


IMPORT = "import, over NumPy's"
SIZE = "size of generated code"


def measured(contestants: Sequence[Process], cases: Sequence[Case], rounds: int, only: str) -> Iterator[Row]:
    """The rows of the table; in every round each contestant has its turn."""
    if only in IMPORT:
        yield _imports(contestants, rounds)
    yield from _timed(contestants, cases, rounds)
    if only in SIZE:
        figures = {contestant.name: [contestant.ask("size")["ratio"]] for contestant in contestants}
        yield Row(SIZE, "line", "lines", figures, SIZE_TARGET)
    yield from _overheads(contestants, rounds, only)


def _imports(contestants: Sequence[Process], rounds: int) -> Row:
    figures: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for round_number in range(rounds + 1):
        for contestant in contestants:
            milliseconds = contestant.import_seconds() * 1e3
            if round_number:  # the first writes the bytecode
                figures[contestant.name].append(milliseconds)
    return Row(IMPORT, "process", "ms", figures, IMPORT_TARGET)


def _timed(contestants: Sequence[Process], cases: Sequence[Case], rounds: int) -> Iterator[Row]:
    asked = {case.name: contestants[:1] if case.alone else contestants for case in cases}
    figures: dict[str, dict[str, list[float]]] = {
        case.name: {contestant.name: [] for contestant in asked[case.name]} for case in cases
    }
    for _ in range(rounds):
        for case in cases:
            results = []
            for contestant in asked[case.name]:
                answer = contestant.ask("measure", case.name)
                figures[case.name][contestant.name].append(answer["seconds"] * 1e6)
                results.append(answer["result"])
            _check_equal(case, results)
    for case in cases:
        yield Row(case.name, case.part, "µs", figures[case.name], case.target)


def _overheads(contestants: Sequence[Process], rounds: int, only: str) -> Iterator[Row]:
    for way in overhead.WAYS:
        for name in overhead.NAMES:
            label = f"plain {name.replace('_', ' ')}"
            if only not in label:
                continue
            asked = contestants[:1] if way == "imported" else contestants
            figures = {
                contestant.name: [contestant.ask("overhead", name, way)["ratio"] for _ in range(rounds)]
                for contestant in asked
            }
            yield Row(label, way, "times", figures, overhead.TARGET)


def _check_equal(case: Case, results: Sequence[object]) -> None:
    first, *others = (np.asarray(result) for result in results)
    for other in others:
        same = first.shape == other.shape and (
            np.allclose(first, other, rtol=1e-4, atol=1e-5)
            if first.dtype.kind == "f"
            else np.array_equal(first, other)
        )
        if not same:
            raise SystemExit(f"{case.name}: the results differ:\n{first}\n{other}")


if __name__ == "__main__":
    main()
