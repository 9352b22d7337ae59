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


def test_a_connected_path_is_listed() -> None:
    head, square, sine = explained(lambda x: tf.sin(tf.square(x)))
    assert head.endswith("is there")
    assert square.split()[:2] == ["square", "float32()"]
    assert "test_explain.py" in square
    assert sine.split()[0] == "sin"
    assert "cut" not in square + sine


def test_integers() -> None:
    head, square, cast, *_ = explained(lambda x: tf.cast(tf.cast(x * x, tf.int32), tf.float32))
    assert head.endswith(
        "is None: no recorded operations lead from the one to the other; the target is a result of none"
    )
    assert square.split()[0] == "multiply"
    assert cast.endswith("cut: int32 has no derivatives")


def test_stop_gradient() -> None:
    head, square, stop, fix, add = explained(lambda x: tf.stop_gradient(tf.square(x)) + 1.0)
    assert head.endswith("is None")
    assert "cut" not in square + add
    assert "cut: stop_gradient makes it a constant" in stop and "fix: leave it out" in fix


def test_zero() -> None:
    head, negative, relu, fix, double = explained(lambda x: tf.nn.relu(-x) * 2.0)
    assert head.endswith("is zero")
    assert relu.endswith("cut: its derivative is zero here")
    assert "cut" not in negative + double
    assert "fix: check its inputs" in fix


def test_unwatched_sources_are_explained() -> None:
    assert "does not watch the tensor" in explained(lambda x: x * x, watch=False)[0]
    fixed = tf.Variable(2.0, trainable=False)
    assert explained(lambda v: v * v, fixed, watch=False)[0].count("it is not trainable") == 1
    unread = tf.Variable(2.0)
    assert (
        "was not read while the tape recorded"
        in explained(lambda v: tf.constant(1.0), unread, watch=False)[0]
    )
    assert "int32 has no derivatives" in explained(lambda x: x + 1, tf.constant(1), watch=False)[0]


def test_conversion_to_numpy_cuts_the_path() -> None:
    lines = explained(lambda x: tf.constant((x * x).numpy()) * 2.0)
    assert lines[1].split()[0] == "multiply"
    assert "  NumPy or Python numbers, as in x.numpy(), np.sin(x), float(x): use the functions of tf" in lines


def test_assigned_to_a_variable() -> None:
    v = tf.Variable(0.0)

    def through(x: Any) -> Any:
        v.assign(x * 2.0)
        return v * 1.0

    assert any(
        "assign_variable" in line and "cut: an assignment has no gradient" in line
        for line in explained(through)
    )


def test_an_unread_source_is_explained() -> None:
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
    assert "test_explain.py" in texts[1]


def inner(x: Any) -> Any:
    return tf.round(x * V) + tf.square(x)


def outer(x: Any) -> Any:
    V.assign_add(0.0 * x)
    return tf.function(inner)(x) * 2.0


@pytest.mark.parametrize(("function", "is_persistent"), [(inner, False), (inner, True), (outer, True)])
def test_the_path_through_a_call_is_shown(function: Any, is_persistent: bool) -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=is_persistent) as tape:
        tape.watch(x)
        y = tf.function(function)(x)
    head, *lines = tape.explain(y, x).splitlines()
    assert head.endswith("is there")
    assert [line.split()[0] for line in lines[:2]] == ["square", "add"]  # and not the one by `round`
    assert all(line.endswith("in inner") for line in lines[:2])


def test_a_used_tape() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="before gradient"):
        tape.explain(y, x)


V = tf.Variable(3.0)


def an_index(tape: Any) -> Any:
    return V, tf.cast(tf.argmax(tf.stack([V, 2.0])), tf.float32)


def a_comparison(tape: Any) -> Any:
    return V, tf.reduce_mean(tf.cast(V > 1.0, tf.float32))


def a_python_number(tape: Any) -> Any:
    return V, tf.constant(float(V * 2.0)) * 2.0


def a_tape_that_is_stopped(tape: Any) -> Any:
    half = V * 0.5
    with tape.stop_recording():
        return V, half * 2.0


def a_rounded_number_in_a_function(tape: Any) -> Any:
    return V, tf.function(lambda: tf.round(V * 2.0) * 3.0)()


def a_source_that_comes_later(tape: Any) -> Any:
    y = V * 2.0
    return tf.identity(V), y


def a_name_for_another_tensor(tape: Any) -> Any:
    x = tf.constant(2.0)
    tape.watch(x)
    y = x * x
    x = tf.constant(3.0)
    return x, y


def a_tensor_of_another_function(tape: Any) -> Any:
    kept = []
    tf.function(lambda x: kept.append(x * V) or x)(tf.constant(1.0))
    return V, kept[0]


def an_assignment(tape: Any) -> Any:
    w = tf.Variable(0.0)
    w.assign(V * V)
    return V, w * 2.0


@pytest.mark.parametrize(
    ("mistake", "cut", "fix"),
    [
        (an_index, "cut: int64 has no derivatives", "fix: weight all elements with tf.nn.softmax"),
        (a_comparison, "cut: bool has no derivatives", "fix: tf.sigmoid of the difference"),
        (a_python_number, "multiply", "float(x): use the functions of tf"),
        (a_tape_that_is_stopped, "multiply", "compute the target where the tape records"),
        (a_rounded_number_in_a_function, "cut: it is piecewise constant", "fix: tf.grad_pass_through(tf.round)"),
        (a_source_that_comes_later, "a result of `identity`", "pass a tensor from which the target was computed"),
        (a_name_for_another_tensor, "does not watch the tensor", "Fix: call tape.watch(tensor)"),
        (a_tensor_of_another_function, "the graph of another function", "Fix: return it from that function"),
        (an_assignment, "cut: an assignment has no gradient", "fix: compute with the tensor that is assigned"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_with_its_place_and_a_fix(mistake: Any, cut: str, fix: str) -> None:
    with tf.GradientTape(persistent=True) as tape:
        source, target = mistake(tape)
    text = tape.explain(target, source)
    assert cut in text and fix in text
    assert f"in {mistake.__name__}" in text or "function" in text or "watch" in text


def test_a_target_outside_of_the_block() -> None:
    with tf.GradientTape(persistent=True) as tape:
        y = V * 2.0
    text = tape.explain(y * 3.0, V)
    assert (
        "multiply" in text
        and "the end of the `with` block: compute the target where the tape records" in text
    )


def test_a_tape_that_watches_no_variables() -> None:
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        y = V * 2.0
    assert "watch_accessed_variables=False. Fix: tape.watch(variable)" in tape.explain(y, V)
