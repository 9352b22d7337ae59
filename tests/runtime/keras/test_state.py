"""Metrics, optimizers and initializers in functions; the names that TensorFlow has for them beside `tf.keras`."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

keras = tf.keras


def test_the_rooms_at_the_top_level() -> None:
    assert tf.losses is keras.losses and tf.metrics is keras.metrics
    assert tf.optimizers is keras.optimizers and tf.initializers is keras.initializers


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_a_metric_gathers_in_a_function(executor: str) -> None:
    metrics = [
        keras.metrics.Mean(),
        keras.metrics.AUC(),
        keras.metrics.Precision(),
        keras.metrics.F1Score(threshold=0.5),
    ]
    y, p = np.array([[1.0], [0.0], [1.0]], "f"), np.array([[0.9], [0.6], [0.2]], "f")

    def gather(y: Any, p: Any) -> Any:
        metrics[0].update_state(p)
        return [metrics[0].result(), *(metric(y, p) for metric in metrics[1:])]

    eager = [np.asarray(value) for value in gather(y, p)]
    for metric in metrics:
        metric.reset_state()
    traced = tf.function(gather, experimental_executor=executor)(tf.constant(y), tf.constant(p))
    assert all(map(np.allclose, eager, traced))


def test_a_metric_of_the_users_own_has_staged_branches() -> None:
    class Positives(keras.metrics.Metric):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__(name="positives")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            if tf.reduce_sum(y_pred) > 0:
                self.count.assign_add(1.0)

        def result(self) -> Any:
            return tf.identity(self.count)

    metric = Positives()
    update = tf.function(lambda y, p: metric(y, p))
    found = [float(update(tf.constant(0.0), tf.constant(value))) for value in (1.0, -1.0, 2.0)]
    assert found == [1.0, 1.0, 2.0]


def test_an_optimizer_in_a_function_does_what_it_does_outside() -> None:
    def steps(in_graph: bool) -> list[float]:
        v, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.Nadam(0.1)

        def step(g: Any) -> None:
            optimizer.apply_gradients([(g, v)])

        call = tf.function(step) if in_graph else step
        for i in range(3):
            call(tf.constant([1.0 + i, -1.0]))
        return [*v.numpy().tolist(), *optimizer._u_product.numpy().reshape(1).tolist()]

    assert np.allclose(steps(in_graph=True), steps(in_graph=False), rtol=1e-6)


def test_slices_of_gradients_are_added_up() -> None:
    v = tf.Variable(np.zeros((3, 2), "f"))
    gradient = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), tf.constant([3, 2]))
    keras.optimizers.SGD(0.5).apply_gradients([(gradient, v)])
    assert v.numpy().tolist() == [[0, 0], [-1, -1], [0, 0]]


def test_the_learning_rate_is_set_and_scheduled() -> None:
    v, optimizer = tf.Variable(0.0), keras.optimizers.SGD(0.5)
    step = tf.function(lambda: optimizer.apply_gradients([(tf.constant(1.0), v)]))
    step()
    optimizer.learning_rate = 0.25
    step()
    assert float(v) == -0.75 and float(optimizer.lr) == 0.25
    scheduled = keras.optimizers.SGD(keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.5]))
    for _ in range(2):
        scheduled.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == -2.25
    with pytest.raises(TypeError, match="not settable"):
        scheduled.learning_rate = 0.1


def test_minimize_takes_a_function() -> None:
    v, optimizer = tf.Variable(3.0), keras.optimizers.SGD(0.1)
    for _ in range(60):
        optimizer.minimize(lambda: (v - 1.0) ** 2, [v])
    assert abs(float(v) - 1) < 1e-4


def test_seeds_give_the_same_numbers_again() -> None:
    for kind in ("GlorotUniform", "HeNormal", "Orthogonal", "RandomUniform"):
        one, other = (getattr(keras.initializers, kind)(seed=4) for _ in range(2))
        assert np.array_equal(one((3, 4)), other((3, 4))) and np.array_equal(one((3, 4)), one((3, 4)))
    keras.utils.set_random_seed(2)
    first = keras.layers.Dense(3)(tf.ones([1, 2]))
    keras.utils.set_random_seed(2)
    assert np.array_equal(first, keras.layers.Dense(3)(tf.ones([1, 2])))


def test_orthogonal_matrices_are_orthogonal() -> None:
    matrix = keras.initializers.Orthogonal(seed=1)((5, 3)).numpy()
    assert np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-6)


def test_bidirectional_layers_begin_with_given_weights():
    shapes = [(3, 8), (2, 8), (8,)] * 2
    weights = [np.full(shape, number / 10, np.float32) for number, shape in enumerate(shapes)]
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2), weights=weights)
    layer(tf.ones([1, 4, 3]))
    for got, given in zip(layer.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(got, given)
    with pytest.raises(ValueError, match="a weight list of length 3"):
        tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2), weights=weights[:3])(tf.ones([1, 4, 3]))
