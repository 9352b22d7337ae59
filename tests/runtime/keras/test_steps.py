"""`steps_per_epoch`: an epoch goes on where the last one ended, and ends with the data; the next one begins anew."""

import agc.runtime as tf
import numpy as np
import pytest

keras = tf.keras


class Watcher(keras.Model):
    def train_step(self, data):
        return {"largest": tf.reduce_max(data[0])}


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.epochs = []

    def on_epoch_begin(self, epoch, logs=None):
        self.epochs.append([])

    def on_train_batch_end(self, batch, logs=None):
        self.epochs[-1].append(int(logs["largest"]))


@pytest.mark.parametrize("kind", ["arrays", "a dataset"])
@pytest.mark.parametrize(
    ("samples", "steps", "expected"),
    [
        (4, 1, [[1], [3], [1], [3], [1]]),
        (5, 2, [[1, 3], [4], [1, 3]]),
        (4, 2, [[1, 3], [1, 3]]),
        (4, 3, [[1, 3], [1, 3]]),
    ],
)
def test_epochs_of_steps(kind, samples, steps, expected):
    model, seen = Watcher(), Seen()
    model.compile("sgd", "mse")
    x = np.arange(samples, dtype="float32")[:, None]
    data = {"x": x, "y": x, "batch_size": 2}
    if kind == "a dataset":
        data = {"x": tf.data.Dataset.from_tensor_slices((x, x)).batch(2)}
    model.fit(**data, epochs=len(expected), steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[seen])
    assert seen.epochs == expected
