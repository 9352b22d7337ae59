"""Written programs give the answers that TensorFlow gave, and are read back with the same results."""

import json

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.export import tensorflow_model
from agc.runtime.export.verify import difference
from support import programs
from tensorflow_formats import written_programs

ANSWERS = json.loads(written_programs.ANSWERS.read_text())
READ_BACK = (
    "lists",
    "repeated lists",
    "growing arrays",
    "gradients of loops",
    "variables",
    "checks",
    "sorting",
)
FIXTURES = ("bubble_sort", "fizzbuzz", "kmeans", "stock_keeper")


def program(name):
    function, arguments = written_programs.PROGRAMS[name]
    return tf.export.resolve(tf.function(function), [tf.constant(each) for each in arguments])


@pytest.mark.parametrize("name", written_programs.PROGRAMS)
def test_programs_give_the_answers_of_tensorflow(name):
    written = program(name)
    found = written.run(written.examples)
    for port, array, (dtype, value) in zip(written.outputs, found, ANSWERS[name], strict=True):
        assert str(difference(port.name, np.array(value, dtype), array)).startswith(f"{port.name}: agrees")


def read_back(written, folder, monkeypatch):
    monkeypatch.setattr(tensorflow_model, "tensorflow_python", lambda: None)
    tf.export.write(written, folder, to="saved_model")
    return tf.export.verify(written, folder, to="saved_model")


@pytest.mark.parametrize("name", READ_BACK)
def test_programs_are_read_back(name, tmp_path, monkeypatch):
    assert all(found.agrees for found in read_back(program(name), tmp_path, monkeypatch))


@pytest.mark.parametrize("name", FIXTURES)
def test_programs_of_the_fixtures_are_read_back(name, tmp_path, monkeypatch):
    loaded = programs.load(name)
    written = tf.export.resolve(tf.function(loaded.entry), loaded.tensor_arguments(0, tf.constant))
    assert all(found.agrees for found in read_back(written, tmp_path, monkeypatch))


@pytest.mark.parametrize(
    "function",
    [lambda x: x, lambda x: [x, x * 2.0, x, 3.0], lambda self, name: {"a": self, "b": self + name}],
    ids=["argument", "arguments and constants", "arguments named as those of methods"],
)
def test_functions_that_return_their_arguments_are_read_back(function, tmp_path, monkeypatch):
    count = function.__code__.co_argcount
    written = tf.export.resolve(tf.function(function), [tf.constant([1.0, 2.0])] * count)
    assert all(found.agrees for found in read_back(written, tmp_path, monkeypatch))


def test_branches_by_a_number_are_read_back(tmp_path, monkeypatch):
    def choose(index):
        return tf.switch_case(index, [lambda: 1.0, lambda: 2.0, lambda: 3.0])

    for index in (1, 7):
        written = tf.export.resolve(tf.function(choose), [tf.constant(index)])
        assert all(found.agrees for found in read_back(written, tmp_path, monkeypatch))


def test_a_map_over_nothing_is_read_back(tmp_path, monkeypatch):
    def doubled(n):
        return tf.map_fn(lambda i: i * 2, tf.range(n))

    written = tf.export.resolve(tf.function(doubled), [tf.constant(0)])
    assert all(found.agrees for found in read_back(written, tmp_path, monkeypatch))
