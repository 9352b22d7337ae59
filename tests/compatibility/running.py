"""Run a suite in one environment, as a process, and record its outcomes in a file of the cache."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO, NamedTuple

from .suites import Suite

HERE = Path(__file__).parent
TYPINGS = HERE.parent.parent / "typings"

LEFT_ALONE = "tensorflow_probability"
"""Packages that TensorFlow does not convert, and agc neither where they are usually installed."""

SUITE_LIMIT = 3600
SCRIPT_LIMIT = 300

QUIET = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "KERAS_BACKEND": "tensorflow",
    "MPLBACKEND": "Agg",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}

PYTEST = """
    -m pytest -q -c /dev/null -p recorder -p no:cacheprovider -p no:xdist --continue-on-collection-errors
    --import-mode=importlib
""".split()  # noqa: SIM905


class Side(NamedTuple):
    """One of the two environments: its name, its Python, and whether agc takes TensorFlow's place."""

    name: str
    python: str
    is_agc: bool


def run(suite: Suite, side: Side, cache: Path) -> None:
    """Run the suite; its outcomes replace those of an earlier run."""
    file = outcomes_file(suite.name, side, cache)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    root = {"keras": lambda: _keras(side), "own": lambda: HERE}.get(suite.root, lambda: cache / suite.root)()
    environment = _environment(suite, side, cache, file)
    targets = [str(path) for path in suite.files(root)]
    with file.with_suffix(".log").open("w", encoding="utf-8") as log:
        if suite.scripts:
            for target in targets:
                _run([side.python, str(HERE / "script_runner.py"), target], environment, log, SCRIPT_LIMIT)
        else:
            _run(
                [side.python, *PYTEST, f"--rootdir={root}", f"--confcutdir={root}", *targets],
                environment,
                log,
                SUITE_LIMIT,
            )


def outcomes_file(suite: str, side: Side, cache: Path) -> Path:
    """Return the file of the outcomes of a suite on one side."""
    return cache / "outcomes" / side.name / f"{suite.replace('/', '_')}.jsonl"


def _environment(suite: Suite, side: Side, cache: Path, file: Path) -> dict[str, str]:
    paths = [str(HERE), str(cache / "libraries"), *([str(TYPINGS)] if side.is_agc else [])]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("AGC_")},
        **QUIET,
        **suite.environment,
        **({"AGC_AS_TENSORFLOW": "1", "AGC_DO_NOT_CONVERT": LEFT_ALONE} if side.is_agc else {}),
        **({"AGC_TESTS_OF_KERAS": "1"} if suite.root == "keras" else {}),
        "AGC_OUTCOMES": str(file),
        "PYTHONPATH": os.pathsep.join(paths),
    }


def _keras(side: Side) -> Path:
    found = "import importlib.util; print(importlib.util.find_spec('keras').submodule_search_locations[0])"
    return Path(subprocess.check_output([side.python, "-c", found], text=True).strip())


def _run(command: list[str], environment: dict[str, str], log: IO[str], limit: float) -> None:
    """Run a command at low priority; one that takes longer than `limit` seconds is stopped."""
    try:
        subprocess.run(
            ["nice", *command],
            env=environment,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        print(f"stopped after {limit} s: {command[-1]}", flush=True)
