"""Random numbers without a state are in native code those of the interpreter: the same bits make the same numbers."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

SEEDS = [np.array([1, 2]), np.array([-7, 2**40 + 3]), np.array([2**63 - 1, -1])]


def both(program: Any, *arrays: Any) -> Any:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    return zip(JitFunction(graph).run(list(arrays)), interpret(graph, list(arrays)), strict=True)


def uniform(seed: Any) -> Any:
    return [
        tf.random.stateless_uniform(shape, seed, dtype=dtype)
        for shape in ([3, 5], [1], [0, 2])
        for dtype in (tf.float16, tf.float32, tf.float64)
    ]


def integers(seed: Any) -> Any:
    drawn = [
        tf.random.stateless_uniform([7], seed, low, high, dtype)
        for low, high in ((0, 10), (-5, 1000))
        for dtype in (tf.int32, tf.int64)
    ]
    whole = [
        tf.random.stateless_uniform([5], seed, None, None, dtype)
        for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64)
    ]
    return drawn + whole


def normal(seed: Any) -> Any:
    return [
        each([50, 3], seed, dtype=dtype)
        for each in (tf.random.stateless_normal, tf.random.stateless_truncated_normal)
        for dtype in (tf.float16, tf.float32)
    ]


def choices(seed: Any) -> Any:
    rows = tf.reshape(tf.range(22.0), [11, 2])
    classes = tf.random.stateless_categorical(
        tf.math.log([[0.1, 0.5, 0.0, 0.4], [3.0, 0.0, 0.0, 1.0]]), 9, seed
    )
    return [tf.random.experimental.stateless_shuffle(rows, seed), classes]


def choices_of_no_share(seed: Any) -> Any:
    """The shares of all classes add up to NaN, or to 0."""
    return tf.random.stateless_categorical(
        [[0.0, float("inf"), 1.0], [float("nan")] * 3, [-float("inf")] * 3], 4, seed
    )


@pytest.mark.parametrize("program", [uniform, integers, normal, choices, choices_of_no_share])
def test_the_same_numbers_to_the_last_bit(program: Any) -> None:
    graph = tf.function(program).get_concrete_function(tf.constant(SEEDS[0])).graph
    native = JitFunction(graph)
    for seed in SEEDS:
        for found, wanted in zip(native.run([seed]), interpret(graph, [seed]), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def test_normal_numbers_of_float64_differ_by_some_last_places() -> None:
    def program(seed: Any) -> Any:
        return [
            each([201], seed, dtype=tf.float64)
            for each in (tf.random.stateless_normal, tf.random.stateless_truncated_normal)
        ]

    for found, wanted in both(program, SEEDS[0]):
        np.testing.assert_allclose(found, wanted, rtol=4e-16 * 4, atol=1e-16)


def test_a_seed_may_be_computed_in_a_loop() -> None:
    def walk(seed: Any) -> Any:
        place = tf.zeros([4])
        for step in tf.range(20):
            place += tf.random.stateless_normal([4], [seed, step])
        return [place]

    for found, wanted in both(tf.autograph.to_graph(walk), np.int32(5)):
        np.testing.assert_array_equal(found, wanted)


def test_no_integers_between_bounds_is_the_plan_s_error() -> None:
    def program(high: Any) -> Any:
        return [tf.random.stateless_uniform([2], [1, 2], 5, high, tf.int32)]

    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 3"):
        both(program, np.int32(3))
