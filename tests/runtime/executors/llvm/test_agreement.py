"""Native code does what the interpreter does: on random graphs, on every fixture program that compiles.

An operation that fails, but whose result nobody needs, may be left out: then only needed failures count.
"""

from __future__ import annotations

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


@settings(max_examples=many(25))
@given(graphs(), arguments())
def test_native_code_agrees_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    wanted, found = (outcome(EXECUTORS[name], graph, values) for name in ("interpret", "native"))
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


COMPILED = {
    "best_run", "binary_search", "bisection", "calendar_days", "collatz", "gcd", "happy_numbers", "life", "mandelbrot",
    "matrix_power", "matrix_power_unrolled", "newton", "running_statistics", "state_machine", "stock_keeper",
    "twin_search",
}  # fmt: skip
"""The programs that compile as they are; more may join them."""


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_native_code_agrees_on_fixture_programs(name: str) -> None:
    program = programs.load(name)
    arguments = program.tensor_arguments(0, tf.constant)
    found = tf.function(program.entry, jit_compile=True)(*arguments)
    wanted = programs.record(name)["results"][0]["value"]
    assert list(programs.differences(wanted, programs.measured(found))) == []
