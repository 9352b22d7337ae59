"""Run files in TensorFlow's formats in TensorFlow itself, in a process of its own.

write_case(folder, "f", path, program, arrays)     f.json, f.0.tensor …
run_cases(folder, python)                          f.output.0.tensor …, or f.error
outcome(folder, "f", program)                      the arrays
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from ..formats.program import Array, Program
from ..storage.tensor_protos import parsed, serialized

_SCRIPT = Path(__file__).with_name("run_in_tensorflow.py")
_QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def run_in_tensorflow(python: str, path: Path, program: Program, arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs that TensorFlow computes, in the environment of another Python. RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_case(folder, "case", path, program, arrays)
        run_cases(folder, python)
        return outcome(folder, "case", program)


def write_case(folder: Path, name: str, path: Path, program: Program, arrays: Sequence[Array]) -> None:
    """Write the inputs of a written file, and the names of its inputs and outputs."""
    about = {
        "file": str(path.absolute()),
        "inputs": [port.name for port in program.inputs],
        "outputs": [port.name for port in program.outputs],
        "dtypes": [port.spec.dtype.name for port in program.inputs],
    }
    (folder / f"{name}.json").write_text(json.dumps(about))
    for i, array in enumerate(arrays):
        (folder / f"{name}.{i}.tensor").write_bytes(serialized(np.asarray(array)))


def run_cases(folder: Path, python: str, verbose: bool = False) -> None:
    """Run all cases of a folder in one process. RuntimeError if the process fails."""
    command = [python, "-c", _SCRIPT.read_text(encoding="utf-8"), str(folder), *["-v"] * verbose]
    try:
        done = subprocess.run(command, env=os.environ | _QUIET, capture_output=not verbose, text=True)
    except OSError as error:
        raise RuntimeError(f"{python} cannot be run: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr or "").strip().splitlines()[-1:]
        raise RuntimeError(f"TensorFlow does not run in {python}: {' '.join(last)}")


def outcome(folder: Path, name: str, program: Program) -> list[Array]:
    """Return the outputs of a case; RuntimeError with the message of TensorFlow if it failed."""
    error = folder / f"{name}.error"
    if error.exists():
        raise RuntimeError(f"TensorFlow fails: {error.read_text()}")
    files = [folder / f"{name}.output.{i}.tensor" for i in range(len(program.outputs))]
    if not all(file.exists() for file in files):
        raise RuntimeError("the other Python ended without results; is it a Python with TensorFlow?")
    return [parsed(file.read_bytes()) for file in files]


_DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly")


def tensorflow_python() -> str | None:
    """Return the path of this Python if TensorFlow is installed in it, else None."""
    for name in _DISTRIBUTIONS:
        with contextlib.suppress(PackageNotFoundError):
            return version(name) and sys.executable
    return None
