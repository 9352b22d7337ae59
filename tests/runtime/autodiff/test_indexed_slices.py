"""Gradients of `gather` are IndexedSlices: where they stay so, and where they become dense. Checked with TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

X = tf.reshape(tf.range(12.0), (4, 3))


def gradient(f: Callable[[Any], Any], x: Any = X) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def parts(slices: Any) -> tuple[Any, ...]:
    assert isinstance(slices, tf.IndexedSlices)
    return tuple(part.numpy().tolist() for part in (slices.values, slices.indices, slices.dense_shape))


@pytest.mark.parametrize("x", [X, tf.Variable(X)], ids=["tensor", "variable"])
@pytest.mark.parametrize("indices", [[1, 1, 0], [[1], [1], [0]]], ids=["vector", "matrix"])
def test_gather_gives_slices(x: Any, indices: Any) -> None:
    rows = parts(gradient(lambda x: tf.gather(x, indices) * 2.0, x))
    assert rows == ([[2.0] * 3] * 3, [1, 1, 0], [4, 3])


def test_the_gradient_of_one_row_is_a_slice() -> None:
    assert parts(gradient(lambda x: tf.gather(x, 1))) == ([[1.0] * 3], [1], [4, 3])


def test_other_axes_give_tensors() -> None:
    assert gradient(lambda x: tf.gather(x, [1], axis=1)).numpy().tolist() == [[0.0, 1.0, 0.0]] * 4
    assert tf.is_tensor(gradient(lambda x: tf.gather(x, [[0], [0], [1], [1]], batch_dims=1)))


def test_sums_of_slices_are_slices() -> None:
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.gather(x, [1])) + 2.0 * tf.reduce_sum(tf.gather(tf.identity(x), [2, 1]))

    assert parts(gradient(f)) == ([[1.0] * 3, [2.0] * 3, [2.0] * 3], [1, 2, 1], [4, 3])


def test_slices_and_a_tensor_make_a_tensor() -> None:
    total = gradient(lambda x: tf.reduce_sum(tf.gather(x, [1, 1])) + tf.reduce_sum(x))
    assert total.numpy().tolist() == [[1.0] * 3, [3.0] * 3, [1.0] * 3, [1.0] * 3]


def test_slices_become_dense_in_other_operations() -> None:
    assert gradient(lambda x: tf.gather(x * 2.0, [1, 1])).numpy()[:2].tolist() == [[0.0] * 3, [4.0] * 3]


def test_embeddings_give_slices() -> None:
    table = tf.Variable(X)
    values, indices, _ = parts(gradient(lambda t: tf.nn.embedding_lookup(t, [1, 0], max_norm=1.0), table))
    assert indices == [1, 0]
    np.testing.assert_allclose(values[0], [0.03959798, 0.00565685, -0.02828427], rtol=1e-5)
    assert parts(gradient(lambda t: t.sparse_read([1, 1]), table))[1] == [1, 1]


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_graphs_return_slices(executor: str) -> None:
    v = tf.Variable(X)

    @tf.function(experimental_executor=executor)
    def rows(x: Any) -> Any:
        return tf.gather(x, [1, 1, 0]) * 2.0

    @tf.function(experimental_executor=executor)
    def inside(indices: Any) -> Any:
        return gradient(lambda v: tf.gather(v, indices) * 2.0, v)

    @tf.function(experimental_executor=executor)
    def around_a_call() -> Any:
        return gradient(rows, v)

    expected = ([[2.0] * 3] * 3, [1, 1, 0], [4, 3])
    assert parts(gradient(rows)) == expected
    assert parts(inside(tf.constant([1, 1, 0]))) == expected
    assert parts(around_a_call()) == expected


def test_unknown_shapes() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)])
    def slope(x: Any, indices: Any) -> Any:
        return gradient(lambda x: tf.gather(x, indices), x)

    assert parts(slope(X, tf.constant([[3, 0]]))) == ([[1.0] * 3] * 2, [3, 0], [4, 3])
    assert parts(slope(X, tf.constant([], tf.int32))) == ([], [], [4, 3])


def test_branches_and_loops_give_tensors() -> None:
    @tf.function
    def f(x: Any) -> Any:
        total = tf.constant(0.0)
        for i in tf.range(3):
            if i > 0:
                total += tf.reduce_sum(tf.gather(x, [i]))
        return total

    assert gradient(f).numpy().tolist() == [[0.0] * 3, [1.0] * 3, [1.0] * 3, [0.0] * 3]


def test_second_order() -> None:
    def cubes(x: Any) -> Any:
        return tf.reduce_sum(tf.gather(x, [1, 1]) ** 3)

    def squared(x: Any) -> Any:
        return tf.reduce_sum(tf.convert_to_tensor(gradient(cubes, x)) ** 2)

    for f in (squared, tf.function(squared)):
        again = tf.convert_to_tensor(gradient(f)).numpy()
        assert again[1].tolist() == [3888.0, 9216.0, 18000.0]
        assert not again[[0, 2, 3]].any()


def test_jacobians_and_directions_are_dense() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.gather(X, [2])
    assert tape.jacobian(y, X).numpy().sum(axis=(0, 1)).tolist() == [[0.0] * 3] * 2 + [[1.0] * 3, [0.0] * 3]
    with tf.autodiff.ForwardAccumulator(X, X) as accumulator:
        y = tf.gather(X, [2, 0])
    assert accumulator.jvp(y).numpy().tolist() == y.numpy().tolist()


def test_clipping_keeps_slices() -> None:
    slices = gradient(lambda x: tf.reduce_sum(tf.gather(x, [1, 1]) ** 3))
    clipped = tf.clip_by_norm(slices, 1.0)
    np.testing.assert_allclose(parts(clipped)[0][0], [0.20518234, 0.3647686, 0.56995094], rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.global_norm([slices, None]).numpy(), 131.59027, rtol=1e-6)
    (one, none, whole), _ = tf.clip_by_global_norm([slices, None, X], 1.0)
    np.testing.assert_allclose(parts(one)[0][0], [0.2022486, 0.35955307, 0.5618017], rtol=1e-6)
    assert none is None
    assert whole.shape == (4, 3)


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("name", ["SGD", "Adagrad"])
def test_steps_touch_only_the_rows(name: str, in_graph: bool) -> None:
    """No whole tensor is made of the slices: a table whose size is that of none would not fit."""
    table, optimizer = tf.Variable(X), getattr(tf.keras.optimizers, name)(0.1)

    def step() -> None:
        slices = gradient(lambda t: tf.gather(t, [1, 1]) * 2.0, table)
        sparse = tf.IndexedSlices(slices.values, slices.indices, tf.constant([2**40, 2**20], tf.int64))
        optimizer.apply_gradients([(sparse, table)])

    (tf.function(step) if in_graph else step)()
    changed = (table.numpy() != X.numpy()).any(axis=1)
    assert changed.tolist() == [False, True, False, False]


def test_branches_return_slices_when_all_are_sparse() -> None:
    def of_branch(x: Any, pick: Any) -> Any:
        if pick > 1:
            y = tf.gather(x, [2, 0]) ** 2
        elif pick > 0:
            y = tf.gather(x, [1, 1])
        else:
            y = tf.ones([2, 3])
        return tf.reduce_sum(y)

    staged = tf.function(of_branch)

    @tf.function
    def inside(x: Any, pick: Any) -> Any:
        return gradient(lambda x: of_branch(x, pick), x)

    for pick, rows in ((2, [2, 0]), (1, [1, 1]), (0, [])):
        for slices in (inside(X, tf.constant(pick)), gradient(lambda x, p=pick: staged(x, tf.constant(p)))):
            assert isinstance(slices, tf.IndexedSlices)
            assert slices.indices.numpy().tolist() == rows
            expected = np.zeros((4, 3), np.float32)
            for row in rows:
                expected[row] += 1.0 if pick == 1 else 2.0 * X.numpy()[row]
            np.testing.assert_allclose(tf.convert_to_tensor(slices).numpy(), expected)


def test_a_branch_that_reads_everything_makes_the_gradient_dense() -> None:
    @tf.function
    def f(x: Any, pick: Any) -> Any:
        return gradient(lambda x: tf.reduce_sum(tf.gather(x, [1]) if pick else x * x), x)

    for pick in (True, False):
        found = f(X, tf.constant(pick))
        assert tf.is_tensor(found)
        assert not isinstance(found, tf.IndexedSlices)


@pytest.mark.parametrize("pick", [True, False])
def test_branches_with_indices_of_two_dtypes_give_int64(pick: bool) -> None:
    @tf.function
    def slices(pick: Any) -> Any:
        return tf.cond(
            pick,
            lambda: tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 2], tf.int64), tf.constant([4, 3])),
            lambda: tf.IndexedSlices(tf.ones([1, 3]), tf.constant([3], tf.int32), tf.constant([4, 3])),
        )

    found = slices(tf.constant(pick))
    assert found.indices.dtype == tf.int64
    assert found.indices.numpy().tolist() == ([1, 2] if pick else [3])
