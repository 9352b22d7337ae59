"""XLA programs do what the interpreter does: on random graphs, fixture programs and training steps.

An operation that fails, but whose result is not needed, may be left out: then only needed failures count.
"""

from __future__ import annotations

import os
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError
from agc.runtime.ir.graph import Graph
from hypothesis import given, settings
from support import programs
from support.random_graph_runs import assert_agreement
from support.random_graphs import arguments, graphs, many

from benchmarks.workloads import MODELS, TABLE

IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))


@settings(max_examples=many(4), deadline=None)
@given(graphs(), arguments())
def test_programs_agree_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    assert_agreement("xla", graph, values)


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
