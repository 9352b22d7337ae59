"""Random numbers with a state in native code: streams and generators go on as they do in plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest


def drawn(program: Callable[..., Any], *arguments: Any, jit_compile: bool) -> list[Any]:
    """What two calls of a function give, with the streams at their beginning."""
    tf.random.set_seed(7)
    function = tf.function(program, jit_compile=jit_compile)
    results = [tf.nest.flatten(function(*arguments)) for _ in range(2)]
    return [np.asarray(result) for found in results for result in found]


def assert_as_planned(program: Callable[..., Any], *arguments: Any) -> list[Any]:
    found, expected = (drawn(program, *arguments, jit_compile=jit) for jit in (True, False))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    return found


def test_every_distribution_equals_the_plans_in_every_call() -> None:
    def numbers() -> Any:
        return [
            tf.random.uniform([3]),
            tf.random.uniform([2], maxval=10, dtype=tf.int64, seed=1),
            tf.random.normal([5], mean=1.0, dtype=tf.float16),
            tf.random.truncated_normal([3]),
            tf.random.shuffle(tf.range(9)),
            tf.random.categorical([[0.0, 1.0, 2.0]], 5),
            tf.random.gamma([2], 3.0, seed=2),
            tf.random.poisson([2], [1.0, 20.0]),
        ]

    first, *_ = found = assert_as_planned(numbers)
    assert not np.array_equal(first, found[8])  # the second call goes on


def test_streams_continue_through_loops_branches_and_calls() -> None:
    @tf.function
    def scaled(x: Any) -> Any:
        return x * tf.random.uniform(tf.shape(x))

    def walk(n: Any) -> Any:
        x = tf.ones([3])
        for i in tf.range(n):
            if i % 2 == 0:
                x += tf.random.normal([3])
            else:
                x = scaled(x) + scaled(x)
        return x

    assert_as_planned(walk, tf.constant(5))


def test_a_generator_is_a_variable() -> None:
    def both(jit_compile: bool) -> Any:
        generator = tf.random.Generator.from_seed(4)

        @tf.function(jit_compile=jit_compile)
        def numbers() -> Any:
            return generator.normal([3]), generator.uniform([2], maxval=9, dtype=tf.int32)

        results = [np.asarray(part).tolist() for _ in range(2) for part in numbers()]
        return results, generator.state.numpy().tolist()

    assert both(True) == both(False)


def test_a_run_that_fails_draws_once() -> None:
    """Native code leaves the stream where it is, and the plan, which raises the error, moves it on."""

    def outcome(jit_compile: bool) -> Any:
        tf.random.set_seed(3)

        @tf.function(jit_compile=jit_compile)
        def checked(limit: Any) -> Any:
            x = tf.random.uniform([])
            tf.debugging.assert_less(x, limit)
            return x

        with pytest.raises(tf.errors.InvalidArgumentError):
            checked(tf.constant(0.0))
        return float(checked(tf.constant(1.0)))

    assert outcome(True) == outcome(False)


def test_a_seed_starts_the_streams_again() -> None:
    numbers = tf.function(lambda: tf.random.uniform([2], seed=5), jit_compile=True)
    tf.random.set_seed(1)
    first = numbers().numpy().tolist()
    assert numbers().numpy().tolist() != first
    tf.random.set_seed(1)
    assert numbers().numpy().tolist() == first


def test_threads_draw_different_numbers() -> None:
    from concurrent.futures import ThreadPoolExecutor

    numbers = tf.function(lambda: tf.random.uniform([4], seed=9), jit_compile=True)
    numbers()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: tuple(numbers().numpy().tolist()), range(40)))
    assert len(set(found)) == 40
