"""Gradients of losses and of broadcasting in native code."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

X = np.linspace(-3, 3, 24).reshape(4, 6)
LABELS = np.array([0, 5, 2, 2], np.int32)

PROGRAMS = {
    "relu": lambda x: tf.nn.relu(x),
    "softmax": lambda x: tf.nn.softmax(x),
    "softmax of columns": lambda x: tf.nn.softmax(x, axis=0),
    "log_softmax": lambda x: tf.nn.log_softmax(x),
    "sparse cross entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, x),
    "cross entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(LABELS, 6), x),
}


def check(program: Any, *arrays: np.ndarray[Any, Any], tolerance: float = 1e-6) -> None:
    function = (
        program if isinstance(program, tf.types.experimental.PolymorphicFunction) else tf.function(program)
    )
    graph = function.get_concrete_function(*map(tf.constant, arrays)).graph
    found, wanted = JitFunction(graph).run(list(arrays)), interpret(graph, arrays)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_activations(name: str, dtype: str) -> None:
    check(PROGRAMS[name], X.astype(dtype))


@pytest.mark.parametrize("name", ["softmax", "sparse cross entropy", "cross entropy", "relu"])
def test_gradients_of_activations(name: str) -> None:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = PROGRAMS[name](x) ** 2
        return tape.gradient(y, x)

    check(gradient, X)


def test_gradients_of_broadcasting() -> None:
    """They are sums along the axes that a tensor was broadcast along."""

    def gradients(x: Any, row: Any, column: Any, number: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([row, column, number])
            y = tf.reduce_mean(x * row + column * number, axis=1)
        return tape.gradient(y, [row, column, number])

    check(gradients, X, X[0], X[:, :1], np.array(2.0))


def test_rows_of_a_jacobian_have_gradients_of_elements() -> None:
    """Begin each as a list of one row of which only some elements are read."""

    def curvature(p: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(p)
            with tf.GradientTape() as inner:
                inner.watch(p)
                y = tf.reduce_sum(
                    tf.linalg.cholesky(p[0] * tf.ones([2, 2], p.dtype) + p[1] * tf.eye(2, dtype=p.dtype))
                )
            slope = inner.gradient(y, p)
        return outer.jacobian(slope, p)

    check(curvature, np.array([0.5, 2.0]))


SIZES = {
    "a loop": lambda x, w: repeated(lambda y: tf.exp(0.1 * y) * w, x),
    "a loop in a loop": lambda x, w: repeated(lambda y: repeated(lambda z: tf.sin(z) * w, y) + x, x),
    "sums of differences": lambda x, w: repeated(
        lambda y: tf.reduce_sum((y[None] - y[:, None]) ** 2, 1) * w, x
    ),
    "a size that changes": lambda x, w: repeated(lambda y: tf.sqrt(y * y + 1.0), tf.concat([x * w, x], 0)),
}


def repeated(step: Any, x: Any) -> Any:
    for _ in tf.range(3):
        x = step(x)
    return x


@pytest.mark.parametrize("name", SIZES)
def test_gradients_of_loops_over_dynamic_sizes(name: str) -> None:
    """What rounds keep for the way back has one shape, and so do the shapes that gradients are summed to."""

    def gradient(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = SIZES[name](x, w)
        return tape.gradient(y, [x, w])

    signature = [tf.TensorSpec([None, 6], tf.float64), tf.TensorSpec([None], tf.float64)]
    check(tf.function(gradient, input_signature=signature), X / 3, X[0] / 3)


def test_forward_accumulators_work_through_loops() -> None:
    """Compute the gradient of a gradient, most of whose state is unused; some of it has no shape."""

    def along(x: Any, rate: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(rate, tf.ones_like(rate)) as accumulator:
            for _ in tf.range(4):
                x = x + rate * tf.sin(x)
        return accumulator.jvp(x)

    check(along, X[0], np.array(0.25))


def test_a_label_that_is_no_class_is_the_plans_error() -> None:
    def loss(labels: Any, x: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)

    graph = tf.function(loss).get_concrete_function(tf.constant(LABELS), tf.constant(X)).graph
    native = JitFunction(graph)
    native.run([LABELS, X])
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 7"):
        native.run([LABELS + 2, X])


def test_tapes_around_compiled_functions_with_loops():
    @tf.function(jit_compile=True)
    def waves(x):
        y = x
        for _ in tf.range(5):
            y = tf.sin(y) * x
        return y

    def slope(f: Any) -> Any:
        x = tf.constant([1.0, 2.0], tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x).numpy()

    np.testing.assert_allclose(slope(waves), slope(waves.python_function), rtol=1e-12)


def test_tapes_do_not_hide_uncompilable_operations():
    @tf.function(jit_compile=True)
    def timed(x):
        return tf.cast(tf.timestamp(), x.dtype) * x

    x = tf.eye(2)
    with (
        tf.GradientTape() as tape,
        pytest.raises(tf.errors.InvalidArgumentError, match="timestamp: "),
    ):
        tape.watch(x)
        timed(x)


def test_branches_in_loops_over_rows_of_any_number() -> None:
    """What one branch saves the other has nothing of: it gets the shape that the rows have."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float64), tf.TensorSpec([], tf.int32)])
    def gradient(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.zeros_like(x)
            for i in tf.range(n):
                if i % 2 == 0:
                    y = tf.tanh(y * x + 1.0) * x
                elif i == 3:
                    y = tf.exp(-y) @ tf.transpose(x) @ x
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    check(gradient, X[:, :2], np.array(5, np.int32))


MAPPED = {
    "rows": lambda x: tf.map_fn(tf.sin, x),
    "rows of two kinds": lambda x: tf.map_fn(lambda row: tf.cumsum(row) if row[0] > 0 else -row, x),
    "rows of rows": lambda x: tf.map_fn(
        lambda row: tf.map_fn(lambda one: one * one * tf.reduce_sum(row), row), x
    ),
    "all rows at once": lambda x: tf.vectorized_map(lambda row: tf.linalg.matvec(row[:, None] * row, row), x),
}


@pytest.mark.parametrize("name", MAPPED)
def test_gradients_of_map_fn_over_dynamic_sizes(name: str) -> None:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = MAPPED[name](x)
        return tape.gradient(y, x)

    signature = [tf.TensorSpec([None, None], tf.float64)]
    check(tf.function(gradient, input_signature=signature), X[:3, :4])


def test_gradients_of_empty_tensors() -> None:
    """The way back of a loop over them would put something into nothing, if it ran."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([3, 2])], jit_compile=True)
    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            total = tf.zeros([2])
            for row in x @ w:
                total += tf.tanh(row)
        return tape.gradient(total, [x, w])

    d_x, d_w = gradients(tf.zeros([0, 3]), tf.ones([3, 2]))
    assert d_x.shape == [0, 3]
    assert d_w.numpy().tolist() == [[0, 0]] * 3


def test_custom_gradients_may_use_variables() -> None:
    """What says how gradients are taken is dropped, with the variables that it names."""
    weight, sums = tf.Variable([[0.5, -0.25], [0.125, 1.0]]), tf.Variable([0.0, 0.0])

    @tf.recompute_grad
    def layer(x: Any) -> Any:
        return tf.tanh(x @ weight)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(3):
                y = layer(y)
                if tf.reduce_sum(y) > 0.1:
                    y = layer(-y)
                sums.assign_add(y[0])
            loss = tf.reduce_sum(y * y)
        return loss, tape.gradient(loss, weight), sums.read_value()

    x = tf.constant([[1.0, 2.0], [-0.5, 0.75]])
    results = []
    for is_native in (False, True):
        sums.assign([0.0, 0.0])
        results.append(tf.function(gradient, jit_compile=is_native)(x))
    for plan, native in zip(*results, strict=True):
        np.testing.assert_allclose(native, plan, rtol=1e-6)
