"""Networks with the channels first: results that differ by the order of sums at most, and few transposes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.formats.onnx.model import encode
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import OptimizerOptions, optimize
from support import golden

FOLDER = Path(__file__).parents[3] / "fixtures" / "optimize"
RANDOM = np.random.default_rng(3)


def drawn(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def gated(x: Any, w: Any) -> Any:
    """A block with an unknown batch, a gate for each channel, and both kinds of pools."""
    y = tf.nn.relu6(tf.nn.conv2d(x, w, 1, "SAME", "NCHW"))
    gate = tf.sigmoid(tf.reduce_mean(y, [2, 3], keepdims=True))
    gate = gate + tf.reduce_max(y, 1, keepdims=True) * 0.1 + tf.reduce_sum(y) * 0.01
    pooled = tf.nn.max_pool2d(y * gate, 2, 2, "SAME", "NCHW")
    return tf.nn.conv2d(tf.nn.avg_pool2d(pooled, 3, 1, "SAME", "NCHW") + pooled * 0.5, w, 2, "SAME", "NCHW")


def trained(x: Any, w: Any) -> Any:
    """A loss with its gradients, through a pool and a join."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME", "NCHW"), [1.0, 2.0, 3.0, 4.0], "NCHW")
        y = tf.concat([tf.nn.max_pool2d(tf.tanh(y), 2, 2, "VALID", "NCHW")] * 2, 1)
        a, b = tf.split(tf.pad(y, [[0, 0], [0, 0], [1, 0], [0, 2]]), 2, 1)
        loss = tf.reduce_sum(tf.nn.conv2d(a * b, w, 1, "SAME", "NCHW") ** 2)
    return [loss, *tape.gradient(loss, [x, w])]


def normalized(x: Any, w: Any) -> Any:
    """Gradients of means over a batch and over channels, of gains and biases of two ranks, and of a mean pool."""
    gain, bias = tf.ones([4, 1, 1]) * 1.5, tf.constant([0.1, -0.2, 0.3, 0.4])
    with tf.GradientTape() as tape:
        tape.watch([x, w, gain, bias])
        y = tf.nn.conv2d(x, w, 1, "SAME", "NCHW")
        mean, variance = tf.nn.moments(y, [0, 2, 3], keepdims=True)
        y = tf.nn.gelu(tf.nn.bias_add((y - mean) * tf.math.rsqrt(variance + 0.1) * gain, bias, "NCHW"))
        mean, variance = tf.nn.moments(y, [1], keepdims=True)
        y = tf.nn.avg_pool2d((y - mean) / (variance + 1.0) + x, 2, 2, "SAME", "NCHW")
        scores = tf.reduce_mean(y, [2, 3]) / tf.cast(tf.shape(y)[2], tf.float32)
        loss = tf.reduce_sum(tf.nn.softmax(scores) ** 2)
    return [loss, *tape.gradient(loss, [x, w, gain, bias])]


def volumes(x: Any, w: Any) -> Any:
    """Three axes of space; a transpose of heads, as attention has it, is left alone."""
    y = tf.nn.elu(tf.nn.conv3d(x[..., None, :], w[None], [1] * 5, "SAME", "NCDHW"))
    return tf.transpose(y[:, :, :, 0], [0, 2, 1, 3]) * 2.0, tf.gather(y, [2, 0, 0], axis=1) + 1.0


PROGRAMS = [gated, trained, normalized, volumes]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("batch", [2, None])
def test_results_agree_in_each_executor(program: Any, batch: int | None) -> None:
    inputs = [drawn(2, 4, 6, 6), drawn(3, 3, 4, 4)]
    specs = [tf.TensorSpec([batch, 4, 6, 6]), tf.TensorSpec([3, 3, 4, 4])]
    graph = tf.function(program).get_concrete_function(*specs).graph
    optimized = optimize(graph)
    assert "NC" not in convolutions(optimized)
    for one, other in zip(interpret(graph, inputs), interpret(optimized, inputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6 * np.abs(one).max())
    for options in ({"jit_compile": False}, {"jit_compile": True}):
        results = tf.nest.flatten(tf.function(program, **options)(*map(tf.constant, inputs)))
        for one, other in zip(interpret(graph, inputs), results, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4 * np.abs(one).max())


@pytest.mark.parametrize("case", golden.read(FOLDER / "channels_last.txt"), ids=lambda case: case.title)
def test_golden_graphs_give_the_same_results(case: golden.Case) -> None:
    before, after = (parse(text, check=False) for text in (case.source, case.result))
    inputs = [drawn(*value.spec.shape) for value in before.inputs]
    for one, other in zip(interpret(before, inputs), interpret(after, inputs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_only_inputs_and_results_are_transposed() -> None:
    specs = tf.TensorSpec([2, 4, 6, 6]), tf.TensorSpec([3, 3, 4, 4])
    graph = optimize(tf.function(gated).get_concrete_function(*specs).graph)
    made = {value: each.type for each in graph.operations for value in each.outputs}
    turned = [each for each in graph.operations if each.type == "transpose"]
    assert sorted(str(made.get(each.inputs[0], "input")) for each in turned) == ["conv", "input"]


def test_the_option_and_exports_keep_the_format_of_the_program() -> None:
    spec = tf.TensorSpec([1, 4, 6, 6])
    weights = tf.constant(drawn(3, 3, 4, 4))
    function = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, weights, 1, "SAME", "NCHW")))
    graph = function.get_concrete_function(spec).graph
    assert "NCHW" in convolutions(optimize(graph, OptimizerOptions(channels_last=False)))
    onnx = pytest.importorskip("onnx")
    exported = onnx.load_model_from_string(encode(tf.export.resolve(function, [spec])))
    types = [node.op_type for node in exported.graph.node]
    assert types.count("Transpose") == 1  # that of the filter


def convolutions(graph: Graph) -> str:
    """Return the data formats of the convolutions."""
    return " ".join(each.attrs["data_format"] for each in graph.walk() if each.type.startswith("conv"))
