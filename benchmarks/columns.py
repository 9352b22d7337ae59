"""Programs of other people's packages on agc and on TensorFlow: a table with a column for each library and mode.

Each cell comes from a process of its own with empty caches, and has the fastest call in milliseconds, the first call in
seconds, the most memory in MB, and the first result. A program is made for a library and `jit_compile`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from .processes import NOT_INHERITED
from .timing import seconds

COLUMNS = {
    "agc": ("agc", None),
    "agc native": ("agc", True),
    "TF graph": ("tensorflow", None),
    "TF XLA": ("tensorflow", True),
}
"""The library of each column, and `jit_compile`."""

MEASURED = 10
"""The calls of which the fastest counts."""

Program = Callable[[Any, bool | None], Callable[[], Any]]
"""A function of the library, as `tensorflow`, and `jit_compile`: it returns what is measured."""


def main(module: str, description: str | None, programs: Mapping[str, Program], warm: float) -> None:
    """Measure the cells, each in its own process, and print a table.

    Args:
        warm: the seconds in which a program is called before it is timed, so that automatic compilation has ended.
    """
    parser = argparse.ArgumentParser(prog=module, description=description)
    parser.add_argument("--peer", help="the Python of an environment with TensorFlow and the packages")
    parser.add_argument("--only", default="", help="a part of the names of the programs")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.cell:
        name, column = chosen.cell
        print(json.dumps(_measured(programs[name], column, warm)))
        return
    pythons = {"agc": sys.executable, "tensorflow": chosen.peer}
    columns = {column: pythons[library] for column, (library, _) in COLUMNS.items() if pythons[library]}
    print(f"{'':46}" + "".join(f"{column:>36}" for column in columns))
    for name in programs:
        if chosen.only in name:
            cells = (
                _cell([python, "-m", module, "--cell", name, column]) for column, python in columns.items()
            )
            print(f"{name:46}" + "".join(f"{cell:>36}" for cell in cells), flush=True)


def _cell(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(NOT_INHERITED)}
        environment = kept | {"XDG_CACHE_HOME": folder}
        output = subprocess.run(
            command, text=True, stdout=subprocess.PIPE, check=True, env=environment
        ).stdout
    first, best, megabytes, result = json.loads(output.splitlines()[-1])
    return f"{1e3 * best:9.3f} ({first:.2f} s, {megabytes:.0f} MB) {result:.4f}"


def _measured(program: Program, column: str, warm: float) -> tuple[float, float, float, float]:
    """Return the first call and the fastest later one in seconds, the memory, and the result, in this process."""
    library, jit_compile = COLUMNS[column]
    if library == "agc":
        import agc.runtime

        agc.runtime.install_as_tensorflow()
    import tensorflow as tf

    run, results = program(tf, jit_compile), list[Any]()
    first, spent = seconds(lambda: results.append(float(run())), 1), 0.0
    while spent < warm:
        spent += seconds(run, 1)
    best = min(seconds(lambda: float(run()), 1) for _ in range(MEASURED))
    return first, best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, results[0]
