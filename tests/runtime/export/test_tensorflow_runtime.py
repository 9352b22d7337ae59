"""Verification of TensorFlow's formats: in a Python that has TensorFlow, or by agc's own reader."""

import sys

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.export import tensorflow_runtime


@pytest.fixture(autouse=True)
def without_tensorflow(monkeypatch):
    for module in ("frozen_graph", "tensorflow_model"):
        monkeypatch.setattr(f"agc.runtime.export.{module}.tensorflow_python", lambda: None)


def test_a_saved_model_is_read_back_where_tensorflow_is_missing(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    program = tf.export.saved_model(
        tf.function(lambda x: {"y": x * v}), tmp_path / "model", [tf.constant([3.0, 4.0])]
    )
    (found,) = tf.export.verify(program, tmp_path / "model", to="saved_model")
    assert str(found) == "y: agrees, largest difference 0"
    assert tf.export.format_of("saved_model", "").runtime() == "agc, which reads the model back"


def test_a_graph_needs_tensorflow(tmp_path):
    program = tf.export.graphdef(lambda x: x + 1, tmp_path / "f.pb", [tf.constant(1)])
    with pytest.raises(ValueError, match="name a Python that has it"):
        tf.export.verify(program, tmp_path / "f.pb")


def test_a_python_without_tensorflow_is_named(tmp_path):
    program = tf.export.graphdef(lambda x: x + 1, tmp_path / "f.pb", [tf.constant(1)])
    with pytest.raises(RuntimeError, match=r"TensorFlow does not run in .*No module named 'tensorflow'"):
        tf.export.verify(program, tmp_path / "f.pb", python=sys.executable)
    with pytest.raises(RuntimeError, match="/no/python cannot be run: No such file"):
        tf.export.verify(program, tmp_path / "f.pb", python="/no/python")


def test_other_formats_are_not_verified_in_another_python(tmp_path):
    program = tf.export.json(lambda x: x + 1, tmp_path / "f.json", [tf.constant(1)])
    with pytest.raises(ValueError, match="the format json is not verified in another Python"):
        tf.export.verify(program, tmp_path / "f.json", python=sys.executable)


def test_cases_are_exchanged_as_tensors(tmp_path, monkeypatch):
    """A stand-in for TensorFlow doubles the first input."""
    program = tf.export.resolve(lambda x, s: x * 2, [tf.constant([1.0, 2.0]), tf.constant("a")])

    def answer(folder, python, verbose=False):
        x, s = ((folder / f"case.{i}.tensor").read_bytes() for i in range(2))
        assert tensorflow_runtime.parsed(s).item() == b"a"
        twice = tensorflow_runtime.serialized(tensorflow_runtime.parsed(x) * 2)
        (folder / "case.output.0.tensor").write_bytes(twice)

    monkeypatch.setattr(tensorflow_runtime, "run_cases", answer)
    found = tensorflow_runtime.run_in_tensorflow("python", tmp_path, program, program.examples)
    assert np.array_equal(found, [[2.0, 4.0]])


def test_the_message_of_tensorflow_is_shown(tmp_path):
    program = tf.export.resolve(lambda x: x, [tf.constant(1.0)])
    (tmp_path / "case.error").write_text("InvalidArgumentError: no kernel")
    with pytest.raises(RuntimeError, match="TensorFlow fails: InvalidArgumentError: no kernel"):
        tensorflow_runtime.outcome(tmp_path, "case", program)
