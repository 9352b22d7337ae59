"""Convolutions and pooling in native code, and their gradients: what the interpreter gives, to some last places."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.lowering import conv


def agree(program: Any, arrays: list[Any], bound: float = 1e-5) -> None:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    for found, wanted in zip(JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


def with_gradients(layer: Any) -> Any:
    def program(*inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = layer(*inputs)
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, inputs)]

    return program


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


CONVOLUTIONS = [
    ((2, 7, 6, 3), (3, 2, 3, 4), {"strides": 1, "padding": "SAME", "dilations": 2}),
    ((2, 7, 6, 3), (3, 2, 3, 4), {"strides": (2, 1), "padding": "VALID"}),
    ((2, 5, 5, 3), (1, 1, 3, 6), {"strides": 1, "padding": "VALID"}),
    ((2, 5, 5, 4), (3, 3, 2, 6), {"strides": 2, "padding": "SAME"}),
    ((2, 3, 5, 6), (2, 2, 3, 4), {"strides": 1, "padding": "SAME", "data_format": "NCHW"}),
    ((1, 4, 4, 2), (2, 2, 2, 2), {"strides": 1, "padding": [[0, 0], [1, 2], [0, 1], [0, 0]]}),
]


@pytest.mark.parametrize(("x", "w", "setting"), CONVOLUTIONS)
def test_convolutions(x: Any, w: Any, setting: dict[str, Any]) -> None:
    agree(with_gradients(lambda a, b: tf.nn.conv2d(a, b, **setting)), [numbers(*x), numbers(*w)])


def test_batches_are_laid_out_a_few_images_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv, "_ELEMENTS", 2 * 49 * 27)
    layer = with_gradients(lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"))
    agree(layer, [numbers(6, 7, 7, 3), numbers(3, 3, 3, 4)])


def test_other_convolutions() -> None:
    agree(with_gradients(lambda a, b: tf.nn.conv1d(a, b, 2, "SAME")), [numbers(2, 9, 3), numbers(3, 3, 2)])
    agree(
        with_gradients(lambda a, b: tf.nn.conv3d(a, b, [1] * 5, "SAME")),
        [numbers(1, 4, 3, 5, 2, dtype=np.float64), numbers(2, 2, 2, 2, 3, dtype=np.float64)],
        1e-12,
    )
    agree(
        with_gradients(lambda a, b: tf.nn.conv2d_transpose(a, b, [2, 8, 8, 3], 2)),
        [numbers(2, 4, 4, 5), numbers(3, 3, 3, 5)],
    )
    agree(
        with_gradients(lambda a, b: tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], "SAME")),
        [numbers(2, 5, 6, 3), numbers(3, 3, 3, 2)],
    )
    half = [numbers(1, 5, 5, 2, dtype=np.float16), numbers(2, 2, 2, 3, dtype=np.float16)]
    agree(lambda a, b: [tf.nn.conv2d(a, b, 1, "SAME")], half, 2e-3)


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, 2, "VALID"), (3, 2, "SAME"), (1, 2, "SAME")])
@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_pooling(pool: Any, size: int, stride: int, padding: str) -> None:
    x = np.round(numbers(2, 7, 6, 3) * 2)  # so that several elements of a window are the largest
    agree(with_gradients(lambda a: pool(a, size, stride, padding)), [x])


def test_argmax_of_pooling_windows() -> None:
    def program(x: Any) -> Any:
        return [
            part
            for batch in (False, True)
            for part in tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=batch)
        ]

    agree(program, [np.round(numbers(2, 5, 5, 2))])


def test_a_step_of_a_convolutional_network_is_compiled() -> None:
    def loss(x: Any, w: Any, v: Any) -> Any:
        hidden = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "VALID")
        logits = tf.reshape(hidden, [4, -1]) @ v
        return tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2, 1], logits)

    agree(with_gradients(loss), [numbers(4, 8, 8, 1), numbers(3, 3, 1, 4), numbers(64, 3)])


@pytest.mark.parametrize("shape", [(1, 4, 4, 4), (1, 2, 2, 4), (2, 3, 3, 4)])
def test_a_declared_shape_that_is_wrong_is_the_plans_error(shape: tuple[int, ...]) -> None:
    """Nothing is read beyond what is given."""

    @tf.function(jit_compile=True)
    def transposed(y: Any, w: Any) -> Any:
        return tf.nn.conv2d_transpose(y, w, shape, 1, "VALID")

    with pytest.raises(tf.errors.InvalidArgumentError, match="Size of out_backprop doesn't match"):
        transposed(tf.ones([1, 2, 2, 3]), tf.ones([2, 2, 4, 3]))


def test_a_convolution_of_no_images() -> None:
    convolved = tf.function(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), jit_compile=True)
    assert convolved(tf.ones([0, 3, 3, 2]), tf.ones([2, 2, 2, 5])).shape == (0, 3, 3, 5)
