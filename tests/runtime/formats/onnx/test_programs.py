"""Programs with control flow, and networks with their training steps, give the same in ONNX Runtime."""

import os

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.onnx.model import encode
from support import programs
from support.onnx_models import OPSETS, disagreements, results

from benchmarks import workloads

CASES = programs.cases()
FIRST = {name: (name, number) for name, number in reversed(CASES)}


@pytest.mark.filterwarnings("ignore:.* as ONNX differs from the program")  # assertions are left out
@pytest.mark.parametrize("name", FIRST)
def test_a_program_of_the_fixtures_agrees(name):
    cases = [case for case in CASES if case[0] == name] if "AGC_FUZZ" in os.environ else [FIRST[name]]
    for _, number in cases:
        program = programs.load(name)
        arguments = program.tensor_arguments(number, tf.constant)
        exported = tf.export.resolve(program.entry, arguments)
        assert disagreements(exported, exported.examples, opset=OPSETS[number % 2]) == []


@pytest.mark.parametrize("name", ["lstm", "mlp", "rnn_gradient", "rk45", "thousand_layers", "transformer"])
def test_a_step_of_training_agrees(name):
    workload = workloads.Workload(name).load()
    exported = tf.export.resolve(workload.tensorflow(tf, False, **workload.TINY))
    assert disagreements(exported, []) == []


class Classifier(tf.Module):
    """A small convolutional network, and a step of its training."""

    def __init__(self):
        super().__init__()
        draw = tf.random.Generator.from_seed(1)
        self.filters = tf.Variable(draw.normal([3, 3, 1, 4]), name="filters")
        self.matrix = tf.Variable(draw.normal([4 * 4 * 4, 3]), name="matrix")

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1])])
    def __call__(self, x):
        h = tf.nn.relu(tf.nn.conv2d(x, self.filters, 1, "SAME"))
        h = tf.reshape(tf.nn.max_pool2d(h, 2, 2, "SAME"), [tf.shape(h)[0], 64])
        return tf.nn.softmax(h @ self.matrix)

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1]), tf.TensorSpec([None], tf.int32)])
    def train(self, x, labels):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.math.log(tf.gather(self(x), labels, axis=1, batch_dims=1)))
        for gradient, variable in zip(tape.gradient(loss, self.variables), self.variables, strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss


def test_a_trained_network_takes_batches_of_any_size(tmp_path):
    network, random = Classifier(), np.random.default_rng(0)
    x, labels = random.standard_normal((5, 8, 8, 1), np.float32), np.int32([0, 1, 2, 0, 1])
    network.train(x, labels)
    program = tf.export.onnx(network.__call__, tmp_path / "c.onnx", dynamic_axes={"x": {0: "batch"}})
    assert str(program.inputs[0]) == "x: float32[batch, 8, 8, 1]"
    for size in (1, 5):
        (found,) = results((tmp_path / "c.onnx").read_bytes(), [x[:size]]).values()
        np.testing.assert_allclose(found, network(x[:size]), rtol=1e-5, atol=1e-6)


def test_a_step_of_training_returns_the_next_state():
    network, random = Classifier(), np.random.default_rng(0)
    x, labels = random.standard_normal((2, 8, 8, 1), np.float32), np.int32([0, 2])
    program = tf.export.resolve(network.train)
    content = encode(program)
    first = results(content, [x, labels])
    assert set(first) == {"output_0", "filters_next", "matrix_next"}
    second = results(content, [x, labels, first["filters_next"], first["matrix_next"]])
    for step in (first, second):
        np.testing.assert_allclose(step["output_0"], network.train(x, labels), rtol=1e-4)
        np.testing.assert_allclose(step["filters_next"], network.filters, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(step["matrix_next"], network.matrix, rtol=1e-4, atol=1e-5)
