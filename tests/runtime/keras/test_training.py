"""Training in the ways that programs have: `fit` on all kinds of data, loops of one's own, steps of one's own."""

from __future__ import annotations

import re
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

keras = tf.keras
X = np.random.RandomState(0).randn(20, 3).astype("f")
Y = (X @ np.array([[1.0], [2.0], [-1.0]])).astype("f")


def linear(**compile: Any) -> Any:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compile})
    return model


def losses(*data: Any, **options: Any) -> list[float]:
    model = linear()
    return list(model.fit(*data, epochs=3, shuffle=False, verbose=0, **options).history["loss"])


def test_linear_regression_finds_the_line() -> None:
    model = linear()
    model.fit(X, Y, epochs=60, batch_size=10, verbose=0)
    assert np.allclose(model.layers[0].kernel.numpy().ravel(), [1, 2, -1], atol=1e-3)


def test_all_kinds_of_data_train_alike() -> None:
    def batches() -> Any:
        for i in range(0, 20, 8):
            yield X[i : i + 8], Y[i : i + 8]

    class Rows(keras.utils.Sequence):  # type: ignore[name-defined, misc]
        def __len__(self) -> int:
            return 3

        def __getitem__(self, i: int) -> Any:
            return X[8 * i : 8 * i + 8], Y[8 * i : 8 * i + 8]

    def endless() -> Any:
        while True:
            yield from batches()

    expected = losses(X, Y, batch_size=8)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    assert losses(tf.constant(X), tf.constant(Y), batch_size=8) == expected
    assert losses(X.tolist(), Y.tolist(), batch_size=8) == expected
    assert losses(dataset) == expected
    assert losses(dataset.repeat(), steps_per_epoch=3) == expected
    assert losses(Rows()) == expected
    assert losses(endless(), steps_per_epoch=3) == expected


def test_a_loop_of_ones_own_does_what_fit_does() -> None:
    model, optimizer = linear(), keras.optimizers.SGD(0.1)
    mean = keras.metrics.Mean()
    loss_fn = keras.losses.MeanSquaredError()

    @tf.function
    def train(dataset: Any) -> None:
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            mean.update_state(loss, tf.shape(x)[0])

    found = []
    for _ in range(3):
        train(tf.data.Dataset.from_tensor_slices((X, Y)).batch(8))
        found.append(float(mean.result()))
        mean.reset_states()
    assert np.allclose(found, losses(X, Y, batch_size=8), rtol=1e-6)
    assert int(optimizer.iterations) == 9


def test_steps_of_ones_own() -> None:
    class Counting(keras.Model):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.seen = self.add_weight(name="seen", shape=(), initializer="zeros", trainable=False)

        def call(self, x: Any, training: bool = False) -> Any:
            y = self.dense(x)
            if training and tf.reduce_sum(y) > 1e6:
                y = y * 0.0
            return y

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            if tf.reduce_mean(loss) > 0:
                self.seen.assign_add(1.0)
            self.compiled_metrics.update_state(y, y_pred)
            return {"own": loss, "seen": self.seen}

    model = Counting()
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, Y, epochs=2, batch_size=10, verbose=0)
    assert sorted(history.history) == ["own", "seen"]
    assert history.history["seen"] == [2.0, 4.0]


def test_a_recurrent_network_of_the_users_own() -> None:
    """The DynamicRNN of TensorFlow's guide: its loop is a loop of the graph, also where gradients go through it."""

    class DynamicRNN(keras.Model):  # type: ignore[name-defined, misc]
        def __init__(self, rnn_cell: Any) -> None:
            super().__init__(self)
            self.cell = rnn_cell

        def call(self, input_data: Any) -> Any:
            input_data = tf.transpose(input_data, [1, 0, 2])
            outputs = tf.TensorArray(tf.float32, input_data.shape[0])
            state = self.cell.zero_state(input_data.shape[1], dtype=tf.float32)
            for i in tf.range(input_data.shape[0]):
                output, state = self.cell(input_data[i], state)
                outputs = outputs.write(i, output)
            return tf.transpose(outputs.stack(), [1, 0, 2]), state

    x = tf.constant(np.random.RandomState(0).randn(4, 7, 2).astype("f"))

    def trained(in_graph: bool) -> list[float]:
        keras.utils.set_random_seed(1)
        model, optimizer = DynamicRNN(keras.layers.LSTMCell(3)), keras.optimizers.Adam(0.05)

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                outputs, _ = model(x)
                loss = tf.reduce_mean((outputs - 0.5) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        call = tf.function(step) if in_graph else step
        return [float(call(x)) for _ in range(4)]

    found = trained(in_graph=True)
    assert found[-1] < found[0]
    assert np.allclose(found, trained(in_graph=False), rtol=1e-5)


def test_a_long_sequence_becomes_a_loop_with_the_same_gradients() -> None:
    layer = keras.layers.GRU(2)
    x = tf.constant(np.random.RandomState(0).randn(2, 40, 3).astype("f"))

    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, layer.trainable_weights)

    concrete = tf.function(gradients).get_concrete_function(x)
    assert " while " in str(concrete.graph)
    for one, other in zip(concrete(x), gradients(x), strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)


def test_one_graph_serves_batches_of_all_sizes() -> None:
    model = linear()
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)  # two batches of 8, one of 4
    (function,) = (made for (kind, _), made in model._functions.items() if kind == "train")
    assert function.experimental_get_tracing_count() == 2


def test_what_fit_prints(capsys: pytest.CaptureFixture[str]) -> None:
    model = linear(metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=2, validation_data=(X, Y))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Epoch 1/2"
    number = r"\d\.\d{4}(e-\d\d)?"
    shown = rf"loss: {number} - mae: {number} - val_loss: {number} - val_mae: {number}"
    assert re.fullmatch(rf"1/1 - \d+s - \d+(ms|us|s)/step - {shown}", lines[1])
    model.evaluate(X, Y, verbose=0)
    assert capsys.readouterr().out == ""
    model.predict(X)
    bar = capsys.readouterr().out
    # A text that has become shorter, such as 1ms after 992us, is followed by blanks over what was there.
    assert "1/1" in bar and "━" * 20 in bar and re.search(r"/step *\n\Z", bar)


def test_callbacks_are_called_in_order() -> None:
    calls: list[str] = []

    class Noting(keras.callbacks.Callback):  # type: ignore[name-defined, misc]
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_") and "batch" not in name.replace("on_train_batch", ""):
                calls.append(name)
            return super().__getattribute__(name)

    linear().fit(X, Y, batch_size=10, epochs=1, verbose=0, validation_data=(X, Y), callbacks=[Noting()])
    assert calls == [
        "on_train_begin", "on_epoch_begin", "on_train_batch_begin", "on_train_batch_end", "on_train_batch_begin",
        "on_train_batch_end", "on_test_begin", "on_test_end", "on_epoch_end", "on_train_end",
    ]  # fmt: skip


def test_a_csv_of_the_epochs(tmp_path: Any) -> None:
    path = tmp_path / "log.csv"
    history = linear().fit(X, Y, epochs=2, verbose=0, callbacks=[keras.callbacks.CSVLogger(path)])
    head, *rows = path.read_text().splitlines()
    assert head == "epoch,loss"
    assert [float(row.split(",")[1]) for row in rows] == history.history["loss"]


def test_nan_stops_training(capsys: pytest.CaptureFixture[str]) -> None:
    history = linear().fit(X, Y * np.nan, epochs=5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert len(history.epoch) == 1
    assert "Invalid loss, terminating training" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (lambda: keras.Sequential([keras.layers.Dense(1)]).fit(X, Y), ValueError, "must call `compile"),
        (lambda: linear().fit(X, Y[:3]), ValueError, "Data cardinality is ambiguous"),
        (lambda: linear().fit(tf.data.Dataset.range(3), Y), ValueError, "`y` should not be"),
        (
            lambda: linear(loss={"x": "mse"}).fit(X, Y, verbose=0),
            ValueError,
            "does not correspond to any model output",
        ),
        (lambda: linear(loss="nothing").fit(X, Y, verbose=0), ValueError, "Could not interpret loss"),
        (lambda: linear(jit_compile=True, run_eagerly=True), ValueError, "`jit_compile` cannot also be True"),
        (lambda: linear().fit(X[:1], Y[:1], validation_split=0.5), ValueError, "not sufficient to split"),
        (lambda: linear(loss=None).fit(X, Y, verbose=0), ValueError, "No loss to compute"),
    ],
)
def test_what_is_refused(program: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        program()


def test_a_training_step_is_the_same_for_every_executor() -> None:
    def trained(executor: str | None) -> list[float]:
        model, optimizer = linear(), keras.optimizers.Adam(0.1)

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        call = step if executor is None else tf.function(step, experimental_executor=executor)
        return [float(call(tf.constant(X), tf.constant(Y))) for _ in range(3)]

    eager = trained(None)
    assert eager[2] < eager[1] < eager[0]
    assert np.allclose(trained("plan"), eager, rtol=1e-6)
    assert np.allclose(trained("interpret"), eager, rtol=1e-6)


def test_steps_that_are_compiled_to_native_code_learn_the_same() -> None:
    answers = []
    for jit_compile in (False, True):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([
            keras.layers.Dense(8, activation="relu"), keras.layers.LayerNormalization(), keras.layers.Dense(1),
        ])  # fmt: skip
        model.compile("adam", "mse", metrics=["mae"], jit_compile=jit_compile)
        history = model.fit(X, Y, epochs=2, batch_size=8, shuffle=False, verbose=0).history
        answers.append(
            [*history["loss"], *history["mae"], *model.evaluate(X, Y, verbose=0), *model.predict(X).ravel()]
        )
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-4, atol=1e-5)


def test_a_step_that_cannot_be_compiled_says_why() -> None:
    class Telling(keras.layers.Layer):  # type: ignore[name-defined, misc]
        def call(self, x: Any) -> Any:
            tf.print(x)
            return x

    model = keras.Sequential([Telling(), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)AGC220.*in call: print"):
        model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("is_deferred", [False, True])
def test_training_goes_on_from_a_checkpoint(is_deferred: bool, tmp_path: Any) -> None:
    def model() -> Any:
        first = [] if is_deferred else [keras.Input((3,))]
        made = keras.Sequential(
            [*first, keras.layers.Dense(2), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
        )
        made.compile("adam", "mse")
        return made

    def checkpoint(model: Any) -> Any:
        return tf.train.Checkpoint(model=model, optimizer=model.optimizer)

    one, other = model(), model()
    one.fit(X, Y, verbose=0)
    path = checkpoint(one).save(str(tmp_path / "ckpt"))
    status = checkpoint(other).restore(path)
    for each in (one, other):
        each.fit(X, Y, verbose=0, epochs=2, shuffle=False)
    status.assert_consumed()
    assert np.array_equal(one.predict(X, verbose=0), other.predict(X, verbose=0))
    assert all(map(np.array_equal, one.optimizer.get_weights(), other.optimizer.get_weights()))
