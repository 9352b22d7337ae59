"""`tape.explain` names the operations between a source and a target, their lines, and where the way is cut."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest


def explained(f: Any, x: Any = None, watch: bool = True) -> list[str]:
    x = tf.constant(3.0) if x is None else x
    with tf.GradientTape() as tape:
        if watch:
            tape.watch(x)
        y = f(x)
    text = tape.explain(y, x)
    tape.gradient(y, x)  # the tape is as it was
    return text.splitlines()


def test_a_way_that_is_open() -> None:
    head, square, sine = explained(lambda x: tf.sin(tf.square(x)))
    assert head.endswith("is there")
    assert square.split()[:2] == ["square", "float32()"]
    assert "test_explaining.py" in square
    assert sine.split()[0] == "sin"
    assert "cut" not in square + sine


def test_integers() -> None:
    head, square, cast, *_ = explained(lambda x: tf.cast(tf.cast(x * x, tf.int32), tf.float32))
    assert head.endswith("is None: no recorded operations lead from the one to the other")
    assert square.split()[0] == "multiply"
    assert cast.endswith("cut: int32 has no derivatives")


def test_stop_gradient() -> None:
    head, square, stop, add = explained(lambda x: tf.stop_gradient(tf.square(x)) + 1.0)
    assert head.endswith("is None")
    assert "cut" not in square + add
    assert "cut: " in stop


def test_zero() -> None:
    head, negative, relu, double = explained(lambda x: tf.nn.relu(-x) * 2.0)
    assert head.endswith("is zero")
    assert relu.endswith("cut: its derivative is zero here")
    assert "cut" not in negative + double


def test_what_is_not_watched() -> None:
    assert "does not watch the tensor" in explained(lambda x: x * x, watch=False)[0]
    fixed = tf.Variable(2.0, trainable=False)
    assert explained(lambda v: v * v, fixed, watch=False)[0].count("it is not trainable") == 1
    unread = tf.Variable(2.0)
    assert (
        "was not read while the tape recorded"
        in explained(lambda v: tf.constant(1.0), unread, watch=False)[0]
    )
    assert "int32 has no derivatives" in explained(lambda x: x + 1, tf.constant(1), watch=False)[0]


def test_numpy_ends_the_way() -> None:
    lines = explained(lambda x: tf.constant((x * x).numpy()) * 2.0)
    assert lines[1].split()[0] == "multiply"
    assert "with NumPy" in lines[-1]


def test_assigned_to_a_variable() -> None:
    v = tf.Variable(0.0)

    def through(x: Any) -> Any:
        v.assign(x * 2.0)
        return v * 1.0

    assert any(
        "assign_variable" in line and "cut: what a variable is assigned" in line
        for line in explained(through)
    )


def test_what_nobody_reads() -> None:
    (line,) = explained(lambda x: tf.constant(1.0) * 2.0)
    assert line.endswith("no operation that the tape recorded reads the source")


def test_in_a_graph() -> None:
    texts = []

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.round(x * x)
            z = tf.stop_gradient(y) * x if x > 1.0 else x
        texts.append(tape.explain(z, x))
        texts.append(tape.explain(y, x))
        return z

    f(tf.constant(2.0))
    assert "is there" in texts[0]
    assert "round" in texts[1]
    assert "test_explaining.py" in texts[1]


def test_a_used_tape() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="before gradient"):
        tape.explain(y, x)
