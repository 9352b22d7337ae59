"""Programs with tapes, clause by clause: what each gives is TensorFlow's, recorded in `fixtures/tensorflow/tapes.json`.

A program is a function of `tf` that gives tensors, None, texts, or nests of them; or raises. `make differential
WITH=--record` writes TensorFlow's answers.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "tapes.json"

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[f.__name__] = f
    return f


def answer(f: Callable[[Any], Any], tf: Any) -> Any:
    """What a program gives, as JSON has it; the class and the text of an exception."""
    try:
        return plain(f(tf))
    except Exception as error:
        text = str(error).split("\n")[0].replace("tf.", "")
        return f"! {type(error).__name__}: {text}"


def plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if hasattr(value, "dense_shape"):
        return ["slices", plain(value.values), plain(value.indices)]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return [np.real(array).tolist(), np.imag(array).tolist()]
    return (
        [float(f"{number:.6g}") for number in array.ravel().tolist()]
        if array.ndim
        else float(f"{float(array):.6g}")
    )


def read() -> dict[str, Any]:
    """TensorFlow's answers."""
    found: dict[str, Any] = json.loads(PATH.read_text())
    return found


def record(tf: Any) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(answer(f, tf))}" for name, f in PROGRAMS.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


DIFFERENT = {
    "watch_before_recording": "it may be called before the block",
    "output_gradients": "None stands for ones in a list, too",
    "a_source_that_is_no_tensor": "a TypeError says so, not an AttributeError",
    "a_jacobian_without_pfor": "no persistent tape is needed", "a_batch_jacobian_without_pfor": "the same",
}  # fmt: skip
"""Programs with another answer, on purpose."""


def agree(one: Any, other: Any) -> bool:
    """Whether two answers are the same but for the last digits; of exceptions the classes are compared."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, str) and isinstance(other, str) and one.startswith("! "):
        return one.split(":")[0] == other.split(":")[0]
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True))
    return type(one) is type(other) and bool(one == other)


def warned(tf: Any, f: Callable[[], Any]) -> bool:
    """Whether something is logged as a warning."""
    found: list[Any] = []
    handler = logging.Handler()
    handler.emit = found.append  # type: ignore[method-assign]
    loggers = [logging.getLogger(name) for name in ("agc", "tensorflow", "absl")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        f()
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    return any(entry.levelno >= logging.WARNING for entry in found)


# What is watched.


@program
def a_trainable_variable_is_watched(tf: Any) -> Any:
    v, w = tf.Variable(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * w
    return [len(tape.watched_variables()), tape.gradient(y, [v, w])]


@program
def a_constant_is_not_watched(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


@program
def watching_begins_when_watch_is_called(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = x * 5.0
    return tape.gradient([y, z], x)


@program
def watch_takes_nests(tf: Any) -> Any:
    x = {"a": tf.constant(3.0), "b": [tf.constant(2.0), tf.Variable(5.0)]}
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = x["a"] * x["b"][0] * x["b"][1]
    return tape.gradient(y, x)


@program
def watch_refuses_numbers(tf: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(3.0)


@program
def watch_before_recording(tf: Any) -> Any:
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    tape.watch(x)
    with tape:
        y = x * x
    return tape.gradient(y, x)


@program
def variables_are_not_watched_when_that_is_off(tf: Any) -> Any:
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        tape.watch(w)
        y = v * w
    return [tape.gradient(y, v), tape.gradient(y, w), [x.numpy() for x in tape.watched_variables()]]


@program
def an_untrainable_variable_can_be_watched(tf: Any) -> Any:
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    return tape.gradient(y, v)


@program
def integers_are_warned_about(tf: Any) -> Any:
    x = tf.constant(3)

    def run() -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert tape.gradient(y, x) is None

    return warned(tf, run)


@program
def a_target_of_integers(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x * x, tf.int32)
    return tape.gradient(y, x)


@program
def through_integers_and_back(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(tf.cast(x, tf.int32), tf.float32) * x
    return tape.gradient(y, x)


@program
def a_variable_that_is_read_in_a_function(tf: Any) -> Any:
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * x)
    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    return [len(tape.watched_variables()), tape.gradient(y, v)]


# Recording.


@program
def resources_are_released(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)


@program
def jacobian_releases_too(tf: Any) -> Any:
    x = tf.Variable([3.0, 1.0])
    with tf.GradientTape() as tape:
        y = x * x
    tape.jacobian(y, x)
    tape.gradient(y, x)


@program
def a_persistent_tape(tf: Any) -> Any:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return [tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)]


@program
def gradients_of_intermediate_values(tf: Any) -> Any:
    x = tf.ones((2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x)
        z = y * y
    return tape.gradient(z, y)


@program
def recording_can_be_stopped(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * x
        w = z + y
    return tape.gradient(w, x)


@program
def gradient_while_recording_is_stopped(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
        z = g * x
    return [g, tape.gradient(z, x)]


@program
def stopping_what_does_not_record(tf: Any) -> Any:
    tape = tf.GradientTape()
    with tape.stop_recording():
        pass


@program
def entering_twice(tf: Any) -> Any:
    with tf.GradientTape() as tape, tape:
        pass


@program
def entering_again(tf: Any) -> Any:
    x, tape = tf.Variable(3.0), tf.GradientTape(persistent=True)
    with tape:
        y = x * x
    with tape:
        z = y * x
    return tape.gradient(z, x)


@program
def reset_forgets(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = y * x
    return tape.gradient(z, x)


@program
def reset_outside(tf: Any) -> Any:
    tape = tf.GradientTape()
    tape.reset()


@program
def gradient_inside_the_block(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        return tape.gradient(y, x)


@program
def reassigned_names_are_other_tensors(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x + 1
    x = x + 1
    return tape.gradient(y, x)


@program
def through_numpy(tf: Any) -> Any:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(np.mean((x * x).numpy(), axis=0))
    return tape.gradient(y, x)


@program
def control_flow_as_executed(tf: Any) -> Any:
    v0, v1 = tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        result = v0 if tf.constant(1.0) > 0.0 else v1**2
    return [tape.gradient(result, v0), tape.gradient(result, v1)]


@program
def an_exception_ends_the_recording(tf: Any) -> Any:
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    try:
        with tape:
            y = x * x
            raise KeyError
    except KeyError:
        pass
    return tape.gradient(y, x)


# Targets, sources, output_gradients.


@program
def several_targets_are_added(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0, y1 = x**2, 1 / x
    return tape.gradient({"a": y0, "b": y1}, x)


@program
def targets_of_any_shape_are_summed(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * [[3.0], [4.0]]
    return tape.gradient(y, x)


@program
def sources_in_a_nest(tf: Any) -> Any:
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable([0.5])
    with tf.GradientTape() as tape:
        y = tf.constant([[3.0, 4.0]]) @ w + b
    return tape.gradient(y, {"w": w, "more": (b, [b])})


@program
def the_target_is_the_source(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
    return tape.gradient([y, y], [y, x])


@program
def a_variable_as_target(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(x, x)


@program
def unconnected_gradients_none(tf: Any) -> Any:
    x, y = tf.Variable(2.0), tf.Variable([3.0, 1.0])
    with tf.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, x)


@program
def unconnected_gradients_zero(tf: Any) -> Any:
    x, y = tf.Variable([2.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


@program
def unconnected_gradients_by_name(tf: Any) -> Any:
    x, y = tf.Variable([2.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, x, unconnected_gradients="zero")


@program
def unconnected_gradients_of_another_name(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = x * x
    return tape.gradient(z, x, unconnected_gradients="nothing")


@program
def output_gradients(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y, z = x * x, 3 * x
    return tape.gradient([y, z], x, output_gradients=[tf.constant([1.0, 10.0]), None])


@program
def a_source_that_is_no_tensor(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, 2.0)


@program
def a_gather_gives_slices(tf: Any) -> Any:
    x = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(x, [0, 2, 0])
    return tape.gradient(y, x)


@program
def stop_gradient(tf: Any) -> Any:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x) * x
    return tape.gradient(y, x)


@program
def complex_numbers(tf: Any) -> Any:
    x = tf.constant(3.0 + 4.0j, tf.complex64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, tf.abs(x)
    return [tape.gradient(y, x), tape.gradient(z, x)]


@program
def mixed_dtypes(tf: Any) -> Any:
    x, y = tf.Variable(3.0), tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        z = tf.cast(x, tf.float64) * y
    grads = tape.gradient(z, [x, y])
    return [grads, [g.dtype.name for g in grads]]


@program
def assigned_in_between(tf: Any) -> Any:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = v * y
    return tape.gradient(z, v)


@program
def assigned_from_itself(tf: Any) -> Any:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w.assign(v * v)
        z = w * v
    return tape.gradient(z, [v, w])


# Jacobians.


@program
def a_jacobian(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], x[0] ** 2, x[1]])
    j = tape.jacobian(y, x)
    return [j, str(j.shape)]


@program
def a_jacobian_of_several_sources(tf: Any) -> Any:
    w, b = tf.Variable([[1.0, 2.0]]), tf.Variable([0.5, 0.2])
    with tf.GradientTape() as tape:
        y = tf.sigmoid(tf.constant([[3.0]]) @ w + b)
    return [[j, str(j.shape)] for j in tape.jacobian(y, [w, b])]


@program
def a_jacobian_without_pfor(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x**3
    return tape.jacobian(y, x, experimental_use_pfor=False, parallel_iterations=2)


@program
def an_unconnected_jacobian(tf: Any) -> Any:
    x, z = tf.Variable([1.0, 2.0]), tf.Variable([[1.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
    return [tape.jacobian(y, z), tape.jacobian(y, [z, x], unconnected_gradients="zero")[1]]


@program
def a_batch_jacobian(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0] ** 2, x[:, 1]], 1)
    j = tape.batch_jacobian(y, x)
    return [j, str(j.shape)]


@program
def a_batch_jacobian_without_pfor(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.batch_jacobian(y, x, experimental_use_pfor=False)


@program
def a_batch_jacobian_of_other_batches(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(x, [1, 4])
    return tape.batch_jacobian(y, x)


@program
def a_jacobian_in_a_function(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x[::-1]
        return tape.jacobian(y, x)

    return f(tf.constant([1.0, 2.0, 3.0]))


@program
def a_hessian_by_jacobian(tf: Any) -> Any:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


# Higher orders, functions.


@program
def third_derivatives(tf: Any) -> Any:
    x = tf.Variable(2.0)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                y = x**4
            first = c.gradient(y, x)
        second = b.gradient(first, x)
    return [first, second, a.gradient(second, x)]


@program
def nested_tapes_over_a_function(tf: Any) -> Any:
    x, f = tf.Variable(2.0), tf.function(lambda x: tf.sin(x) * x)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            y = f(x)
        first = b.gradient(y, x)
    return [first, a.gradient(first, x)]


@program
def tapes_inside_of_a_function(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as a:
            a.watch(x)
            with tf.GradientTape() as b:
                b.watch(x)
                y = x**3
            first = b.gradient(y, x)
        return first, a.gradient(first, x)

    return f(tf.constant(2.0))


@program
def a_tape_inside_and_one_outside(tf: Any) -> Any:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        g = slope(x)
    return [g, tape.gradient(g, x)]


@program
def two_tapes_side_by_side(tf: Any) -> Any:
    x0, x1 = tf.constant(0.0), tf.constant(1.0)
    with tf.GradientTape() as t0, tf.GradientTape() as t1:
        t0.watch(x0)
        t1.watch(x1)
        y = tf.sin(x0) + tf.sigmoid(x1)
    return [t0.gradient(y, x0), t1.gradient(y, x1)]


@program
def loops_in_a_function(tf: Any) -> Any:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        y = x
        for i in tf.range(n):
            if i % 2 == 0:
                y *= x
            else:
                y += tf.sin(x)
        return y

    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(5))
    return [y, tape.gradient(y, x)]


@program
def gradients_of_a_graph(tf: Any) -> Any:
    @tf.function
    def f(a: Any, b: Any) -> Any:
        y = a * a * b
        z = a + b
        return [
            tf.gradients(y, [a, b]), tf.gradients([y, z], a, grad_ys=[tf.constant(2.0), None]),
            tf.gradients(z, [a], stop_gradients=[a]), tf.gradients(tf.gradients(y, a), [a, b]),
        ]  # fmt: skip

    return f(tf.constant(3.0), tf.constant(4.0))


@program
def stop_gradients_in_between(tf: Any) -> Any:
    @tf.function
    def f() -> Any:
        a = tf.constant(0.0)
        b = 2 * a
        return tf.gradients(a + b, [a, b], stop_gradients=[a, b])

    return f()


@program
def unconnected_gradients_of_a_graph(tf: Any) -> Any:
    @tf.function
    def f(a: Any, b: Any) -> Any:
        assert tf.gradients(a * a, b) == [None]
        return tf.gradients(a * a, b, unconnected_gradients="zero")

    return f(tf.constant(3.0), tf.constant([4.0, 1.0]))


@program
def gradients_need_a_graph(tf: Any) -> Any:
    x = tf.constant(1.0)
    return tf.gradients(x * x, x)


@program
def hessians_of_a_graph(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        return tf.hessians(tf.reduce_prod(x), x)

    return f(tf.constant([2.0, 3.0]))


# Custom gradients.


@program
def log1pexp(tf: Any) -> Any:
    @tf.custom_gradient
    def stable(x: Any) -> Any:
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = stable(x), tf.math.log(1 + tf.exp(x))
    return [tape.gradient(y, x), tape.gradient(z, x)]


@program
def gradients_clipped_on_the_way_back(tf: Any) -> Any:
    @tf.custom_gradient
    def clipped(y: Any) -> Any:
        return tf.identity(y), lambda dy: tf.clip_by_norm(dy, 0.5)

    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = clipped(v * v)
    return tape.gradient(y, v)


def _scaling(tf: Any) -> Any:
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        def grad(dy: Any, variables: Any = None) -> Any:
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    return v, scaled


@program
def a_custom_gradient_with_a_variable(tf: Any) -> Any:
    v, scaled = _scaling(tf)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    return [y, tape.gradient(y, [x, v])]


@program
def a_custom_gradient_with_a_variable_in_a_function(tf: Any) -> Any:
    v, scaled = _scaling(tf)
    f, x = tf.function(scaled), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, [x, v])]


@program
def a_custom_gradient_that_takes_no_variables(tf: Any) -> Any:
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return x * v, lambda dy: dy

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    return tape.gradient(y, x)


@program
def a_custom_gradient_of_the_wrong_number(tf: Any) -> Any:
    @tf.custom_gradient
    def f(a: Any, b: Any) -> Any:
        return a * b, lambda dy: dy

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    return tape.gradient(y, x)


@program
def a_custom_gradient_of_two_results(tf: Any) -> Any:
    @tf.custom_gradient
    def f(a: Any, b: Any) -> Any:
        return (a + b, a * b), lambda da, db: (da, db)

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        x, y = f(a, b)
        z = 5.0 * x + 7.0 * y
    return tape.gradient(z, [a, b])


@program
def a_custom_gradient_twice(tf: Any) -> Any:
    @tf.custom_gradient
    def cubed(x: Any) -> Any:
        return x**3, lambda dy: dy * 5.0 * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as a:
        a.watch(x)
        with tf.GradientTape() as b:
            b.watch(x)
            y = cubed(x)
        first = b.gradient(y, x)
    return [first, a.gradient(first, x)]


@program
def nested_custom_gradients(tf: Any) -> Any:
    @tf.custom_gradient
    def cubed(x: Any) -> Any:
        @tf.custom_gradient
        def slope(x: Any) -> Any:
            return 3.0 * x * x, lambda dy: dy * 77.0

        return x**3, lambda dy: dy * slope(x)

    x = tf.constant(2.0)
    with tf.GradientTape() as a:
        a.watch(x)
        with tf.GradientTape() as b:
            b.watch(x)
            y = cubed(x)
        first = b.gradient(y, x)
    return [first, a.gradient(first, x)]


@program
def a_custom_gradient_with_options(tf: Any) -> Any:
    @tf.custom_gradient
    def f(x: Any, by: float = 2.0) -> Any:
        return x * by, lambda dy: dy * by * 10.0

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, by=3.0)
    return tape.gradient(y, x)


@program
def recomputed(tf: Any) -> Any:
    v = tf.Variable(3.0)
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return tf.sin(x * v)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(f)(x)
    return [y, tape.gradient(y, [x, v]), len(calls) > 1]


@program
def recomputed_in_a_function(tf: Any) -> Any:
    v = tf.Variable(3.0)
    f = tf.function(lambda x: tf.recompute_grad(lambda x: tf.sin(x * v))(x) * 2.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, [x, v])]


@program
def passed_through(tf: Any) -> Any:
    x = tf.constant(2.4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x) ** 2
    return [y, tape.gradient(y, x)]


# Forward.


@program
def a_jvp(tf: Any) -> Any:
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    v = tf.constant([[1.0], [0.5]])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([[1.0], [10.0]])) as acc:
        y = tf.tanh(x @ v)
        z = tf.reduce_sum(y**2)
    return [acc.jvp(y), acc.jvp(z), acc.jvp(x), acc.jvp(x, unconnected_gradients="zero")]


@program
def a_jvp_of_several_primals(tf: Any) -> Any:
    a, b = tf.Variable(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(primals=[a, b], tangents=[tf.constant(1.0), tf.constant(5.0)]) as acc:
        y = a * b * b
    return acc.jvp(y)


@program
def a_jvp_while_recording(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x**3
        return acc.jvp(y)


@program
def a_hessian_vector_product(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0, 2.0])) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3) + v[0] * v[1] * v[2]
        back = tape.gradient(y, v)
    return [back, acc.jvp(back)]


@program
def nested_accumulators(tf: Any) -> Any:
    x = tf.constant(2.0)
    with (
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer,
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner,
    ):
        y = x**4
    return [inner.jvp(y), outer.jvp(y), outer.jvp(inner.jvp(y))]


@program
def a_jvp_of_a_function(tf: Any) -> Any:
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * x))
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as acc:
        y = f(x)
    return acc.jvp(y)


# Checking.


@program
def computed_both_ways(tf: Any) -> Any:
    return tf.test.compute_gradient(lambda x, y: x * y, [tf.constant([1.0, 2.0]), tf.constant(3.0)])


@program
def computed_of_a_nest(tf: Any) -> Any:
    return tf.test.compute_gradient(tf.sin, tf.constant(1.0))


# Where gradients meet.


@program
def the_branch_not_taken_leaks(tf: Any) -> Any:
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0, tf.sqrt(x), 0.0)
    return tape.gradient(y, x)


@program
def ties_share(tf: Any) -> Any:
    x = tf.constant([2.0, 5.0, 5.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [tf.reduce_max(x), tf.maximum(x[1], x[2]), tf.math.top_k(x, 2)[0], tf.sort(x)[1:]]
    return [tape.gradient(y, x) for y in ys]


@program
def a_division_without_nan(tf: Any) -> Any:
    x, y = tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.math.divide_no_nan(x, y)
    return tape.gradient(z, [x, y])


@program
def a_tensor_array(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            array = array.write(i, x[i] ** 2)
        y = tf.reduce_sum(array.stack() * [1.0, 10.0, 100.0])
    return tape.gradient(y, x)


@program
def mapped_and_scanned(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [tf.map_fn(lambda a: a * a, x), tf.scan(lambda s, a: s * a, x), tf.foldl(lambda s, a: s * a, x)]
    return [tape.gradient(y, x) for y in ys]


@program
def a_print_is_passed(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(x * x, "fine")
    return tape.gradient(y, x)


@program
def a_python_function_is_differentiated(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a**3, [x], tf.float32)
    return tape.gradient(y, x)


@program
def a_numpy_function_is_not(tf: Any) -> Any:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.numpy_function(lambda a: a**3, [x], tf.float32) * x
    return tape.gradient(y, x)
