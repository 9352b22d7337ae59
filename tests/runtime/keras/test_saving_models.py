"""Keras models as saved models: loaded without Keras's classes, they predict the same."""

import agc.runtime as tf
import numpy as np
import pytest

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


class Own(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2, activation="tanh")
        self.dropout = tf.keras.layers.Dropout(0.5)

    def call(self, x, training=False):
        y = self.dropout(self.dense(x), training=training)
        return y if tf.reduce_sum(y) > 0 else -y


def sequential():
    return tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])


def functional():
    x = tf.keras.Input((3,), name="x")
    return tf.keras.Model(x, tf.keras.layers.Dense(2)(x))


@pytest.mark.parametrize("make", [sequential, functional, Own], ids=["sequential", "functional", "subclass"])
def test_a_loaded_model_predicts_the_same(make, tmp_path):
    model = make()
    expected = model(X)
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert loaded(X).numpy().tolist() == expected.numpy().tolist()
    assert loaded(X[:1]).shape == (1, 2)
    (served,) = loaded.signatures["serving_default"](X).values()
    assert served.numpy().tolist() == expected.numpy().tolist()
    assert len(loaded.trainable_variables) == len(model.trainable_variables)


def test_a_model_that_was_never_called_has_nothing_to_serve(tmp_path):
    tf.saved_model.save(sequential(), tmp_path / "model")
    assert tf.saved_model.load(tmp_path / "model").signatures == {}


def test_a_loaded_model_goes_on_training(tmp_path):
    model = functional()
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    targets = np.ones((4, 2), np.float32)
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((loaded(X) - targets) ** 2)
        for variable, gradient in zip(
            loaded.trainable_variables, tape.gradient(loss, loaded.trainable_variables), strict=True
        ):
            variable.assign_sub(0.1 * gradient)
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0]
