"""Plans draw random numbers of seeds ahead: what they give is what the interpreter gives, seed by seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import Plan, interpret
from agc.runtime.executors.plan.rng_prefetch import pairs
from agc.runtime.kernels.random import seed_hash
from agc.runtime.kernels.random.prefetch import RandomPrefetcher, Seed

R = tf.random


class Recorder:
    """Draws the seeds themselves; `calls` says for how many at a time."""

    def __init__(self, most: int = 128) -> None:
        self.calls: list[int] = []
        self.ahead = RandomPrefetcher(self.one, self.many, most)

    def one(self, seed: Seed) -> Seed:
        self.calls.append(1)
        return seed

    def many(self, seed: Seed, step: Seed, count: int) -> list[Seed]:
        self.calls.append(count)
        return [(seed[0] + i * step[0], seed[1] + i * step[1]) for i in range(count)]

    def draw(self, seeds: list[Seed]) -> None:
        assert [self.ahead.draw(seed) for seed in seeds] == seeds


def test_the_prefetch_size_grows() -> None:
    recorder = Recorder()
    recorder.draw([(5 - i, 3 * i) for i in range(400)])
    assert recorder.calls == [1, 1, 8, 32, 128, 128, 128]


def test_a_restarted_loop_is_prefetched_again() -> None:
    recorder = Recorder(most=20)
    for _ in range(3):
        recorder.draw([(7, i) for i in range(30)])
    assert recorder.calls == [1, 1, 8, 20] * 3


def test_irregular_seeds_are_not_prefetched() -> None:
    recorder = Recorder()
    recorder.draw([(0, 0), (0, 0), (0, 0), (1, 2), (3, 5), (8, 13), (8, 13), (21, 34)])
    assert set(recorder.calls) == {1}


def test_a_useless_prefetch_is_not_repeated() -> None:
    recorder = Recorder()
    for start in range(0, 1000, 10):
        recorder.draw([(start, i) for i in range(3)])
    assert recorder.calls == [1, 1, 8, *[1] * 297]


@pytest.mark.parametrize("each", [1, 2, 40])
@pytest.mark.parametrize("count", [1, 8, 128])
def test_vectorized_seed_blocks_equal_single_ones(count: int, each: int) -> None:
    seed, step = (-3, (1 << 63) - 5), (2, 1)  # goes beyond 64 bits
    many = seed_hash.blocks(seed, step, count, each)
    for i in {0, count // 2, count - 1}:
        stream = seed_hash.stream(seed[0] + i * step[0], seed[1] + i * step[1])
        assert many[i].tolist() == stream.bits(stream.counter, each).tolist()


def normal(shape: Any, seed: Any) -> Any:
    return R.stateless_normal(shape, seed)


def wide_normal(shape: Any, seed: Any) -> Any:
    return R.stateless_normal(shape, seed, dtype=tf.float64)


def half(shape: Any, seed: Any) -> Any:
    return R.stateless_uniform(shape, seed, dtype=tf.float16)


def integers(shape: Any, seed: Any) -> Any:
    return R.stateless_uniform(shape, seed, -5, 1 << 20, tf.int32)


def any_integers(shape: Any, seed: Any) -> Any:
    return R.stateless_uniform(shape, seed, None, None, tf.int64)


@pytest.mark.parametrize("draw", [normal, wide_normal, half, integers, any_integers])
@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (30, 9)])
def test_prefetched_numbers_equal_those_of_the_seeds(
    draw: Callable[..., Any], shape: tuple[int, ...]
) -> None:
    def program(seed: Any, start: Any, step: Any) -> Any:
        drawn = tf.TensorArray(draw(shape, [1, 2]).dtype, 45)
        for i in tf.range(45):
            drawn = drawn.write(i, draw(shape, tf.stack([start + step * tf.cast(i, tf.int64), seed])))
        return drawn.stack()

    graph = tf.function(program).get_concrete_function(*[tf.TensorSpec((), tf.int64)] * 3).graph
    plan = Plan(graph)
    for arguments in ((7, 3, 1), (7, 3, -2), (-1, (1 << 63) - 9, 1)):
        given = [np.array(argument) for argument in arguments]
        with np.errstate(over="ignore"):
            (wanted,), (found,) = interpret(graph, given), plan(*given)
        assert wanted.tobytes() == found.tobytes()


def test_a_seed_of_two_numbers_is_a_tuple_without_other_uses() -> None:
    @tf.function
    def program(n: Any) -> Any:
        total = 0.0
        for i in tf.range(n):
            total += R.stateless_uniform([], tf.stack([i, 7]))
            seed = tf.stack([7, i])
            total += R.stateless_uniform([], seed) * tf.cast(tf.reduce_sum(seed), tf.float32)
        return total

    graph = program.get_concrete_function(tf.TensorSpec((), tf.int32)).graph
    (loop,) = [each for each in graph.live_operations() if each.type == "while"]
    body = loop.regions[1]
    assert len(pairs(body, body.live_operations())) == 1
    assert "stack = (" in Plan(graph).source
    assert list(Plan(graph)(np.array(30))) == list(interpret(graph, [np.array(30, np.int32)]))


def test_shuffles_and_categories_equal_those_of_the_seeds() -> None:
    def program(x: Any, logits: Any, n: Any) -> Any:
        orders = tf.TensorArray(tf.float32, n)
        picks = tf.TensorArray(tf.int64, n)
        for i in tf.range(n):
            orders = orders.write(i, R.experimental.stateless_shuffle(x, tf.stack([i, 3])))
            picks = picks.write(i, R.stateless_categorical(logits + x[:2, None], 3, tf.stack([3, i])))
        return orders.stack(), picks.stack()

    specs = [tf.TensorSpec([9]), tf.TensorSpec([2, 5]), tf.TensorSpec([], tf.int32)]
    graph = tf.function(program).get_concrete_function(*specs).graph
    plan = Plan(graph)
    assert "draw_seeded_shuffle" in plan.source
    assert "draw_seeded_categorical" in plan.source
    rng = np.random.default_rng(0)
    given = [rng.random(9, np.float32), rng.random((2, 5), np.float32), np.array(30, np.int32)]
    for wanted, found in zip(interpret(graph, given), plan(*given), strict=True):
        assert wanted.tolist() == found.tolist()


def test_array_seeds_are_prefetched() -> None:
    @tf.function(jit_compile=False)
    def program(seed: Any) -> Any:
        return R.stateless_normal([2], seed)

    for i in range(20):
        seed = [i, 5 - i]
        assert program(tf.constant(seed)).numpy().tolist() == R.stateless_normal([2], seed).numpy().tolist()


def test_invalid_bounds_are_refused_as_in_the_interpreter() -> None:
    @tf.function(jit_compile=False)
    def program(seed: Any, high: Any) -> Any:
        return R.stateless_uniform([2], tf.stack([seed, 1]), 3, high, tf.int32)

    assert program(tf.constant(1), tf.constant(4)).numpy().tolist() == [3, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval"):
        program(tf.constant(1), tf.constant(2))
