"""Train a Keras model whose layer has control flow on tensors.

`tf.keras` is the package Keras, with agc below it: pip install '.[keras]'.
"""

import agc.runtime as tf
import numpy as np


class Settle(tf.keras.layers.Layer):
    """Apply one weight matrix again and again, until the state changes little."""

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], shape[-1]), initializer="zeros")

    def call(self, x):
        state, change, rounds = x, 1.0, 0
        while change > 1e-3 and rounds < 20:
            before = state
            state = tf.tanh(x + before @ self.w)
            change = tf.reduce_max(tf.abs(state - before))
            rounds += 1
        return state


tf.keras.utils.set_random_seed(0)
x = np.linspace(-2.0, 2.0, 256, dtype="float32")[:, None]
model = tf.keras.Sequential([tf.keras.layers.Dense(8), Settle(), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(0.05), "mse")
history = model.fit(x, np.sin(2 * x), batch_size=64, epochs=12, verbose=0)
print("the loss fell to a fifth:", history.history["loss"][-1] < history.history["loss"][0] / 5)

# Output:
# the loss fell to a fifth: True
