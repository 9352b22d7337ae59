"""Measurement of whole models, each in new processes: the first call, later calls, a busy machine, and the memory.

processes of "CNN"   import ─► cold call ─► round 1: each library, idle machine    ─► round 2 … ─► peak of the memory
                                                     each library, busy processors

A round measures all libraries within seconds. So a ratio compares times in one state of the machine, whose speed
changes in minutes. The order is reversed from one measurement to the next.

Here the first call includes what a library does once in a process. A table of small programs is measured in
`measuring`: there one process runs all programs, and the first calls are warm.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence

from . import measuring
from .figures import Figures


def measure(
    figures: Figures,
    pythons: Sequence[str],
    only: Sequence[str],
    model: str,
    size: str,
    rounds: int,
    neighbors: int,
) -> None:
    """Fill the tables of `figures` for a model: in each round, on the idle machine and with busy processors."""
    with measuring.processes(pythons, only) as asked:
        measurement = measuring.Measurement(figures, asked, size, patience=60.0)
        takers = measurement.takers(model)
        with concurrent.futures.ThreadPoolExecutor() as pool:  # imports take seconds
            list(pool.map(lambda name: measurement.ask("ready", model, name), takers))
        measurement.compare(model, "cold")
        for _ in range(rounds):
            measurement.measure(model, figures.calls)
            with _spinning(neighbors):
                measurement.measure(model, figures.busy)
        for name in figures.calls.get(model, {}):
            if (answer := measurement.ask("peak", model, name)) is not None:
                figures.peaks.setdefault(model, {})[name] = [answer["megabytes"]]


@contextlib.contextmanager
def _spinning(count: int) -> Iterator[None]:
    """Run processes that take all time that they get."""
    command = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
