"""Lists and TensorArrays in XLA programs, and the gradients of loops, which keep residuals in lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError

X = np.arange(1, 6, dtype=np.float32)


def written(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=5)
    for i in tf.range(5):
        rows = rows.write(4 - i, x * tf.cast(i, tf.float32))
    return rows.stack(), rows.read(0), rows.gather([3, 3])


def read(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=5).unstack(x)
    total = 0.0
    for i in tf.range(5):
        total += rows.read(i) ** 2
    return total


def appended(x: Any) -> Any:
    values = []
    for i in tf.range(4):
        values.append(x[i])
        if x[i] > 2:
            values.append(x[i] * 10)
    values[1] = x[4]
    first = values.pop(0)
    values.reverse()
    total = 0.0
    for value in values:
        total = total * 2 + value
    return total, first, len(values), values[-1]


def of_branches(x: Any) -> Any:
    values = [x]
    if x[0] > 2:
        values.append(x * 2)
        values.append(x * 3)
    else:
        values.append(x * 4)
    return values[-1], len(values)


def rearranged(x: Any) -> Any:
    values = []
    for i in tf.range(5):
        if x[i] > 1:
            values.append(x[i])
    middle = values[1:-1]
    middle.insert(-1, x[0])
    backwards = values[::-2]
    backwards.extend(middle)
    twice = backwards * 2
    found = twice.index(x[2]), twice.count(x[2]), values == middle, values == values[:], len(values[4:1])
    total = 0.0
    for value in twice:
        total = total * 2 + value
    return total, len(twice), *found


def nested(x: Any) -> Any:
    total = 0.0
    for i in tf.range(4):
        z = x[i]
        for j in tf.range(3):
            z = tf.sin(z) * x[j]
        total += z
    return total


def recurrent(x: Any) -> Any:
    state = tf.zeros([])
    states = tf.TensorArray(tf.float32, size=5)
    for i in tf.range(5):
        state = tf.tanh(state * 0.5 + x[i])
        states = states.write(i, state)
    return tf.reduce_sum(states.stack() ** 2)


def gradient_of(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    return gradient


PROGRAMS = {
    "written": written,
    "appended": appended,
    "rearranged": rearranged,
    "of branches": of_branches,
    "gradient of reads": gradient_of(read),
    "gradient of nested loops": gradient_of(nested),
    "gradient of a recurrence": gradient_of(recurrent),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_agree_with_the_plan(name: str) -> None:
    results = [
        tf.function(PROGRAMS[name], jit_compile=compiler)(tf.constant(X)) for compiler in (False, "xla")
    ]
    for one, other in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)


def test_reads_beyond_the_end_name_the_line() -> None:
    @tf.function(jit_compile="xla")
    def element(i: Any) -> Any:
        values = []
        for j in tf.range(3):
            values.append(j * 10)
        return values[i]

    assert int(element(tf.constant(-1))) == 20
    with pytest.raises(IndexError, match="list index out of range"):
        element(tf.constant(3))


def test_lists_that_grow_without_a_bound_are_refused() -> None:
    def halved(x: Any) -> Any:
        values = []
        while x > 1.0:
            x = x / 2.0
            values.append(x)
        return values[-1]

    with pytest.raises(
        CompilationError, match="whose number of iterations is unknown: give the loop `maximum_iter"
    ):
        tf.function(halved, jit_compile="xla")(tf.constant(9.0))

    def bounded(x: Any) -> Any:
        values = []
        while x > 1.0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=20)
            x = x / 2.0
            values.append(x)
        return values[-1]

    assert float(tf.function(bounded, jit_compile="xla")(tf.constant(9.0))) == 0.5625
