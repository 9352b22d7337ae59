"""Native code does what the interpreter does: on random graphs, on every fixture program that compiles.

An operation that fails, but whose result nobody needs, may be left out: then only needed failures count.
"""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.ir.graph import Graph
from hypothesis import given, settings
from support import programs
from support.random_graph_runs import assert_agreement
from support.random_graphs import arguments, graphs, many


@settings(max_examples=many(25))
@given(graphs(), arguments())
def test_native_code_agrees_on_random_graphs(graph: Graph, values: list[Any]) -> None:
    assert_agreement("native", graph, values)


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
