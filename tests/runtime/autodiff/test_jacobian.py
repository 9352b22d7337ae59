"""Jacobians, Hessians, derivatives along a direction, and the check by differences."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

A = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
X = tf.constant([1.0, 2.0])


def test_jacobian() -> None:
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.linalg.matvec(A, x * x)
        return tape.jacobian(y, x)

    expected = [[2.0, 8.0], [6.0, 16.0], [10.0, 24.0]]
    unknown = tf.function(jacobian, input_signature=[tf.TensorSpec([None])])
    for f in (jacobian, tf.function(jacobian), unknown):
        assert f(X).numpy().tolist() == expected


def test_the_shape_of_a_jacobian_is_that_of_target_and_source() -> None:
    m, v = tf.ones([2, 3]), tf.Variable(tf.ones([3, 4]))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(m)
        y = tf.matmul(m, v)
        z = m * 2.0
    assert [d.shape.as_list() for d in tape.jacobian(y, [m, v])] == [[2, 4, 2, 3], [2, 4, 3, 4]]
    assert tape.jacobian(z, v) is None
    assert tape.jacobian(z, v, unconnected_gradients="zero").shape.as_list() == [2, 3, 3, 4]


@pytest.mark.parametrize("persistent", [False, True])
def test_rows_of_indexed_slices_add_up_in_a_jacobian(persistent: bool) -> None:
    def second(x: Any) -> Any:
        with tf.GradientTape(persistent) as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.gather(x, [0, 1, 1]) ** 3)
            grad = tape.gradient(y, x)
            assert isinstance(grad, tf.IndexedSlices)
        return outer.jacobian(grad, x)

    for f in (second, tf.function(second), tf.function(second, input_signature=[tf.TensorSpec([None])])):
        assert f(X).numpy().tolist() == [[6.0, 0.0], [0.0, 24.0]]


def test_batch_jacobian() -> None:
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x * x, x**3], axis=-1)
        return tape.batch_jacobian(y, x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for f in (jacobian, tf.function(jacobian)):
        found = f(x).numpy()
        assert found.shape == (3, 2, 2, 2)
        for row, values in zip(found, x.numpy(), strict=True):
            expected = np.zeros((2, 2, 2))
            for i, value in enumerate(values):
                expected[i, :, i] = 2 * value, 3 * value**2
            np.testing.assert_allclose(row, expected, rtol=1e-5)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.transpose(x)
    with pytest.raises(ValueError, match="Need first dimension of target shape"):
        tape.batch_jacobian(y, x)


@pytest.mark.parametrize("shape", [None, [None, None, None]])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_the_shapes_of_jacobians_without_elements(shape: Any, jit_compile: bool) -> None:
    """A gradient of no elements has no rows: their shape is found anyway, also if only the call knows it."""

    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.jacobian(y, x)

    def batch_jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.concat([x, x], 1)
        return tape.batch_jacobian(y, x)

    of_any = tf.function(jacobian, input_signature=[tf.TensorSpec(shape)], jit_compile=jit_compile)
    of_rows = tf.function(
        batch_jacobian, input_signature=[tf.TensorSpec([None] * 3)], jit_compile=jit_compile
    )
    for x in (tf.zeros([0, 2, 3]), tf.zeros([2, 3, 0]), tf.ones([1, 2, 3])):
        rows, columns, last = x.shape
        assert jacobian(x).shape == of_any(x).shape == x.shape + x.shape
        assert batch_jacobian(x).shape == of_rows(x).shape == [rows, 2 * columns, last, columns, last]


def test_hessians() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.hessians(tf.reduce_sum(x**3) * x[0], x)

    assert f(X)[0].numpy().tolist() == [[12.0, 12.0], [12.0, 12.0]]


def test_derivatives_along_a_direction() -> None:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.autodiff.ForwardAccumulator([w], [tf.ones([2, 2])]) as acc:
        y = tf.linalg.matvec(w, X)
        z = X * 2.0
        inside = acc.jvp(y)
    assert inside.numpy().tolist() == [3.0, 3.0]
    assert acc.jvp([y, z])[1] is None
    assert acc.jvp(z, unconnected_gradients="zero").numpy().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="a tangent of shape"):
        tf.autodiff.ForwardAccumulator(w, tf.ones([3]))


def test_forward_over_reverse_is_a_hessian_times_a_vector() -> None:
    def product(x: Any, v: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3) * x[0]
            slope = tape.gradient(y, x)
        return acc.jvp(slope)

    v = tf.constant([1.0, -0.5])
    for f in (product, tf.function(product)):
        assert f(X, v).numpy().tolist() == [6.0, 6.0]


def test_forward_in_forward() -> None:
    x, one = tf.constant(2.0), tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, one) as outer:
        with tf.autodiff.ForwardAccumulator(x, one) as inner:
            y = x**4
        first = inner.jvp(y)
    assert [first.numpy(), outer.jvp(first).numpy()] == [32.0, 48.0]


def test_compute_gradient_compares_with_differences() -> None:
    by_tape, by_differences = tf.test.compute_gradient(
        lambda x, y: tf.matmul(x, y), [np.ones((2, 3)), np.arange(6.0).reshape(3, 2)]
    )
    assert [j.shape for j in by_tape] == [(4, 6), (4, 6)]
    for one, other in zip(by_tape, by_differences, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_jvp_of_composite_tensors() -> None:
    def along(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0])) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.gather(x, [0, 1, 1]) ** 3)
            slices = tape.gradient(y, x)
            ragged = tf.RaggedTensor.from_row_splits(x * x, [0, 2, 2])
        unrelated = tf.RaggedTensor.from_row_splits(tf.constant([5.0]), [0, 1])
        return acc.jvp([slices, ragged]), acc.jvp(unrelated), acc.jvp(unrelated, "zero")

    for f in (along, tf.function(along)):
        (slices, ragged), unrelated, zero = f(X)
        assert tf.convert_to_tensor(slices).numpy().tolist() == [6.0, 48.0]
        assert (ragged.to_list(), unrelated, zero.to_list()) == ([[2.0, 8.0], []], None, [[0.0]])
