"""The TensorBoard callback: tags and steps as Keras writes them, read by TensorBoard's own reader."""

import os

import agc.runtime as tf
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(64, 1)


def trained(folder, **options):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, name="line")])
    model.compile("sgd", "mse", metrics=["mae"])
    callback = tf.keras.callbacks.TensorBoard(folder, **options)
    history = model.fit(
        X, 2 * X, epochs=2, batch_size=16, verbose=0, validation_split=0.5, callbacks=[callback]
    )
    return history.history


def read(folder, part):
    events = EventAccumulator(os.path.join(folder, part))
    events.Reload()
    return events


def numbers(events, tag):
    return {
        event.step: float(tf.io.parse_tensor(event.tensor_proto.SerializeToString(), tf.float32))
        for event in events.Tensors(tag)
    }


def test_epochs_are_written_for_training_and_validation(tmp_path):
    history = trained(tmp_path)
    train, validation = read(tmp_path, "train"), read(tmp_path, "validation")
    for name in ("loss", "mae"):
        assert numbers(train, f"epoch_{name}") == pytest.approx(dict(enumerate(history[name])))
        assert numbers(validation, f"epoch_{name}") == pytest.approx(dict(enumerate(history[f"val_{name}"])))
        assert list(numbers(validation, f"evaluation_{name}_vs_iterations")) == [2, 4]
    assert numbers(train, "epoch_learning_rate") == pytest.approx({0: 0.01, 1: 0.01})


def test_batches_and_weights_are_written_on_request(tmp_path):
    trained(tmp_path, update_freq=2, histogram_freq=1)
    tags = read(tmp_path, "train").Tags()["tensors"]
    assert {"batch_loss", "batch_mae"} <= set(tags)
    assert list(numbers(read(tmp_path, "train"), "batch_loss")) == [2, 4]
    assert sum(tag.endswith("kernel/histogram") for tag in tags) == 1


def test_what_has_nothing_to_write_is_refused():
    with pytest.raises(ValueError, match=r"profile_batch=3\): there is nothing to write"):
        tf.keras.callbacks.TensorBoard(profile_batch=3)
