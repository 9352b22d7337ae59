"""Models as objects: layers, weights, tables, configs, what is refused."""

from __future__ import annotations

import json
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

keras = tf.keras
layers = keras.layers

TABLE = """\
Model: "small"
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ first (Dense)                   │ (None, 3)              │            15 │
├─────────────────────────────────┼────────────────────────┼───────────────┤
│ second (BatchNormalization)     │ (None, 3)              │            12 │
└─────────────────────────────────┴────────────────────────┴───────────────┘
 Total params: 27 (108.00 B)
 Trainable params: 21 (84.00 B)
 Non-trainable params: 6 (24.00 B)
"""  # as Keras 3 prints it

BRANCHES = """\
Model: "net"
┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┓
┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃ Connected to      ┃
┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━┩
│ image (InputLayer)  │ (None, 8, 8, 1)   │          0 │ -                 │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ c1 (Conv2D)         │ (None, 6, 6, 4)   │         40 │ image[0][0]       │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ p (MaxPooling2D)    │ (None, 3, 3, 4)   │          0 │ c1[0][0]          │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ f (Flatten)         │ (None, 36)        │          0 │ p[0][0]           │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ a_layer_with_a_rat… │ (None, 4)         │        148 │ f[0][0]           │
│ (Dense)             │                   │            │                   │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ cat (Concatenate)   │ (None, 40)        │          0 │ f[0][0],          │
│                     │                   │            │ a_layer_with_a_r… │
├─────────────────────┼───────────────────┼────────────┼───────────────────┤
│ o (Dense)           │ (None, 1)         │         41 │ cat[0][0]         │
└─────────────────────┴───────────────────┴────────────┴───────────────────┘
 Total params: 229 (916.00 B)
 Trainable params: 229 (916.00 B)
 Non-trainable params: 0 (0.00 B)
"""  # as Keras 3 prints it


def small() -> Any:
    return keras.Sequential(
        [keras.Input((4,)), layers.Dense(3, name="first"), layers.BatchNormalization(name="second")],
        name="small",
    )


def test_the_table_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    small().summary()
    assert capsys.readouterr().out == TABLE


def test_the_table_of_a_model_with_branches(capsys: pytest.CaptureFixture[str]) -> None:
    x = keras.Input((8, 8, 1), name="image")
    pooled = layers.MaxPooling2D(name="p")(layers.Conv2D(4, 3, name="c1")(x))
    flat = layers.Flatten(name="f")(pooled)
    dense = layers.Dense(4, name="a_layer_with_a_rather_long_name")(flat)
    both = layers.Concatenate(name="cat")([flat, dense])
    keras.Model(x, layers.Dense(1, name="o")(both), name="net").summary()
    assert capsys.readouterr().out == BRANCHES


def test_weights_by_training_and_order() -> None:
    model = small()
    assert [w.path for w in model.weights] == [
        "first/kernel", "first/bias", "second/gamma", "second/beta", "second/moving_mean", "second/moving_variance",
    ]  # fmt: skip
    assert [w.name for w in model.trainable_weights] == ["kernel", "bias", "gamma", "beta"]
    model.layers[0].trainable = False
    assert [w.name for w in model.trainable_weights] == ["gamma", "beta"]
    model.trainable = False
    assert model.trainable_weights == [] and len(model.non_trainable_weights) == 6
    assert isinstance(model, tf.Module) and model.count_params() == 27


def test_weights_are_given_and_taken() -> None:
    one, other = small(), small()
    other.set_weights(one.get_weights())
    x = np.ones((2, 4), "f")
    assert np.array_equal(one(x), other(x))
    with pytest.raises(ValueError, match="weight list of length 1"):
        other.set_weights([np.ones(3)])
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        other.set_weights([np.ones(2)] * 6)


def functional() -> Any:
    x = keras.Input((4,), name="x")
    shared = layers.Dense(3, name="shared", activation="relu")
    y = layers.Add(name="sum")([shared(x), shared(x * 2.0)])
    return keras.Model(x, [y, layers.Dense(1, name="last")(y)], name="net")


@pytest.mark.parametrize("build", [small, lambda: keras.Model(*_ends())])
def test_a_model_is_made_again_of_its_config(build: Any) -> None:
    model = build()
    again = type(model).from_config(json.loads(json.dumps(model.get_config())))
    again.set_weights(model.get_weights())
    x = np.random.RandomState(0).randn(3, 4).astype("f")
    assert all(map(np.array_equal, tf.nest.flatten(model(x)), tf.nest.flatten(again(x))))
    third = keras.models.model_from_json(model.to_json())
    third.set_weights(model.get_weights())
    assert all(map(np.array_equal, tf.nest.flatten(model(x)), tf.nest.flatten(third(x))))
    assert [layer.name for layer in keras.models.clone_model(model).layers] == [
        layer.name for layer in model.layers
    ]


def _ends() -> Any:
    x = keras.Input((4,), name="x")
    shared = layers.Dense(3, name="shared", activation="relu")
    y = layers.Add(name="sum")([shared(x), shared(layers.Rescaling(2.0)(x))])
    return x, [y, layers.Dense(1, name="last")(y)]


def test_a_functional_model_and_its_parts() -> None:
    model = functional()
    assert [layer.name for layer in model.layers][-2:] == ["sum", "last"]
    assert model.output_names == ["sum", "last"] and model.input_shape == (None, 4)
    assert len(model.weights) == 4
    features = keras.Model(model.input, model.get_layer("sum").output)
    x = np.ones((2, 4), "f")
    assert np.array_equal(features(x), model(x)[0])
    assert np.array_equal(model({"x": x})[0], model(x)[0])
    assert repr(model) == "<Functional name=net, built=True>"
    assert repr(model.layers[-1]) == "<Dense name=last, built=True>"


def test_layers_find_what_is_theirs() -> None:
    class Block(layers.Layer):  # type: ignore[name-defined, misc]
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.units = units
            self.parts = {"a": layers.Dense(units), "b": [layers.Dense(units)]}
            self.factor = tf.Variable(2.0)

        def call(self, x: Any) -> Any:
            return self.parts["a"](x) + self.parts["b"][0](x) * self.factor

    block = Block(3, name="block")
    assert block(tf.ones([2, 2])).shape == (2, 3)
    assert len(block.weights) == 5
    assert block.get_config()["units"] == 3
    assert Block.from_config(block.get_config()).units == 3
    assert block.compute_output_shape((None, 2)) == (None, 3)


def test_registered_classes_are_found_by_name() -> None:
    @keras.utils.register_keras_serializable("own")
    class Twice(layers.Layer):  # type: ignore[name-defined, misc]
        def call(self, x: Any) -> Any:
            return x * 2

    model = keras.Sequential([keras.Input((2,)), Twice()])
    again = keras.models.model_from_json(model.to_json())
    assert again(np.ones((1, 2), "f")).numpy().tolist() == [[2.0, 2.0]]


def test_add_and_pop() -> None:
    model = keras.Sequential()
    model.add(layers.Dense(4, input_shape=(3,)))
    model.add(layers.Dense(2))
    assert model.output_shape == (None, 2)
    model.pop()
    assert model.output_shape == (None, 4) and len(model.layers) == 1


def test_a_layer_in_a_branch_of_a_traced_function() -> None:
    one, other = layers.Dense(2, kernel_initializer="ones"), layers.Dense(2, kernel_initializer="zeros")

    @tf.function
    def choose(x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            return one(x)
        return other(x)

    assert choose(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
    assert choose(-tf.ones([1, 3])).numpy().tolist() == [[0.0, 0.0]]


def test_training_reaches_the_layers_inside() -> None:
    model = keras.Sequential([layers.Dropout(0.5, seed=1)])
    x = tf.ones([4, 8])
    assert np.array_equal(model(x), x)
    assert not np.array_equal(model(x, training=True), x)
    assert np.array_equal(tf.function(lambda x: model(x))(x), x)
    drawn = tf.function(lambda x: model(x, training=True))
    assert not np.array_equal(drawn(x), drawn(x))


def test_masks_go_with_tensors() -> None:
    embedded = layers.Embedding(5, 2, mask_zero=True)(np.array([[1, 2, 0]]))
    through = layers.Dropout(0.1)(layers.Dense(3)(embedded))
    whole, cut = layers.LSTM(2, kernel_initializer="ones"), layers.LSTM(2, kernel_initializer="ones")
    result = whole(through)
    cut.build((None, 3, 3))
    cut.set_weights(whole.get_weights())
    assert np.allclose(result, cut(through[:, :2]))


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (lambda: layers.Dense(3, foo=1), ValueError, "Unrecognized keyword arguments passed to Dense"),
        (lambda: layers.Dense(0), ValueError, "expected a positive integer"),
        (lambda: layers.Dense(3)(tf.ones([4])), ValueError, "expected min_ndim=2, found ndim=1"),
        (lambda: small()(tf.ones([2, 5])), ValueError, "expected shape"),
        (lambda: tf.add(keras.Input((2,)), 1.0), ValueError, "KerasTensor cannot be used as input"),
        (lambda: bool(keras.Input(())), TypeError, "symbolic placeholder"),
        (
            lambda: keras.Model(keras.Input((2,)), layers.Dense(1)(keras.Input((3,)))),
            ValueError,
            "not connected",
        ),
        (lambda: small().get_layer("third"), ValueError, "No such layer: third"),
        (lambda: layers.Conv2D(3, 2)(tf.ones([2, 4, 4])), ValueError, "expected min_ndim=4, found ndim=3"),
        (
            lambda: keras.Sequential([layers.Dense(1, name="a"), layers.Dense(1, name="a")]),
            ValueError,
            "unique names",
        ),
        (lambda: layers.Dense(2).count_params(), ValueError, "isn't built"),
        (lambda: layers.Layer()(1.0), NotImplementedError, "call"),
        (lambda: keras.activations.get("nothing"), ValueError, "Could not interpret activation function"),
        (lambda: keras.optimizers.SGD(clipnorm=1.0, clipvalue=1.0), ValueError, "Only one of"),
        (
            lambda: keras.optimizers.SGD().apply_gradients([(None, tf.Variable(1.0))]),
            ValueError,
            "No gradients",
        ),
    ],
)
def test_what_is_refused(program: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        program()


def test_weights_in_a_file(tmp_path: Any) -> None:
    one, other = small(), small()
    one.save_weights(tmp_path / "weights")
    other.load_weights(tmp_path / "weights").assert_consumed()
    assert all(map(np.array_equal, one.get_weights(), other.get_weights()))
    with pytest.raises(ValueError, match="HDF5"):
        one.save_weights(tmp_path / "net.weights.h5")


@pytest.mark.parametrize("build", [small, lambda: keras.Model(*_ends())])
def test_a_model_in_a_folder_is_trained_further(build: Any, tmp_path: Any) -> None:
    x = np.random.RandomState(0).randn(8, 4).astype("f")
    model = build()
    y = [np.zeros_like(part) for part in tf.nest.flatten(model.predict(x, verbose=0))]
    model.compile(keras.optimizers.Adam(0.1), keras.losses.Huber(0.5))
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "net")
    again = keras.models.load_model(tmp_path / "net")
    for each in (model, again):
        each.fit(x, y, epochs=2, verbose=0, shuffle=False)
    assert all(map(np.array_equal, model.get_weights(), again.get_weights()))
    assert again.loss.get_config() == model.loss.get_config()


def test_the_best_weights_are_kept(tmp_path: Any) -> None:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
    # That is too fast: every epoch is worse than the one before.
    model.compile(keras.optimizers.SGD(1.0), "mse")
    best = keras.callbacks.ModelCheckpoint(
        tmp_path / "best-{epoch}", monitor="loss", save_best_only=True, save_weights_only=True
    )
    model.fit(np.ones((4, 2), "f") * 3, np.zeros((4, 1), "f"), epochs=3, verbose=0, callbacks=[best])
    assert {path.name.split(".")[0] for path in tmp_path.iterdir()} == {"best-1"}


@pytest.mark.parametrize("pack", [lambda x: [x], lambda x: (x,), lambda x: x])
def test_a_list_of_one_output_is_that_output(pack) -> None:
    inputs = keras.Input((2,))
    outputs = layers.Dense(1, kernel_initializer="ones")(inputs)
    model = keras.Model(pack(inputs), pack(outputs))
    assert model(tf.ones([1, 2])).numpy().tolist() == [[2.0]]
    model.compile("sgd", loss=["mse"])
    model.fit(np.ones((2, 2)), np.zeros((2, 1)), verbose=0)
    assert model.predict(np.ones((1, 2)), verbose=0).shape == (1, 1)
