"""Keras's own answers, recorded from TensorFlow 2.21: agc computes the same. The programs are in `keras_cases`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agc.runtime as tf
import keras_cases
import numpy as np
import pytest
from agc.runtime.optimize import tile_rows, tile_sizes
from support.each_case import each_case
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2

RECORDED = {module: keras_cases.read(module) for module in keras_cases.MODULES}


NAMES = [(module, name) for module, answers in RECORDED.items() for name in answers]


@pytest.mark.filterwarnings("ignore:In loss categorical_crossentropy:SyntaxWarning")
@each_case(("module", "name"), NAMES)
def test_the_answer_is_that_of_keras(module: str, name: str, programs: dict[str, keras_cases.Cases]) -> None:
    got, expected = keras_cases.answer(programs[module][name]), RECORDED[module][name]
    assert keras_cases.agree(got, expected), f"{name}\n  Keras  {expected}\n  agc    {got}"


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    return {module: keras_cases.cases(module, tf) for module in keras_cases.MODULES}


def test_layers_of_attention_train_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> list[float]:
        keras = tf.keras
        keras.utils.set_random_seed(0)
        inputs = keras.Input((70, 8))
        hidden = keras.layers.MultiHeadAttention(2, 4)(inputs, inputs, use_causal_mask=True)
        model = keras.Model(inputs, keras.layers.GlobalAveragePooling1D()(hidden))
        model.compile("sgd", "mse")
        x = np.random.default_rng(0).normal(size=(4, 70, 8)).astype(np.float32)
        return model.fit(x, x[:, 0], batch_size=2, epochs=2, verbose=0, shuffle=False).history["loss"]  # type: ignore[no-any-return]

    tiles = []
    with_loops = tile_rows._with_loops
    monkeypatch.setattr(tile_rows, "_with_loops", lambda *args: tiles.append(args) or with_loops(*args))
    whole = losses()
    assert not tiles
    monkeypatch.setattr(tile_rows, "LARGE", 2 * 2 * 70 * 70 * 4)
    monkeypatch.setattr(tile_rows, "TILE", 70 * 32)
    monkeypatch.setattr(tile_sizes, "FEWEST_ROWS", 8)
    assert losses() == pytest.approx(whole, rel=1e-5) and len(tiles) >= 2


def test_the_callback_for_tensorboard_writes_the_model_and_its_losses(tmp_path: Path) -> None:
    keras = tf.keras
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 1)), np.ones(2), verbose=0, callbacks=[keras.callbacks.TensorBoard(tmp_path)])
    (file,) = (tmp_path / "train").iterdir()
    records = [event_pb2.Event.FromString(record) for record in RawEventFileLoader(str(file)).Load()]
    values = [value for record in records for value in record.summary.value]
    plugins = {value.tag: value.metadata.plugin_data.plugin_name for value in values}
    assert plugins["keras"] == "graph_keras_model" and plugins["epoch_loss"] == "scalars"


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_the_optimizer_counts_the_steps_of_datasets_of_unknown_cardinality() -> None:
    keras = tf.keras
    data = tf.data.Dataset.range(5).filter(lambda n: n < 3).map(lambda n: (tf.ones((1, 1)), tf.ones(1)))
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(data, epochs=2, verbose=0)
    assert int(model.optimizer.iterations) == 2 * 3
