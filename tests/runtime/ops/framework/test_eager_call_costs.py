"""The number of Python functions that a kept eager call enters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
from support.entered_code import entered

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def frames_of(call: Callable[[], Any]) -> int:
    """Return how many Python functions run in a call that has run before, itself left out."""
    for _ in range(3):
        call()
    return len(entered(call)[1]) - 1


def test_a_kept_call_runs_few_python_functions(language: str) -> None:
    """The call and the kernel; without the extension also the way to the kernel, and the result."""
    x, y, v = tf.constant(X), tf.constant(X), tf.Variable(X)
    way = 0 if language == "c" else 5
    assert frames_of(lambda: tf.add(x, y)) <= 2 + way
    assert frames_of(lambda: x * y) <= 2 + way
    assert frames_of(lambda: x * 2.0) <= 4 + way
    assert frames_of(lambda: x == y) <= 4 + way
    assert frames_of(lambda: tf.reduce_sum(x, axis=1)) <= 3 + way
    assert frames_of(lambda: tf.matmul(x, y, transpose_b=True)) <= 3 + way
    assert frames_of(lambda: x[1]) <= 3 + way
    assert frames_of(lambda: tf.cast(x, tf.float64)) <= 3 + way
    assert frames_of(lambda: v.assign_sub(x)) <= 12 + way


def test_a_tape_adds_few_python_functions(language: str) -> None:
    x = tf.constant(X)
    way = 0 if language == "c" else 7
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert frames_of(lambda: tf.reduce_sum(x, axis=1)) <= 5 + way
        assert frames_of(lambda: tf.exp(x)) <= 3 + way
