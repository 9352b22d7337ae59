"""Rows that a sum reads once are computed in its loop: thousands of messages between nodes need no memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph

EDGES, NODES, WIDTH = 300, 7, 5
RANDOM = np.random.default_rng(0)
STATES = RANDOM.standard_normal((NODES, WIDTH))
WEIGHTS = RANDOM.standard_normal((EDGES, 1))
SOURCES, TARGETS = RANDOM.integers(0, NODES, (2, EDGES))
ALL = (STATES, WEIGHTS, SOURCES, TARGETS)


def messages(states: Any, weights: Any, sources: Any) -> Any:
    return weights * tf.gather(states, sources)


def by_segment(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    return tf.math.unsorted_segment_sum(messages(states, weights, sources), targets, NODES)


def largest(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    return tf.math.unsorted_segment_max(messages(states, weights, sources), targets - 1, NODES + 1)


def by_scatter(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    return tf.scatter_nd(targets[:, None], messages(states, weights, sources), [NODES, WIDTH])


def gradient(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch((states, weights))
        total = tf.reduce_sum(by_segment(states, weights, sources, targets) ** 2)
    return tape.gradient(total, (states, weights))


def read_again(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    """Read the messages also after the sum, in another order."""
    found = messages(states, weights, sources)
    total = tf.math.unsorted_segment_sum(found, targets, NODES)
    return total, tf.matmul(found, found, transpose_a=True), found[::-1]


def factor_read_again(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    found = tf.gather(states, sources)
    return tf.math.unsorted_segment_sum(weights * found, targets, NODES), tf.reduce_max(tf.sin(found), 0)


def expensive(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    return tf.math.unsorted_segment_sum(tf.exp(messages(states, weights, sources)), targets, NODES)


def one_row_for_all(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    """Broadcast one row to all updates of a variable's value."""
    return tf.tensor_scatter_nd_add(states, targets[:, None], tf.tile(states[:1] * 2.0, [EDGES, 1]))


def of_pairs(states: Any, weights: Any, sources: Any, targets: Any) -> Any:
    places = tf.stack([targets, sources], 1)
    return tf.scatter_nd(places, weights[:, 0] * tf.gather(states[:, 0], sources), [NODES, NODES])


PROGRAMS = (
    by_segment, largest, by_scatter, gradient, read_again, factor_read_again, expensive, one_row_for_all, of_pairs
)  # fmt: skip


def graph_of(program: Callable[..., Any], *, is_sized: bool = True) -> Any:
    edges = EDGES if is_sized else None
    specs = (
        tf.TensorSpec([NODES, WIDTH], tf.float64),
        tf.TensorSpec([edges, 1], tf.float64),
        tf.TensorSpec([edges], tf.int64),
        tf.TensorSpec([edges], tf.int64),
    )
    return tf.function(program).get_concrete_function(*specs).graph


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_the_interpreter(program: Callable[..., Any]) -> None:
    graph = graph_of(program)
    expected = interpret(graph, list(ALL))
    for one, other in zip(JitFunction(graph).run(list(ALL)), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", [by_segment, by_scatter, read_again])
def test_an_unknown_number_of_rows(program: Callable[..., Any]) -> None:
    graph = graph_of(program, is_sized=False)
    native = JitFunction(graph)
    for count in (0, 1, EDGES):
        given = [STATES, *(each[:count] for each in ALL[1:])]
        for one, other in zip(native.run(given), interpret(graph, given), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", [by_segment, largest, by_scatter])
def test_the_rows_take_no_memory(program: Callable[..., Any]) -> None:
    graph = graph_of(program)
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert sum(place.size for place in unit.slots) < EDGES * WIDTH * 8


@pytest.mark.parametrize("program", [by_segment, by_scatter])
def test_a_source_that_does_not_exist_is_an_error(program: Callable[..., Any]) -> None:
    compiled = tf.function(program, jit_compile=True)
    wrong = SOURCES.copy()
    wrong[EDGES // 2] = NODES
    with pytest.raises(tf.errors.InvalidArgumentError, match="7 is not in"):
        compiled(*(tf.constant(each) for each in (STATES, WEIGHTS, wrong, TARGETS)))
