"""Run a written file in the runtime of its format, and compare the results with those of agc."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..formats.program import Array, Program
from .formats import format_of

RELATIVE = {2: 1e-2, 4: 1e-4, 8: 1e-9}
"""The tolerance of floating-point results by their size in bytes, relative to the largest number of a result."""


class Difference(NamedTuple):
    """The difference between an output of the written file and that of agc.

    >>> print(Difference("y", 0.0, True))
    y: agrees, largest difference 0
    """

    output: str
    largest: float  # of absolute differences; inf for another shape or dtype
    agrees: bool

    def __str__(self) -> str:
        return (
            f"{self.output}: {'agrees' if self.agrees else 'DIFFERS'}, largest difference {self.largest:.3g}"
        )


def verify(
    program: Program,
    path: Any,
    inputs: Sequence[Any] | None = None,
    *,
    to: str | None = None,
    python: str | None = None,
) -> list[Difference]:
    """Return how each output of a written file differs from that of agc, on the same inputs.

    Args:
        program: what was written.
        path: the file or folder.
        inputs: arrays; by default the values that the program was traced with, or random ones.
        to: the format; by default that of the suffix.
        python: the Python of an environment with the format's runtime, for TensorFlow's formats.

    Integers, strings and Booleans must be equal, floating-point numbers within `RELATIVE`. Raises ValueError for a
    format that has no runtime.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     program = tf.export.onnx(lambda x: 2.0 * x, folder + "/f.onnx", [tf.TensorSpec([2])])
    ...     [found.agrees for found in verify(program, folder + "/f.onnx")]
    [True]
    """
    row = format_of(to, path)
    run = row.run
    if run is None:
        raise ValueError(f"the format {row.name} has no runtime to verify it with")
    if inputs is None:
        inputs = program.random_inputs() if program.examples is None else program.examples
    arrays = [np.asarray(value) for value in inputs]
    if python is None:
        found = run(Path(path), program, arrays)
    elif "python" in inspect.signature(run).parameters:
        found = run(Path(path), program, arrays, python=python)
    else:
        raise ValueError(f"the format {row.name} is not verified in another Python")
    return [
        difference(port.name, one, other)
        for port, one, other in zip(program.outputs, program.run(arrays), found, strict=True)
    ]


def difference(name: str, expected: Array, found: Array) -> Difference:
    """Compare two arrays.

    >>> print(difference("y", np.float32([1, 2]), np.float32([1, 2.5])))
    y: DIFFERS, largest difference 0.5
    """
    if expected.shape != found.shape or (expected.dtype != found.dtype and expected.dtype.kind != "O"):
        return Difference(name, float("inf"), False)
    if expected.dtype.kind not in "fcV":
        wrong = int(np.sum(np.asarray(expected != found)))
        largest = float(wrong)
        if wrong and expected.dtype.kind in "iu":
            largest = float(np.max(np.abs(expected.astype(object) - found.astype(object))))
        return Difference(name, largest, not wrong)
    wide: Any = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), found.astype(wide)
    finite = np.isfinite(one)
    same = one[~finite] == other[~finite]
    same |= np.isnan(one[~finite]) & np.isnan(other[~finite])
    if not same.all() or not np.isfinite(other[finite]).all():
        return Difference(name, float("inf"), False)
    scale = float(np.max(np.abs(one[finite]), initial=0.0))
    largest = float(np.max(np.abs(one[finite] - other[finite]), initial=0.0))
    size = expected.dtype.itemsize // (2 if expected.dtype.kind == "c" else 1)
    return Difference(name, largest, largest <= RELATIVE.get(size, 1e-2) * max(scale, 1.0))
