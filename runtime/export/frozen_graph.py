"""The format `graphdef`: a frozen GraphDef of TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..formats.program import Array, Program
from ..formats.tensorflow.frozen_graph import graph_def
from .tensorflow_runtime import run_in_tensorflow, tensorflow_python


def encode(program: Program) -> bytes:
    return graph_def(program).SerializeToString(deterministic=True)


def run(path: Path, program: Program, arrays: Sequence[Array], python: str | None = None) -> list[Array]:
    """Return the outputs that TensorFlow computes, in this or another Python."""
    chosen = python or tensorflow_python()
    if chosen is None:
        raise ValueError(
            "the format graphdef is verified by TensorFlow, which is not installed here: name a Python that has it, "
            "with `--verify-with PATH` or verify(..., python=PATH)"
        )
    return run_in_tensorflow(chosen, path, program, arrays)


def runtime(python: str | None) -> str:
    """Return the name of what runs the file."""
    return f"TensorFlow in {python or tensorflow_python()}"
