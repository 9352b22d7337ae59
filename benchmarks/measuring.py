"""Measure the contestants: first each of them once, with results compared, then in turn in each round."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .contestants import BY_NAME, CONTESTANTS, LIMIT, REFERENCE, Contestant
from .figures import Figures, Table
from .processes import ROOT, SILENCE, Process
from .workloads import GROWTH, LOOPS, WORKLOADS

PATIENCE = 2.0
"""Seconds. A contestant that takes longer for a figure gives only one."""

LONGEST = 300.0
"""Seconds. A contestant that takes longer to answer has no figure."""

MOST_SILENCES = 2
"""A contestant that has not answered so many requests gets no more."""

QUIET = 0.1
"""Seconds before each figure: threads of BLAS go on looking for work for a while, on the processor that others need."""

Processes = Mapping[str, Process]


@contextlib.contextmanager
def processes(pythons: Sequence[str], only: Sequence[str]) -> Iterator[Processes]:
    """A process for each contestant that one of the interpreters has, in the order of the columns."""
    found: dict[str, str] = {}
    for python in pythons:
        for name in _names(python):
            found.setdefault(name, python)
    with contextlib.ExitStack() as stack:
        yield {
            c.name: stack.enter_context(_process(c, found[c.name]))
            for c in CONTESTANTS
            if c.name in found and (not only or c.name in only or c.name == REFERENCE)
        }


@functools.cache
def _names(python: str) -> list[str]:
    """Return the names of the contestants that an interpreter can run."""
    command = [python, "-m", "benchmarks.worker"]
    done = subprocess.run(command, cwd=ROOT, check=True, text=True, capture_output=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def _process(contestant: Contestant, python: str) -> Process:
    return Process(contestant.name, contestant.library, python, ["benchmarks.worker", contestant.name])


class Measurement:
    """Fills figures with the answers of the processes."""

    def __init__(
        self, figures: Figures, asked: Processes, size: str = "full", patience: float = LONGEST
    ) -> None:
        self._figures = figures
        self._processes = asked
        self._size = size
        self._patience = patience
        self._slow: set[tuple[str, str]] = set()
        self._silences: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()

    def compare(self, workload: str, question: str = "first") -> None:
        """Measure first calls. A contestant with another result than the program in NumPy is not measured.

        A `cold` first call has nothing before it in its process.
        """
        module = WORKLOADS[workload].load()
        self._figures.titles[workload] = WORKLOADS[workload].title(module)
        answers = {name: self.ask(question, workload, name) for name in self.takers(workload)}
        reference = answers.pop(REFERENCE)
        if reference is None:
            raise RuntimeError(f"{workload}: {self._figures.missing[workload][REFERENCE]}")
        for name, answer in answers.items():
            if answer is None:
                continue
            if (text := _difference(name, module, reference["result"], answer["result"])) is not None:
                self._figures.unequal.setdefault(workload, {})[name] = text
            elif question == "cold":
                _noted(self._figures.colds, workload, name, answer["seconds"] * 1e3)
            else:
                self._note_first(workload, name, answer)

    def takers(self, workload: str) -> list[str]:
        """Return the names of the contestants that the workload has a text for."""
        module = WORKLOADS[workload].load()
        peers = not (workload in LOOPS or workload in GROWTH)
        return [
            c.name
            for c in CONTESTANTS
            if c.name in self._processes
            and c.takes(module)
            and (peers or c.is_ours or c.name in (REFERENCE, "TF graph"))
        ]

    def measure(self, workload: str, table: Table) -> None:
        """Add a figure of each contestant with a result to a table, and turn the order for the next time.

        A contestant that is slow or has no answer has no further figures: figures with equal numbers are of one round.
        """
        names = [*self._figures.colds.get(workload, ())]
        names = names or [*self._figures.firsts.get(workload, ()), REFERENCE]
        names = [name for name in names if (workload, name) not in self._slow]
        for name in reversed(names) if self._turns[workload] % 2 else names:
            answer = self.ask("measure", workload, name)
            if answer is not None:
                _noted(table, workload, name, answer["seconds"] * 1e6)
            if answer is None or answer["seconds"] > PATIENCE:
                self._slow.add((workload, name))
        self._turns[workload] += 1

    def first_calls(self, workload: str) -> None:
        """Add a first call of each contestant that is not slow."""
        for name in [*self._figures.firsts.get(workload, {})]:
            if self._figures.firsts[workload][name][0] < PATIENCE * 1e3:
                answer = self.ask("first", workload, name)
                if answer is not None:
                    self._note_first(workload, name, answer)

    def _note_first(self, workload: str, name: str, answer: dict[str, Any]) -> None:
        _noted(self._figures.firsts, workload, name, answer["seconds"] * 1e3)
        _noted(self._figures.overheads, workload, name, answer["overhead"] * 1e3)

    def ask(self, question: str, workload: str, name: str) -> dict[str, Any] | None:
        """Return the answer of a contestant. Where there is none, note why."""
        if self._silences[name] >= MOST_SILENCES:
            answer = {"error": "left out: it has not answered before"}
        else:
            time.sleep(QUIET)
            answer = _answer(self._processes[name], question, workload, self._size, self._patience)
        self._silences[name] += answer.get("error", "").startswith(SILENCE)
        if "error" in answer:
            self._figures.missing.setdefault(workload, {})[name] = answer["error"]
            return None
        return answer


def _answer(
    process: Process, question: str, workload: str, size: str, patience: float = LONGEST
) -> dict[str, Any]:
    """Return the answer, which has an error if the process has ended without one."""
    try:
        return process.ask(question, workload, size, within=patience)
    except RuntimeError as error:
        return {"error": str(error).strip().splitlines()[-1]}


def memory(
    figures: Figures, pythons: Sequence[str], only: Sequence[str], size: str, workloads: Sequence[str]
) -> None:
    """Measure the memory of workloads, each in a process of its own."""
    for workload in workloads:
        module = WORKLOADS[workload].load()
        with processes(pythons, only) as fresh:
            for name, process in fresh.items():
                known = figures.missing.get(workload, {}) | figures.unequal.get(workload, {})
                if not BY_NAME[name].takes(module) or name in known:
                    continue
                answer = _answer(process, "memory", workload, size)
                if "error" not in answer:
                    _noted(figures.memory, workload, name, answer["after"] - answer["before"])


def imports(figures: Figures, asked: Processes, rounds: int) -> None:
    """Measure imports, in new processes in turn; the first one writes the bytecode."""
    libraries = {process.library: process for name, process in asked.items() if name != REFERENCE}
    for round_number in range(rounds + 1):
        for library, process in libraries.items():
            if library != "numpy":
                milliseconds = process.import_seconds() * 1e3
                if round_number:
                    figures.imports.setdefault(library.partition(".")[0], []).append(milliseconds)


def _noted(table: Table, workload: str, name: str, figure: float) -> None:
    table.setdefault(workload, {}).setdefault(name, []).append(figure)


def _difference(name: str, module: Any, expected: Any, found: Any) -> str | None:
    """Return the difference between two results as text; None if they are equal enough."""
    if name == LIMIT and not found:
        return None  # bare calls of BLAS have no result
    if len(expected) != len(found):
        return f"{len(found)} results, not {len(expected)}"
    for want, have in zip(map(np.asarray, expected), map(np.asarray, found), strict=True):
        if want.shape != have.shape:
            return f"shape {have.shape}, not {want.shape}"
        if want.dtype.kind == "f":
            error, most = _error(want, have), getattr(module, "TOLERANCE", 1e-4)
            what = f"error of {error:.2g}, at most {most:g}"
        else:
            error, most = float(np.mean(want != have)), getattr(module, "DIFFERENT", 0)
            what = f"{error:.2%} of the numbers differ, at most {most:.2%}"
        if not error <= most:  # nor NaN
            return f"{what}: {have.ravel()[:3]}, not {want.ravel()[:3]}"
    return None


def _error(want: np.ndarray[Any, Any], have: np.ndarray[Any, Any]) -> float:
    """Return the largest error, relative to the largest number."""
    return float(np.max(np.abs(want - have)) / max(np.max(np.abs(want)), 1e-30))
