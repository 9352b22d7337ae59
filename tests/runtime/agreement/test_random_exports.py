"""Random programs on numbers in other forms give what Python gives: ONNX Runtime, `vectorized_map`, and JAX.

`AGC_FUZZ=5000 pytest tests/runtime/agreement/test_random_exports.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import contextlib
import copy
import os
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agc.jax
import agc.runtime as tf
import jax
import numpy as np
import pytest
from agc.autograph import StagingError
from support import staged_grammar, staged_programs
from support.onnx_models import results
from support.staged_judging import ARGUMENTS, equal

REFUSALS = StagingError, tf.errors.OperatorNotAllowedInGraphError, tf.export.CannotExportError
OF_BRANCHES = NameError, ZeroDivisionError, IndexError
"""Python raises these while it traces a branch that the program does not take."""

COUNT = int(os.environ.get("AGC_FUZZ", 6))
SPECS = [tf.TensorSpec([], tf.int32, name) for name in "ab"]
SPECS += [
    tf.TensorSpec([], tf.float32, "x"),
    tf.TensorSpec([3], tf.int32, "xs"),
    tf.TensorSpec([2], tf.int32, "zs"),
]
Program = Callable[..., Any]
Rows = Sequence[Sequence[Any]]


class Ignored:
    """Take the place of a variable whose values are not compared."""

    def assign(self, value: Any) -> None: ...

    def assign_add(self, value: Any) -> None: ...

    def read_value(self) -> int:
        return 0


def grown(number: int) -> Program:
    choose = random.Random(number)
    grower = choose.choice([staged_programs.Grower, staged_grammar.Grower])
    text = grower(choose.randrange, size=choose.randint(3, 22)).program()
    return staged_programs.load(text, {"log": lambda mark, value: None, "total": Ignored()})


def python_results(program: Program) -> Iterator[tuple[Sequence[Any], Any]]:
    """Yield arguments with the program's result, where it has one that rounding to float32 does not change."""
    for a, b, x, xs, zs in ARGUMENTS:
        with contextlib.suppress(Exception):  # random programs raise exceptions of any class
            result = program(a, b, x, copy.copy(xs), copy.copy(zs))
            if equal(result, program(a, b, np.float32(x), copy.copy(xs), copy.copy(zs))):
                yield (a, b, x, xs, zs), result


def arrays(row: Sequence[Any]) -> list[Any]:
    return [np.asarray(value, spec.dtype.as_numpy_dtype) for value, spec in zip(row, SPECS, strict=True)]


def in_onnx_runtime(program: Program, rows: Rows, path: Any) -> list[Any]:
    function = tf.function(program, input_signature=SPECS)
    exported = tf.export.onnx(function, path)
    names = [spec.name for spec in SPECS]
    used = [names.index(one.name) for one in exported.inputs]
    found = [results(path.read_bytes(), [arrays(row)[i] for i in used]) for row in rows]
    structure = function.get_concrete_function().structured_outputs
    return [tf.nest.pack_sequence_as(structure, list(one.values())) for one in found]


def by_vectorized_map(program: Program, rows: Rows, path: Any) -> list[Any]:
    columns = [tf.stack(column) for column in zip(*map(arrays, rows), strict=True)]
    batch = tf.function(lambda columns: tf.vectorized_map(lambda row: program(*row), columns))(columns)
    return [tf.nest.map_structure(lambda leaf, i=i: leaf[i], batch) for i in range(len(rows))]


def compiled_by_jax(program: Program, rows: Rows, path: Any) -> list[Any]:
    run = agc.jax.jit(program)
    return [run(*map(jax.numpy.asarray, arrays(row))) for row in rows]


@pytest.mark.parametrize("way", [in_onnx_runtime, by_vectorized_map, compiled_by_jax])
def test_random_programs_agree_with_python(way: Callable[..., list[Any]], tmp_path: Any) -> None:
    refused = 0
    for number in range(COUNT):
        program = grown(number)
        cases = list(python_results(program))
        if not cases:
            continue
        rows, wanted = zip(*cases, strict=True)
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # what an export leaves out
                found = way(program, rows, tmp_path / "program.onnx")
        except (*REFUSALS, *OF_BRANCHES, tf.errors.InvalidArgumentError):  # or results of different lengths
            refused += 1
            continue
        for row, one, other in zip(rows, wanted, found, strict=True):
            assert equal(one, other), (number, row)
    assert refused <= 0.1 * COUNT
