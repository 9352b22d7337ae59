"""Loops that do little in a round: LLVM writes several rounds down, each of which may be the last."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph

COUNTS = (*range(10), 31)


def collatz(n: Any) -> Any:
    steps = tf.constant(0, tf.int64)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def jumps(n: Any) -> Any:
    total, last = tf.constant(0, tf.int64), tf.constant(-1, tf.int64)
    for i in tf.range(n):
        if i % 3 == 1:
            continue
        if i == 7:
            break
        total = total * 10 + i
        last = i
    return total, last


def returning(n: Any) -> Any:
    i = tf.constant(0, tf.int64)
    while i * i < 100:
        if i == n:
            return i * 1000
        i += 1
    return -i


def test_an_unrolled_loop_ends_in_any_iteration() -> None:
    native, plan = (tf.function(collatz, jit_compile=mode) for mode in (True, False))
    for n in range(1, 13):
        assert int(native(tf.constant(n, tf.int64))) == int(plan(tf.constant(n, tf.int64)))


@pytest.mark.parametrize("program", [jumps, returning], ids=lambda program: str(program.__name__))
def test_jumps_out_of_any_iteration(program: Any) -> None:
    native, plan = (tf.function(program, jit_compile=mode) for mode in (True, False))
    for n in COUNTS:
        found, expected = native(tf.constant(n, tf.int64)), plan(tf.constant(n, tf.int64))
        assert tf.nest.map_structure(int, found) == tf.nest.map_structure(int, expected)


def test_an_error_in_any_iteration() -> None:
    @tf.function(jit_compile=True)
    def summed(x: Any, i: Any, n: Any) -> Any:
        total = tf.constant(0)
        while i < n:
            total += x[i]
            i += 1
        return total

    x = tf.range(7)
    for first in range(7):
        assert int(summed(x, tf.constant(first), tf.constant(7))) == sum(range(first, 7))
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="slice index 7 of dimension 0 out of bounds"
        ):
            summed(x, tf.constant(first), tf.constant(8))


def test_maximum_iterations_of_an_unrolled_loop() -> None:
    @tf.function(jit_compile=True)
    def counted(n: Any) -> Any:
        return tf.while_loop(lambda i: i < n, lambda i: (i + 1,), [tf.constant(0)], maximum_iterations=6)

    for n in COUNTS:
        assert int(counted(tf.constant(n))[0]) == min(n, 6)


def test_gradients_of_loops_of_any_length() -> None:
    @tf.function(jit_compile=True)
    def slope(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, i = x, tf.constant(0)
            while i < n:
                y = y * x
                i += 1
        return tape.gradient(y, x)

    for n in range(7):
        assert float(slope(tf.constant(2.0), tf.constant(n))) == (n + 1) * 2.0**n


def test_one_unrolled_iteration_checks_for_interrupts() -> None:
    def short(x: Any) -> Any:
        while x < 10.0:
            x += 1.5
        return x

    def long(x: Any) -> Any:
        while x < 10.0:
            x = tf.exp(x) + 1.5
        return x

    for function, rounds in ((short, 4), (long, 1)):
        graph = tf.function(function).get_concrete_function(tf.TensorSpec([], tf.float64)).graph
        text = compile_graph.text(graph)
        assert text.count("1.500000e+00") == rounds
        assert text.count("call i32 @agc_interrupted") == 1


def test_nested_loops_with_a_dependent_trip_count() -> None:
    @tf.function(jit_compile=True)
    def pairs(n: Any) -> Any:
        count = tf.constant(0)
        for i in tf.range(n):
            for j in tf.range(i):
                if (i + j) % 2 == 0:
                    count += j
        return count

    for n in COUNTS:
        expected = sum(j for i in range(n) for j in range(i) if (i + j) % 2 == 0)
        assert int(pairs(tf.constant(n))) == expected


def test_every_dtype_in_an_unrolled_loop() -> None:
    @tf.function(jit_compile=True)
    def sums(n: Any) -> Any:
        small, flag, z = tf.constant(0, tf.int8), tf.constant(False), tf.constant(0.0, tf.complex64)
        for _ in tf.range(n):
            small += 50
            flag = tf.logical_not(flag)
            z = z * 1j + 1.0
        return small, flag, z

    for n in COUNTS:
        small, flag, z = (result.numpy() for result in sums(tf.constant(n)))
        assert small == np.array(50 * n).astype(np.int8) and flag == (n % 2 == 1)
        assert z == sum((1j**k for k in range(n)), 0j)
