"""Consecutive calls of one native function are a loop over a table, however many operands they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compilation_unit, compile_graph
from support.selection import at_most, pairs

RANDOM = np.random.default_rng(0)
WIDTH = 8
X = RANDOM.standard_normal((16, WIDTH)).astype(np.float32)


def chain(x: Any, matrices: Sequence[Any]) -> Any:
    """Each layer reads the result of the one before it, and a matrix."""
    for matrix in matrices:
        x = tf.tanh(x @ matrix) + 0.5 * x
    return x


def all_results(x: Any, matrices: Sequence[Any]) -> Any:
    """The result of each layer has its own place in the memory of the caller."""
    found = []
    for matrix in matrices:
        x = tf.tanh(x @ matrix) + 0.5 * x
        found.append(x)
    return found


def backwards(x: Any, matrices: Sequence[Any]) -> Any:
    """The backward pass reads all results of the forward pass, which are in several blocks of memory."""
    with tf.GradientTape() as tape:
        tape.watch(matrices)
        loss = tf.reduce_sum(chain(x, matrices))
    return tape.gradient(loss, matrices)


def traced(program: Callable[..., Any], layers: int) -> tuple[Any, list[Any]]:
    """Return the graph of a program with these many matrices, and its inputs."""
    matrices = [RANDOM.standard_normal((WIDTH, WIDTH)).astype(np.float32) * 0.2 for _ in range(layers)]
    function = tf.function(lambda x, *matrices: program(x, list(matrices)))
    return function.get_concrete_function(X, *matrices).graph, [X, *matrices]


@pytest.mark.parametrize(("program", "many"), pairs([chain, all_results, backwards], [64, 10_000]))
def test_loops_over_calls_compute_the_same(
    program: Callable[..., Any], many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel loads its arguments if there are many; the loops then read the caller's array of addresses."""
    monkeypatch.setattr(compilation_unit, "_MANY", many)
    graph, inputs = traced(program, 300)
    for one, other in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("program", [chain, backwards])
def test_the_code_does_not_grow_with_the_number_of_layers(program: Callable[..., Any]) -> None:
    sizes = at_most(300, 600), at_most(600, 1200)
    few, many = (len(compile_graph.text(traced(program, layers)[0])) for layers in sizes)
    assert many < 1.3 * few
