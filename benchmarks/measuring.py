"""The order of things: everybody once with results compared, then round by round, everybody in turn."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .contestants import BY_NAME, CONTESTANTS, REFERENCE, Contestant
from .figures import Figures
from .processes import ROOT, Process
from .workloads import GROWTH, LOOPS, WORKLOADS

PATIENCE = 2.0
"""Seconds. Who takes longer for a figure gives only one."""

LONGEST = 120.0
"""Seconds. Who takes longer to answer has no figure."""

Processes = Mapping[str, Process]


class UnequalError(Exception):
    """Results that differ: nothing is measured then."""


@contextlib.contextmanager
def processes(pythons: Sequence[str], only: Sequence[str]) -> Iterator[Processes]:
    """A process for each contestant that one of the interpreters has, in the order of the columns."""
    found: dict[str, str] = {}
    for python in pythons:
        for name in json.loads(_output([python, "-m", "benchmarks.worker"])):
            found.setdefault(name, python)
    with contextlib.ExitStack() as stack:
        yield {
            c.name: stack.enter_context(_process(c, found[c.name]))
            for c in CONTESTANTS
            if c.name in found and (not only or c.name in only or c.name == REFERENCE)
        }


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, text=True, capture_output=True).stdout.splitlines()[
        -1
    ]


def _process(contestant: Contestant, python: str) -> Process:
    return Process(contestant.name, contestant.library, python, ["benchmarks.worker", contestant.name])


class Measurement:
    """Fills figures by asking the processes."""

    def __init__(self, figures: Figures, asked: Processes, size: str = "full") -> None:
        self._figures = figures
        self._processes = asked
        self._size = size
        self._slow: set[tuple[str, str]] = set()

    def compare(self, workload: str) -> None:
        """Everybody's first call. Raises UnequalError for a result that differs from what NumPy gives by hand."""
        module = WORKLOADS[workload].load()
        self._figures.titles[workload] = WORKLOADS[workload].title(module)
        answers = {name: self._asked("first", workload, name) for name in self._takers(workload, module)}
        reference = answers[REFERENCE]
        assert reference is not None
        for name, answer in answers.items():
            if answer is not None:
                _check_equal(workload, name, module, reference["result"], answer["result"])
                if name != REFERENCE:
                    _noted(self._figures.firsts, workload, name, answer["seconds"] * 1e3)

    def _takers(self, workload: str, module: Any) -> list[str]:
        peers = not (workload in LOOPS or workload in GROWTH)
        return [
            c.name
            for c in CONTESTANTS
            if c.name in self._processes
            and c.takes(module)
            and (peers or c.is_ours or c.name in (REFERENCE, "TF graph"))
        ]

    def measure(self, workload: str) -> None:
        """One more figure of everybody who has given a result."""
        for name in self._figures.firsts.get(workload, {}).keys() | {REFERENCE}:
            if (workload, name) in self._slow:
                continue
            answer = self._asked("measure", workload, name)
            if answer is not None:
                _noted(self._figures.calls, workload, name, answer["seconds"] * 1e6)
                if answer["seconds"] > PATIENCE:
                    self._slow.add((workload, name))

    def first_calls(self, workload: str) -> None:
        """One more first call of everybody who is not slow."""
        for name in [*self._figures.firsts.get(workload, {})]:
            if self._figures.firsts[workload][name][0] < PATIENCE * 1e3:
                answer = self._asked("first", workload, name)
                if answer is not None:
                    _noted(self._figures.firsts, workload, name, answer["seconds"] * 1e3)

    def _asked(self, question: str, workload: str, name: str) -> dict[str, Any] | None:
        answer = self._processes[name].ask(question, workload, self._size, within=LONGEST)
        if "error" in answer:
            self._figures.missing.setdefault(workload, {})[name] = answer["error"]
            return None
        return answer


def memory(
    figures: Figures, pythons: Sequence[str], only: Sequence[str], size: str, workloads: Sequence[str]
) -> None:
    """The memory of some workloads, each in a process that does nothing else."""
    for workload in workloads:
        module = WORKLOADS[workload].load()
        with processes(pythons, only) as fresh:
            for name, process in fresh.items():
                if not BY_NAME[name].takes(module) or name in figures.missing.get(workload, {}):
                    continue
                answer = process.ask("memory", workload, size, within=LONGEST)
                if "error" not in answer:
                    _noted(figures.memory, workload, name, answer["after"] - answer["before"])


def imports(figures: Figures, asked: Processes, rounds: int) -> None:
    """What importing a library takes, in fresh processes by turns; the first writes the bytecode."""
    libraries = {process.library: process for name, process in asked.items() if name != REFERENCE}
    for round_number in range(rounds + 1):
        for library, process in libraries.items():
            if library != "numpy":
                milliseconds = process.import_seconds() * 1e3
                if round_number:
                    figures.imports.setdefault(library.partition(".")[0], []).append(milliseconds)


def _noted(table: dict[str, dict[str, list[float]]], workload: str, name: str, figure: float) -> None:
    table.setdefault(workload, {}).setdefault(name, []).append(figure)


def _check_equal(workload: str, name: str, module: Any, expected: Any, found: Any) -> None:
    if name == "limit" and not found:
        return  # bare calls of BLAS have no result
    for want, have in zip(expected, found, strict=True):
        a, b = np.asarray(want), np.asarray(have)
        if a.dtype.kind == "f":
            error = np.max(np.abs(a - b)) / max(np.max(np.abs(a)), 1e-30) if a.shape == b.shape else np.inf
            same = error <= getattr(module, "TOLERANCE", 1e-4)
        else:
            same = a.shape == b.shape and np.mean(a != b) <= getattr(module, "DIFFERENT", 0)
        if not same:
            raise UnequalError(f"{workload}: {name} gives another result than {REFERENCE}:\n{b}\n{a}")
