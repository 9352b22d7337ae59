"""Time the networks of `keras.applications` on agc and on TensorFlow: four images of 128 by 128.

python -m benchmarks.applications [--peer PYTHON]     the Python of an environment with TensorFlow and Keras 3

Both environments need Keras. A step of training is that of gradient descent with momentum. Later losses differ by more
than rounding, also those of TensorFlow's graphs and XLA's: batch normalization of few images is chaotic.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .columns import Program, main

WARM = 30.0
IMAGES, SIZE, CLASSES = 4, 128, 10


def _network(name: str) -> Any:
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras

    keras.utils.set_random_seed(0)
    network = getattr(keras.applications, name)
    return keras, network(weights=None, input_shape=(SIZE, SIZE, 3), classes=CLASSES)


def _images(tf: Any) -> Any:
    return tf.constant(np.random.default_rng(0).random((IMAGES, SIZE, SIZE, 3), np.float32))


def training(name: str) -> Program:
    """Return a step of training, whose result is the loss."""

    def made(tf: Any, jit_compile: bool | None) -> Callable[[], Any]:
        keras, network = _network(name)
        variables, optimizer = network.trainable_variables, keras.optimizers.SGD(1e-3, momentum=0.9)
        optimizer.build(variables)

        @tf.function(jit_compile=jit_compile)
        def step(images: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                losses = keras.losses.sparse_categorical_crossentropy(labels, network(images, training=True))
                loss = tf.reduce_mean(losses)
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        return functools.partial(step, _images(tf), tf.constant(np.arange(IMAGES) % CLASSES))

    return made


def prediction(name: str) -> Program:
    """Return a prediction, whose result is a sum over it."""

    def made(tf: Any, jit_compile: bool | None) -> Callable[[], Any]:
        _, network = _network(name)

        @tf.function(jit_compile=jit_compile)
        def predict(images: Any) -> Any:
            return tf.reduce_sum(network(images, training=False) ** 2)

        return functools.partial(predict, _images(tf))

    return made


NETWORKS = ("MobileNetV2", "EfficientNetB0", "ResNet50", "DenseNet121")
PROGRAMS = {f"{name}, {kind.__name__}": kind(name) for name in NETWORKS for kind in (training, prediction)}

if __name__ == "__main__":
    main("benchmarks.applications", __doc__, PROGRAMS, WARM)
