"""XLA programs do what the interpreter does: on random graphs, fixture programs and training steps.

An operation that fails, but whose result is not needed, may be left out: then only needed failures count.
"""

from __future__ import annotations

import os
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import errors
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import CompilationError
from agc.runtime.functionalize.variables import without_variables
from agc.runtime.ir.graph import Graph
from hypothesis import given, settings
from support import programs
from support.lazy_interpreter import interpret_lazily
from support.random_graphs import Cell, arguments, graphs, many

from benchmarks.workloads import MODELS, TABLE

IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))


def lazily(graph: Graph) -> Any:
    """A runner that computes what is needed only: of what is assigned to a variable, what it holds in the end."""
    plain, assigned = without_variables(graph)

    def run(values: list[Any]) -> Any:
        results = interpret_lazily(plain, [getattr(value, "_array", value) for value in values])
        for i, last in zip(assigned, results[len(graph.outputs) :], strict=True):
            values[i]._array = np.asarray(last)
        return results[: len(graph.outputs)]

    return run


def outcome(executor: Any, graph: Graph, values: list[Any]) -> Any:
    """What a run gives: results or the failure's message, and the variable afterwards."""
    cell = Cell(float(values[0]._array))
    try:
        results = executor(graph)([cell, *values[1:]])
    except CompilationError:
        raise
    except errors.OpError as error:
        return type(error), str(error)
    return [*map(np.asarray, results), cell._array]


@settings(max_examples=many(4), deadline=None)
@given(graphs(), arguments())
def test_programs_agree_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    wanted, found = (outcome(EXECUTORS[name], graph, values) for name in ("interpret", "xla"))
    if isinstance(wanted, tuple) and found != wanted:
        wanted = outcome(lazily, graph, values)
    if isinstance(wanted, tuple):
        assert found == wanted
        return
    for one, other in zip(wanted, found, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            np.testing.assert_allclose(other, one, rtol=1e-6)
        else:
            np.testing.assert_array_equal(other, one)


REFUSED = {"gaussian_elimination", "prime_factors", "sieve"}
"""Programs with shapes that depend on values."""

FEW = ["collatz", "fizzbuzz", "life", "running_statistics", "sieve"]


@pytest.mark.parametrize("name", programs.NAMES if IS_FUZZING else FEW)
def test_programs_agree_with_tensorflow(name: str) -> None:
    program = programs.load(name)
    entry = tf.function(program.entry, jit_compile="xla")
    given = program.tensor_arguments(0, tf.constant)
    if name in REFUSED:
        with pytest.raises(CompilationError, match="depends on values"):
            entry(*given)
        return
    wanted = programs.record(name)["results"][0]["value"]
    assert list(programs.differences(wanted, programs.measured(entry(*given)))) == []


WORKLOADS = TABLE | MODELS
MEASURED_ONLY = {"eager MLP", "eager Mandelbrot", "tf.data"}
TRAINED = ["MLP", "CNN", "RNN gradient"]


@pytest.mark.parametrize("name", sorted({*WORKLOADS} - MEASURED_ONLY) if IS_FUZZING else TRAINED)
def test_models_train_as_in_the_plan(name: str) -> None:
    """Results are equal but for 1e-5 of the largest number, after steps that change the weights."""
    found: list[list[Any]] = []
    for compiled in (False, "xla"):
        module = WORKLOADS[name].load()
        tf.random.set_seed(1)
        run = module.tensorflow(tf, compiled, **WORKLOADS[name].size(module, "tiny"))
        found.append([np.asarray(result) for _ in range(3) for result in tf.nest.flatten(run())])
    for one, other in zip(*found, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(
            other, one, rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(one).max(initial=0)))
        )
