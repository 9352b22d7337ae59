"""Loops that keep their state every few rounds only: the same gradients, in less memory.

A program is written once, with `EVERY` for what `set_loop_options` says; its gradient where every round keeps what it
needs is the reference, which must come out to the last bit.
"""

from __future__ import annotations

import functools
import tracemalloc
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.parser import parse
from support.selection import each_nth, in_turn
from support.verifier import verify

set_loop_options = tf.autograph.experimental.set_loop_options
DISTANCES = [1, 2, 100, "auto"]


def variable(seed: int, *shape: int) -> Any:
    return tf.Variable(np.random.RandomState(seed).uniform(-1, 1, shape))


W = variable(1, 3, 3)
V = tf.Variable(tf.constant(0.5, tf.float64))


def recurrence(x: Any, n: Any, every: Any) -> Any:
    h, i = x, tf.constant(0)
    while i < n:
        set_loop_options(checkpoint_every=every)
        h = tf.tanh(h @ W) * x + tf.cast(i, tf.float64) * 0.1
        i += 1
    return tf.reduce_sum(h)


def rows(x: Any, n: Any, every: Any) -> Any:
    total = x[0]
    for row in tf.concat([x, x * x, x], 0)[:n]:
        set_loop_options(checkpoint_every=every)
        total = tf.sin(total) * row + x[1]
    return tf.reduce_sum(total)


def nested(x: Any, n: Any, every: Any) -> Any:
    total = x
    for i in tf.range(n):
        set_loop_options(checkpoint_every=every)
        y = total
        for j in tf.range(i):
            set_loop_options(checkpoint_every=every)
            y = tf.sin(y) @ W if j % 2 == 0 else y * x[j % 2]
        total = y + total * V
    return tf.reduce_sum(total)


def breaks(x: Any, n: Any, every: Any) -> Any:
    total = x
    for i in tf.range(n):
        set_loop_options(checkpoint_every=every)
        if i == 2:
            continue
        total = total * 1.5 + x
        if tf.reduce_max(total) > 20.0:
            break
    return tf.reduce_sum(total)


def arrays(x: Any, n: Any, every: Any) -> Any:
    states = tf.TensorArray(tf.float64, size=0, dynamic_size=True).write(0, x)
    for i in tf.range(n):
        set_loop_options(checkpoint_every=every)
        states = states.write(i + 1, tf.sin(states.read(i)) * x + states.read(0))
    return tf.reduce_sum(states.stack() ** 2)


def growing(x: Any, n: Any, every: Any) -> Any:
    v = x[0]
    for _ in tf.range(n):
        set_loop_options(checkpoint_every=every, shape_invariants=[(v, [None])])
        v = tf.concat([v, tf.sin(v[-3:])], 0)
    return tf.reduce_sum(v**2)


def two_back(x: Any, n: Any, every: Any) -> Any:
    a, b = x, x * V
    for _ in tf.range(n):
        set_loop_options(checkpoint_every=every)
        a, b = b, tf.sin(a) * b
    return tf.reduce_sum(a * b)


def noise(x: Any, n: Any, every: Any) -> Any:
    for _ in tf.range(n):
        set_loop_options(checkpoint_every=every)
        x = tf.sin(x) * tf.random.uniform([2, 3], seed=4, dtype=tf.float64) * V
    return tf.reduce_sum(x)


def recomputed(x: Any, n: Any, every: Any) -> Any:
    step = tf.recompute_grad(lambda x: tf.tanh(x @ W) * x)
    for _ in tf.range(n):
        set_loop_options(checkpoint_every=every)
        x = step(x)
    return tf.reduce_sum(x)


def at_most(x: Any, n: Any, every: Any) -> Any:
    def step(i: Any, x: Any) -> tuple[Any, Any]:
        return i + 2, tf.sin(x) * V

    found = tf.while_loop(lambda i, x: i < 2 * n, step, (0, x), maximum_iterations=9, checkpoint_every=every)
    return tf.reduce_sum(found[1])


def dataset(x: Any, n: Any, every: Any) -> Any:
    for i in tf.data.Dataset.range(7).take(tf.cast(n, tf.int64)):
        set_loop_options(checkpoint_every=every)
        x = tf.sin(x) * tf.cast(i, tf.float64)
    return tf.reduce_sum(x)


def adaptive_steps(x: Any, n: Any, every: Any) -> Any:
    """Heun's method, whose steps follow from the error of each."""

    def step(t: Any, h: Any, y: Any) -> tuple[Any, Any, Any]:
        one = tf.tanh(y @ W)
        other = tf.tanh((y + h * one) @ W)
        error = tf.reduce_max(tf.abs(h * (one - other) / 2))
        fits = error < 0.01
        y, t = tf.where(fits, y + h * (one + other) / 2, y), tf.where(fits, t + h, t)
        return t, tf.minimum(h * tf.clip_by_value(0.1 / tf.sqrt(error + 1e-12), 0.3, 2.0), end - t + 1e-9), y

    end = tf.cast(n, tf.float64) / 5
    start = (tf.constant(0.0, tf.float64), tf.constant(0.1, tf.float64), x)
    found = tf.while_loop(lambda t, h, y: t < end - 1e-8, step, start, checkpoint_every=every)
    return tf.reduce_sum(found[2] ** 2)


def newton(x: Any, n: Any, every: Any) -> Any:
    """The root of z³ + z = x, until it is good enough."""
    z = tf.zeros_like(x)
    while tf.reduce_max(tf.abs(z**3 + z - x)) > 10.0 ** -tf.cast(n, tf.float64):
        set_loop_options(checkpoint_every=every)
        z = z - (z**3 + z - x) / (3 * z * z + 1)
    return tf.reduce_sum(z * x)


def attention(x: Any, n: Any, every: Any) -> Any:
    """A decoder that attends to all inputs, and writes down some of its states."""
    memory = tf.stack([x, x * x, tf.sin(x)])
    keys = tf.einsum("tbh,hk->tbk", memory, W)
    states = tf.TensorArray(tf.float64, size=0, dynamic_size=True, element_shape=[2, 3])
    s = x
    for _ in tf.range(n):
        set_loop_options(checkpoint_every=every)
        weights = tf.nn.softmax(tf.einsum("bk,tbk->bt", s, keys))
        s = tf.tanh(tf.einsum("bt,tbk->bk", weights, memory) + s @ W)
        if tf.reduce_sum(s) > 0.0:
            states = states.write(states.size(), s)
    return tf.reduce_sum(s) + tf.reduce_sum(states.stack() ** 2)


PROGRAMS = [
    recurrence, rows, nested, breaks, arrays, growing, two_back, noise, recomputed, at_most, dataset,
    adaptive_steps, newton, attention,
]  # fmt: skip


def slopes(program: Callable[..., Any], every: Any, **options: Any) -> Any:
    """The gradients of a program as a function, with the tape inside of it."""

    def found(x: Any, n: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(x, n, every)
        return tape.gradient(y, [x, W, V], unconnected_gradients="zero")

    return tf.function(found, **options)


X = tf.constant(np.random.RandomState(2).uniform(-1, 1, (2, 3)))


@functools.cache
def at_some(program: Callable[..., Any], every: Any) -> list[list[Any]]:
    """The gradients after some numbers of rounds."""
    run, found = slopes(program, every), []
    for n in (0, 1, 5, 6):
        tf.random.set_seed(3)
        found.append([slope.numpy() for slope in run(X, tf.constant(n))])
    return found


@pytest.mark.parametrize("every", DISTANCES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_gradients_with_checkpoints_equal_those_without(program: Any, every: Any) -> None:
    for found, expected in zip(at_some(program, every), at_some(program, None), strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_graphs_are_valid_and_the_interpreter_agrees(program: Any) -> None:
    n = tf.constant(5)
    tf.random.set_seed(3)
    kept = slopes(program, 2)
    graph = verify(kept.get_concrete_function(X, n).graph)
    if program is not dataset:  # whose stages are Python objects
        assert str(parse(str(graph))) == str(graph)
    tf.random.set_seed(3)
    expected = kept(X, n)
    tf.random.set_seed(3)
    for one, other in zip(slopes(program, 2, experimental_executor="interpret")(X, n), expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize(
    "program", each_nth(3, [p for p in PROGRAMS if p not in (noise, dataset)]), ids=lambda p: p.__name__
)
def test_tapes_around_calls_and_derivatives_of_derivatives(program: Any) -> None:
    n = tf.constant(4)

    def twice(every: Any, stage: Callable[[Any], Any], inner: Callable[[Any], Any]) -> list[Any]:
        def second(x: Any) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = inner(lambda x: program(x, n, every))(x)
                slope = tape.gradient(y, x)
                total = tf.reduce_sum(slope * slope)
            return [slope, outer.gradient(total, x, unconnected_gradients="zero")]

        return stage(second)(X)

    expected = twice(None, tf.function, lambda f: f)
    for two_distances in in_turn([(2, "auto"), ("auto", 2)], PROGRAMS.index(program)):
        inside = twice(two_distances[0], tf.function, lambda f: f)
        around = twice(two_distances[1], lambda f: f, tf.function)
        np.testing.assert_array_equal(inside[0].numpy(), expected[0].numpy())
        for found in (inside, around):  # sums are made in another order
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-11, atol=1e-13)


def test_recomputation_reads_the_old_values_of_variables() -> None:
    v = tf.Variable(3.0)

    def program(x: Any, every: Any, assigns: bool) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(5):
                set_loop_options(checkpoint_every=every)
                y = tf.sin(y * v)
                if assigns:
                    v.assign_add(0.5)
        v.assign(7.0)
        return tape.gradient(y, [x, v])

    for assigns in (False, True):
        found = []
        for every in (None, 1, 2):
            v.assign(3.0)
            staged = tf.function(program)
            found.append([float(d) for d in staged(tf.constant(0.3), every, assigns)])
        assert found[0] == found[1] == found[2]


def test_effects_are_not_repeated_by_recomputation() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            for i in tf.range(5):
                set_loop_options(checkpoint_every=2)
                tf.py_function(lambda i: seen.append(int(i)), [i], [])
                x = tf.sin(x)
        return tape.gradient(x, x)

    f(tf.constant(1.0))
    assert seen == [0, 1, 2, 3, 4]


def test_loop_state_is_kept_every_few_iterations() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                set_loop_options(checkpoint_every=10)
                y = tf.sin(y) * y
        return tape.gradient(y, x)

    graph = f.get_concrete_function(tf.constant(1.0), tf.constant(5)).graph
    forward, _ = (operation for operation in graph.operations if operation.type == "while")
    text = str(forward.regions[1]).replace(" " * 2, " ")
    assert [line.strip() for line in text.splitlines() if "list" in line] == [
        "list_size = list_size firsts : int32[]",
        "list_append = list_append firsts, index : array int32[]",
        "list_append.1 = list_append y, y.1 : array float32[]",
        "yield list_append, list_append.1",
    ] or text


def peak(f: Callable[[], Any]) -> int:
    """The most memory, in bytes, that is taken while a function runs (for the second time)."""
    f()
    tracemalloc.start()
    f()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_memory_grows_with_the_square_root_of_the_trip_count() -> None:
    def most(every: Any, rounds: int) -> int:
        @tf.function
        def f(x: Any, n: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in tf.range(n):
                    set_loop_options(checkpoint_every=every)
                    y = tf.sin(y) * 1.01
            return tape.gradient(y, x)

        return peak(lambda: f(tf.ones([1000]), tf.constant(rounds)))

    size = 4 * 1000
    assert most(None, 400) > 400 * size
    assert most("auto", 400) < 80 * size  # 28 states, 28 rounds
    assert most(20, 400) < 60 * size  # 20 states, 20 rounds
    assert most("auto", 1600) < 2.5 * most("auto", 400)


@pytest.mark.parametrize("every", [0, -3, 2.5, True, "often"])
def test_invalid_checkpoint_distances_are_refused(every: Any) -> None:
    with pytest.raises(ValueError, match="checkpoint_every is a number of iterations"):
        tf.function(
            lambda x: tf.while_loop(lambda x: x < 9.0, lambda x: x * 2.0, [x], checkpoint_every=every)
        )(1.0)
