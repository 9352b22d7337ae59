"""Measure the memory of a step of training: the most during three steps, and that less the memory before them.

    $ python -m benchmarks.step_memory --peer PYTHON [--only TEXT] [--contestant NAME]
    MB over the memory before the first step (peak of the process)
                  agc plan   agc native  TF graph    TF XLA      JAX         torch
    MLP 4096      12 (80)    …

Each figure is from a process of its own. Weights, moments and data exist before the first step.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from . import measuring
from .contestants import BY_NAME
from .workloads import STEPS

COLUMNS = ("agc plan", "agc native", "TF graph", "TF XLA", "JAX", "torch")


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    columns = options.contestant or COLUMNS
    print("MB over the memory before the first step (peak of the process)")
    print(f"{'':16}", *(f"{name:>14}" for name in columns))
    for step in [name for name in STEPS if options.only in name]:
        with measuring.processes([sys.executable, *options.peer], columns) as fresh:
            cells = [_cell(fresh.get(name), name, step, options.size) for name in columns]
        print(f"{step:16}", *(f"{cell:>14}" for cell in cells), flush=True)


def _cell(process: measuring.Process | None, name: str, step: str, size: str) -> str:
    if process is None or not BY_NAME[name].takes(STEPS[step].load()):
        return "none"
    answer = process.ask("memory", step, size, within=measuring.LONGEST)
    if "error" in answer:
        return str(answer["error"])[:14]
    return f"{answer['after'] - answer['before']:.0f} ({answer['after']:.0f})"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.step_memory", description="Memory of training.")
    peers = [python for python in os.environ.get("AGC_BENCHMARK_PEERS", "").split(os.pathsep) if python]
    parser.add_argument("--peer", metavar="PYTHON", action="append", default=peers)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--contestant", action="append", default=[], metavar="NAME")
    parser.add_argument("--size", choices=("full", "tiny"), default="full")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
