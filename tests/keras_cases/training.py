"""Models trained from the same seeds: losses and metrics of each epoch, predictions, weights."""

from __future__ import annotations

from typing import Any

import numpy as np


def data(kind: str = "regression") -> tuple[Any, Any]:
    r = np.random.RandomState(7)
    x = r.randn(50, 4).astype("f")
    if kind == "regression":
        return x, (x @ np.array([[1.0], [-2.0], [0.5], [3.0]]) + 0.3 + 0.1 * r.randn(50, 1)).astype("f")
    if kind == "classes":
        return x, (x[:, 0] > 0).astype("i4") + (x[:, 1] > 0.5).astype("i4")
    if kind == "sequences":
        x = r.randn(20, 6, 3).astype("f")
        return x, x.sum((1, 2), keepdims=True)[:, 0]
    return r.randint(0, 9, (30, 5)), r.randint(0, 2, (30, 1))


def results(model: Any, history: Any, x: Any) -> list[Any]:
    """The history's names and numbers, three predictions, the sums of the weights."""
    return [
        str(list(history.history)),
        [list(values) for values in history.history.values()],
        np.ravel(model.predict(x[:3], verbose=0)),
        [np.sum(weight.numpy()) for weight in model.weights],
    ]


def trained(tf: Any, build: Any, kind: str, compile: dict[str, Any], **fit: Any) -> Any:
    keras = tf.keras
    keras.utils.set_random_seed(5)
    x, y = data(kind)
    model = build(keras)
    model.compile(**{name: value(keras) if callable(value) else value for name, value in compile.items()})
    options = {"epochs": 3, "batch_size": 16, "shuffle": False, "verbose": 0, **fit}
    options = {name: value(keras) if callable(value) else value for name, value in options.items()}
    return results(model, model.fit(x, y, **options), x)


def _mlp(keras: Any, last: int = 3, activation: str = "softmax", **dense: Any) -> Any:
    layers = keras.layers
    return keras.Sequential([
        keras.Input((4,)), layers.Dense(8, activation="relu", **dense), layers.Dense(last, activation=activation),
    ])  # fmt: skip


def _deferred(keras: Any) -> Any:
    return keras.Sequential([keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)])


def _branches(keras: Any) -> Any:
    x = keras.Input((4,))
    a, b = keras.layers.Dense(3, activation="relu")(x), keras.layers.Dense(3)(x)
    both = keras.layers.Concatenate()([a, keras.layers.Add()([a, b * 2.0])])
    return keras.Model(x, keras.layers.Dense(1)(both[:, 1:]))


def _recurrent(kind: str) -> Any:
    def build(keras: Any) -> Any:
        layers = keras.layers
        return keras.Sequential([keras.Input((6, 3)), getattr(layers, kind)(4), layers.Dense(1)])

    return build


def _text(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential([
        keras.Input((5,), dtype="int32"), layers.Embedding(9, 3, mask_zero=True),
        layers.Bidirectional(layers.LSTM(2)), layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip


def _dropping(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential([
        keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dropout(0.3), layers.GaussianNoise(0.1),
        layers.Dense(1),
    ])  # fmt: skip


def _subclass(keras: Any) -> Any:
    class Residual(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(4, activation="relu")

        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

        def call(self, x: Any) -> Any:
            self.add_loss(0.01 * keras_sum(keras, self.scale))
            return x + self.inner(x) * self.scale

    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [Residual(), Residual()]
            self.last = keras.layers.Dense(1, kernel_regularizer="l2")

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.last(x)

    return Net()


def keras_sum(keras: Any, weight: Any) -> Any:
    """The sum of a weight's squares, in either library."""
    return keras.regularizers.L2(1.0)(weight)


def cases(tf: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def add(name: str, build: Any, kind: str, compile: dict[str, Any], **fit: Any) -> None:
        found[name] = lambda: trained(tf, build, kind, compile, **fit)

    def linear(keras: Any) -> Any:
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])

    mse: dict[str, Any] = {"optimizer": "sgd", "loss": "mse"}
    add("linear regression", linear, "regression", {**mse, "metrics": ["mae", "mse"]}, epochs=5)
    sparse = {"optimizer": "adam", "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]}
    add("classes", _mlp, "classes", sparse)
    add("validation split", _mlp, "classes", sparse, validation_split=0.2)
    add("class weights", _mlp, "classes", sparse, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
    weights = np.linspace(0, 1, 50).astype("f")
    add(
        "sample weights", _mlp, "classes", {**sparse, "weighted_metrics": ["accuracy"]}, sample_weight=weights
    )
    add("deferred", _deferred, "regression", {"optimizer": "rmsprop", "loss": "mae"})
    add("branches", _branches, "regression", mse)
    add("subclass with losses", _subclass, "regression", {"optimizer": "adam", "loss": "huber"})
    add("eager", _mlp, "classes", {**sparse, "run_eagerly": True})
    add("dropout and noise", _dropping, "regression", mse)
    regular = {"kernel_regularizer": "l1", "activity_regularizer": "l2", "kernel_constraint": "unit_norm"}
    add("regularized", lambda keras: _mlp(keras, **regular), "classes", sparse)
    for kind in ("SimpleRNN", "LSTM", "GRU"):
        add(kind, _recurrent(kind), "sequences", {"optimizer": "adam", "loss": "mse"})
    binary = {"optimizer": "sgd", "loss": "binary_crossentropy", "metrics": ["accuracy", "AUC"]}
    add("masked text", _text, "text", binary)
    for optimizer in ("adagrad", "nadam", "adamw"):
        add(f"with {optimizer}", _mlp, "classes", {**sparse, "optimizer": optimizer})
    clipped = {**mse, "optimizer": lambda keras: keras.optimizers.SGD(0.1, momentum=0.9, global_clipnorm=1.0)}
    add("clipped", linear, "regression", clipped)
    decay = {
        **mse,
        "optimizer": lambda keras: keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(0.1, 9)),
    }
    add("scheduled", linear, "regression", decay)
    found["callbacks"] = lambda: trained(
        tf, linear, "regression", mse, epochs=8,
        callbacks=lambda keras: [
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
            keras.callbacks.EarlyStopping("loss", min_delta=0.5, patience=1, restore_best_weights=True),
        ],
    )  # fmt: skip
    found["plateau"] = lambda: trained(
        tf, linear, "regression", mse, epochs=5,
        callbacks=lambda keras: [keras.callbacks.ReduceLROnPlateau("loss", min_delta=5, patience=1, factor=0.1)],
    )  # fmt: skip
    found["two outputs"] = lambda: _two_outputs(tf)
    found["batches one by one"] = lambda: _one_by_one(tf)
    return found


def _two_outputs(tf: Any) -> Any:
    keras = tf.keras
    keras.utils.set_random_seed(5)
    x, y = data()
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    p, q = keras.layers.Dense(1, name="p")(a), keras.layers.Dense(1, name="q")(b)
    model = keras.Model({"a": a, "b": b}, [p, q])
    model.compile("sgd", ["mse", "mae"], loss_weights=[2.0, 1.0], metrics=[["mae"], ["mse"]])
    history = model.fit({"a": x, "b": -x}, [y, y * 2], epochs=2, batch_size=16, shuffle=False, verbose=0)
    judged = model.evaluate({"a": x, "b": -x}, [y, y * 2], verbose=0)
    return [str(list(history.history)), [list(values) for values in history.history.values()], judged]


def _one_by_one(tf: Any) -> Any:
    keras = tf.keras
    keras.utils.set_random_seed(5)
    x, y = data()
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    losses = [model.train_on_batch(x[i : i + 10], y[i : i + 10]) for i in range(0, 50, 10)]
    return [losses, model.test_on_batch(x, y), np.ravel(model.predict_on_batch(x[:4]))]
