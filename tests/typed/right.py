"""Programs without an error of mypy: functions, modules, gradients, data, layers."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np


@tf.function
def collatz(n: tf.Tensor) -> tf.Tensor:
    steps = tf.constant(0)
    while n != 1:
        n = tf.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], jit_compile=True)
def squares(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.square(x), axis=0, keepdims=True)


class Linear(tf.Module):
    def __init__(self, width: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([width, width], stddev=0.1), name="w")
        self.b = tf.Variable(tf.zeros([width]), trainable=False)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


def train(steps: int = 3) -> float:
    linear = Linear(2)
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
    loss = tf.constant(0.0)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((linear(tf.ones([4, 2])) - 1.0) ** 2)
        gradients = tape.gradient(loss, linear.trainable_variables)
        optimizer.apply_gradients(zip(gradients, linear.trainable_variables, strict=True))
    return float(loss)


def doubled(x: tf.Tensor, y: Any) -> tuple[tf.Tensor, Any]:
    return tf.cast(x, tf.float32) * 2, y


dataset = tf.data.Dataset.from_tensor_slices((np.arange(4), np.arange(4))).map(doubled).batch(2)
for batch, _ in dataset:
    print(tf.shape(batch), batch.numpy())

model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(np.ones([4, 2]), np.ones([4, 1]), epochs=1, verbose=0)

result: tf.Tensor = collatz(tf.constant(27))
total: tf.Tensor = squares(tf.constant([1.0, 2.0]))
values, indices = tf.math.top_k([1.0, 3.0, 2.0], k=2)
one, two = tf.unique_with_counts([1, 1])[:2], tf.linalg.eigh(tf.eye(2))[0]
ragged = tf.ragged.constant([[1], [2, 3]])
chosen = tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
spec = tf.TensorSpec(shape=[None, 3], dtype=tf.float32)
checkpoint = tf.train.Checkpoint(model=Linear(2))
mask: tf.Tensor = (total > 1) & tf.constant([True])
flags = tf.reduce_any(mask), tf.bitwise.bitwise_and(5, 3), tf.strings.upper("a"), tf.signal.fft([1 + 1j])
tf.debugging.assert_equal(result, result)
kind: tf.DType = total.dtype
