"""`build`: a layer that was built by hand keeps its weights when it is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc import runtime as tf
from agc.runtime import keras
from agc.runtime.keras import layers


class Scaled(layers.Layer):
    def build(self, shape: Any) -> None:
        self.scale = self.add_weight(shape=(shape[-1],), name="scale")


class Shifted(Scaled):
    def build(self, shape: Any) -> None:
        super().build(shape)
        self.shift = self.add_weight(shape=(shape[-1],), name="shift")

    def call(self, x: Any) -> Any:
        return x * self.scale + self.shift


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: layers.Dense(2), (None, 3)),
        (Shifted, (None, 3)),
        (lambda: layers.LSTM(2), (None, 4, 3)),
        (lambda: layers.TimeDistributed(Shifted()), (None, 4, 3)),
    ],
)
def test_a_layer_is_built_once(layer: Any, shape: Any) -> None:
    made = layer()
    made.build(shape)
    assert made.built
    made.set_weights([np.full(w.shape, 2.0) for w in made.weights])
    before = made.weights
    tf.function(made)(tf.ones([1, *shape[1:]]))
    assert [w is v for w, v in zip(made.weights, before, strict=True)] == [True] * len(before)
    assert all(np.all(w.numpy() == 2) for w in made.weights)


def test_layers_that_are_built_inside_of_a_call() -> None:
    class Lazy(layers.Layer):
        def __init__(self) -> None:
            super().__init__(name="lazy")
            self.inner = layers.Dense(1, kernel_initializer="ones", name="inner")

        def call(self, x: Any) -> Any:
            if not self.inner.built:
                self.inner.build(x.shape)
            return self.inner(x)

    layer = Lazy()
    assert tf.function(layer)(tf.ones([1, 2])).numpy().tolist() == [[2.0]]
    assert [w.path for w in layer.weights] == ["lazy/inner/kernel", "lazy/inner/bias"]


def test_paths_have_the_names_of_models_that_are_built() -> None:
    model = keras.Sequential([layers.Dense(2, name="one")], name="model")
    model.build((None, 3))
    assert [w.path for w in model.weights] == ["model/one/kernel", "model/one/bias"]


def test_what_cannot_be_built() -> None:
    layer = layers.Dense(2)
    layer.build((None, 3))
    with pytest.raises(ValueError, match="is built already"):
        layer.build((None, 3))
    with pytest.raises(ValueError, match="You must provide an `input_shape` argument"):
        keras.Sequential([layers.Dense(2)]).build()
