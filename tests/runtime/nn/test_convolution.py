"""Convolutions compared with their definition; gradients by finite differences; refusals."""

from __future__ import annotations

import itertools
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.nn import conv_kernel
from agc.runtime.ops.nn.conv_primitive import conv, conv_backprop_filter, conv_backprop_input

from .gradients import check

RANDOM = np.random.default_rng(3)


def by_definition(x: Any, w: Any, strides: Any, pads: Any, dilations: Any) -> Any:
    """y[b, i, o] = Σ x[b, i * stride + k * dilation - before, c] * w[k, c, o], with groups of channels."""
    n = len(strides)
    wide = np.pad(x, [(0, 0), *pads, (0, 0)])
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape, dilations, strict=False)]
    outputs = [(wide.shape[i + 1] - reach[i]) // strides[i] + 1 for i in range(n)]
    groups = x.shape[-1] // w.shape[-2]
    taken, given = w.shape[-2], w.shape[-1] // groups
    y = np.zeros((x.shape[0], *outputs, w.shape[-1]), x.dtype)
    for place in itertools.product(*map(range, outputs)):
        for at in itertools.product(*map(range, w.shape[:n])):
            element = tuple(p * s + a * d for p, s, a, d in zip(place, strides, at, dilations, strict=True))
            for g in range(groups):
                part = wide[(slice(None), *element, slice(g * taken, (g + 1) * taken))]
                outs = slice(g * given, (g + 1) * given)
                y[(slice(None), *place, outs)] += part @ w[at][:, outs]
    return y


def same(sizes: Any, window: Any, strides: Any, dilations: Any) -> Any:
    totals = [
        max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        for size, k, s, d in zip(sizes, window, strides, dilations, strict=False)
    ]
    return [(total // 2, total - total // 2) for total in totals]


CASES = [
    ((2, 7, 3), (3, 3, 4), (1,), (1,)),
    ((2, 7, 4), (2, 2, 6), (2,), (2,)),
    ((2, 5, 6, 3), (3, 2, 3, 4), (1, 1), (1, 1)),
    ((2, 6, 5, 4), (2, 3, 2, 6), (2, 1), (1, 2)),
    ((1, 6, 5, 3), (3, 3, 1, 6), (2, 2), (1, 1)),
    ((1, 4, 5, 3, 2), (2, 3, 1, 2, 3), (2, 1, 2), (1, 1, 1)),
]


@pytest.mark.parametrize(("shape", "window", "strides", "dilations"), CASES)
@pytest.mark.parametrize("padding", ["SAME", "VALID", "list"])
def test_every_form_is_a_sum_over_places(
    shape: Any, window: Any, strides: Any, dilations: Any, padding: str
) -> None:
    x, w = RANDOM.normal(size=shape), RANDOM.normal(size=window)
    n = len(strides)
    pads: Any = {"VALID": [(0, 0)] * n, "list": [(1, 2)] * n}.get(padding)
    if pads is None:
        pads = same(shape[1:-1], window, strides, dilations)
    said: Any = padding if padding != "list" else [(0, 0), *pads, (0, 0)]
    expected = by_definition(x, w, strides, pads, dilations)
    np.testing.assert_allclose(tf.nn.convolution(x, w, strides, said, None, dilations), expected)
    turned = np.moveaxis(x, -1, 1)
    said = padding if padding != "list" else [(0, 0), (0, 0), *pads]
    letters = "NC" + "DHW"[3 - n :]
    first = tf.nn.convolution(turned, w, strides, said, letters, dilations)
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), expected)


@pytest.mark.parametrize(("shape", "window", "strides", "dilations"), CASES[1::2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_the_three_operations_are_gradients_of_each_other(
    shape: Any, window: Any, strides: Any, dilations: Any, padding: str
) -> None:
    x, w = RANDOM.normal(size=shape), RANDOM.normal(size=window)
    setting = {"strides": strides, "dilations": dilations, "padding": padding}
    y = conv(x, w, **setting)
    check(conv, x, w, **setting)
    check(conv_backprop_input, np.array(shape), w, np.asarray(y), **setting)
    check(conv_backprop_filter, x, np.array(window), np.asarray(y), **setting)


def test_the_gradient_of_the_input_is_the_transpose_of_any_convolution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Strides beyond the window, dilations, paddings, groups, and windows that a gradient does not reach."""
    draw = np.random.default_rng(5).integers
    for _ in range(100):
        monkeypatch.setattr(conv_kernel, "_ELEMENTS", int(draw(20, 1000)))
        n, groups, taken, given = (int(draw(1, 4)) for _ in range(4))
        window, strides, dilations = (draw(1, 4, n).tolist() for _ in range(3))
        reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
        sizes, pads = [int(draw(size, size + 6)) for size in reach], draw(0, 5, 2 * n).tolist()
        x = draw(-3, 4, (2, *sizes, groups * taken)).astype(np.float64)
        w = draw(-3, 4, (*window, taken, groups * given)).astype(np.float64)
        settings = (strides, "EXPLICIT", pads, dilations)
        y = conv(x, w, *settings).numpy()
        dy = draw(-3, 4, y.shape).astype(np.float64)
        dx = conv_backprop_input(x.shape, w, dy, *settings).numpy()
        assert dx.shape == x.shape
        assert (dx * x).sum() == (dy * y).sum()


NAN = np.nan

REACHED = [
    ([3], [NAN, 1], [1], 1, 2, [NAN, 0, 1]),
    ([4], [NAN, 1], [1, 1, 1], 1, 1, [NAN, NAN, NAN, 1]),
    ([6], [NAN, 1], [1, 1], 3, 1, [NAN, 1, 0, NAN, 1, 0]),
]


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(("size", "filter", "dy", "stride", "dilation", "expected"), REACHED)
def test_nan_in_a_filter_reaches_the_elements_that_windows_multiply_by_it(
    size: Any, filter: Any, dy: Any, stride: int, dilation: int, expected: Any, jit_compile: bool
) -> None:
    """The numbers are those of TensorFlow."""

    @tf.function(jit_compile=jit_compile)
    def gradient(filter: Any, dy: Any) -> Any:
        return conv_backprop_input([1, *size, 1], filter, dy, [stride], "VALID", dilations=[dilation])

    w, back = np.reshape(filter, (-1, 1, 1)), np.reshape(dy, (1, -1, 1))
    np.testing.assert_array_equal(np.ravel(gradient(w.astype(np.float32), back.astype(np.float32))), expected)


@pytest.mark.parametrize("groups", [1, 2])
def test_nan_in_a_filter_leaves_other_elements_of_a_gradient_as_they_are(groups: int) -> None:
    dy, w = RANDOM.normal(size=(2, 4, 3, 6)), RANDOM.normal(size=(3, 2, 4 // groups, 6))

    @tf.function(jit_compile=True)
    def native(w: Any) -> Any:
        return conv_backprop_input([2, 7, 3, 4], w, dy, [2, 1], "SAME", dilations=[1, 2])

    expected = native(w).numpy()
    w[0, 0, 0, 0] = NAN
    found = conv_backprop_input([2, 7, 3, 4], w, dy, [2, 1], "SAME", dilations=[1, 2]).numpy()
    np.testing.assert_allclose(found, native(w), equal_nan=True)
    is_reached = np.isnan(found)
    assert is_reached.any()
    np.testing.assert_array_equal(is_reached[..., 1:], False)
    np.testing.assert_allclose(found[~is_reached], expected[~is_reached])


def test_convolutions_of_dynamic_size() -> None:
    x, w = RANDOM.normal(size=(2, 6, 5, 3)).astype("f"), RANDOM.normal(size=(3, 3, 3, 2)).astype("f")
    expected = tf.nn.conv2d(x, w, 2, "SAME").numpy()

    @tf.function(input_signature=[tf.TensorSpec([None] * 4), tf.TensorSpec(None)])
    def traced(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, 2, "SAME")

    np.testing.assert_allclose(traced(x, w), expected)
    assert traced(x[:0], w).shape == (0, 3, 3, 2)
    assert tf.nn.conv2d(x, w[:, :, :, :0], 1, "VALID").shape == (2, 4, 3, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="output size would be negative"):
        tf.function(lambda x: tf.nn.conv2d(x, w, 1, "VALID"), input_signature=[tf.TensorSpec([None] * 4)])(
            x[:, :1]
        )


def test_depthwise_and_separable() -> None:
    x, w = RANDOM.normal(size=(2, 5, 5, 3)), RANDOM.normal(size=(3, 3, 3, 2))
    each = [
        by_definition(x[..., c : c + 1], w[:, :, c : c + 1], (1, 1), [(0, 0)] * 2, (1, 1)) for c in range(3)
    ]
    found = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
    np.testing.assert_allclose(found, np.concatenate(each, -1))
    mixture = RANDOM.normal(size=(1, 1, 6, 4))
    both = tf.nn.separable_conv2d(x, w, mixture, [1, 1, 1, 1], "VALID")
    np.testing.assert_allclose(both, np.concatenate(each, -1) @ mixture[0, 0])


def test_depthwise_convolutions_have_static_shapes() -> None:
    ones = [1, 1, 1, 1]
    specs = [tf.TensorSpec([2, 5, 5, 3]), tf.TensorSpec([3, 3, 3, 2])]
    function = tf.function(lambda x, w: tf.nn.depthwise_conv2d(x, w, ones, "SAME"))
    assert function.get_concrete_function(*specs).structured_outputs.shape == [2, 5, 5, 6]
    gradient = tf.function(
        lambda x, dy: tf.nn.depthwise_conv2d_backprop_filter(x, [3, 3, 3, 2], dy, ones, "SAME")
    )
    specs = [tf.TensorSpec([2, 5, 5, 3]), tf.TensorSpec([2, 5, 5, 6])]
    assert gradient.get_concrete_function(*specs).structured_outputs.shape == [3, 3, 3, 2]


def test_batches_of_any_rank_and_narrow_numbers() -> None:
    x, w = RANDOM.normal(size=(2, 3, 5, 5, 2)), RANDOM.normal(size=(2, 2, 2, 3))
    flat = tf.nn.conv2d(x.reshape(6, 5, 5, 2), w, 1, "SAME")
    np.testing.assert_allclose(tf.nn.conv2d(x, w, 1, "SAME"), np.reshape(flat, (2, 3, 5, 5, 3)))
    half = tf.nn.conv2d(x.astype("e"), w.astype("e"), 1, "SAME")
    assert half.dtype is tf.float16
    np.testing.assert_allclose(half, np.reshape(flat, half.shape), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w: tf.nn.conv2d(x, w, [1, 2, 3], "SAME"), "length"),
        (lambda x, w: tf.nn.conv2d(x, w, [2, 1, 1, 1], "SAME"), "batch and depth"),
        (lambda x, w: tf.nn.conv2d(x, w, 1, "same"), "padding"),
        (lambda x, w: tf.nn.conv2d(x, w, 1, [[0, 0], [1, 1], [1, 1], [1, 0]]), "nonzero padding"),
        (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", "NWHC"), "data_format"),
        (lambda x, w: tf.nn.conv2d(x, w[:, :, :2], 1, "SAME"), "evenly divisible"),
        (lambda x, w: tf.nn.conv2d(x[:, :1], w, 1, "VALID"), "negative"),
        (lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 9, 4, 3], 1), "out_backprop|divisible"),
    ],
)
def test_refusals_name_the_mismatch(call: Any, words: str) -> None:
    x, w = np.ones((1, 4, 4, 3), "f"), np.ones((3, 3, 3, 3), "f")
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        call(x, w)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"explicit_paddings": (100,)}, "explicit_paddings"),
        ({"padding": "EXPLICIT", "explicit_paddings": (1, 1, 1)}, "explicit_paddings"),
        ({"padding": "EXPLICIT", "explicit_paddings": (1, 1, -9, 1)}, "explicit_paddings"),
        ({"strides": (1, -1)}, "strides"),
        ({"strides": (0, 1)}, "strides"),
        ({"dilations": (-1, 1)}, "dilations"),
    ],
)
def test_attributes_that_would_read_beyond_the_input_are_refused(change: Any, words: str) -> None:
    attrs = {"strides": (1, 1), "padding": "VALID", "dilations": (1, 1), **change}
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        conv(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2]), **attrs)


@pytest.mark.parametrize("elements", [1, 300])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize(
    ("padding", "strides", "dilations"), [("SAME", 2, 1), ("VALID", 1, 2), ("SAME", 3, 1)]
)
def test_strips_of_images_give_the_results_of_whole_images(
    padding: str, strides: int, dilations: int, groups: int, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(0)
    x = tf.constant(numbers.standard_normal((2, 11, 9, 6)), tf.float32)
    w = tf.constant(numbers.standard_normal((3, 2, 6 // groups, 12)), tf.float32)

    def results() -> list[np.ndarray]:
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            y = tf.nn.convolution(x, w, [strides] * 2, padding, dilations=[dilations] * 2)
        return [y.numpy(), *(gradient.numpy() for gradient in tape.gradient(y, (x, w), tf.cos(y)))]

    wanted = results()
    monkeypatch.setattr(conv_kernel, "_ELEMENTS", elements)
    for one, other in zip(results(), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize(("taken", "given"), [(70, 40), (40, 70)])
@pytest.mark.parametrize("batch", [1, 9])
def test_threads_share_the_filter_if_it_is_larger_than_the_input(
    window: int, strides: int, taken: int, given: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts of the products give the sums over the offsets in a window."""
    monkeypatch.setattr(conv_kernel, "_MULTIPLICATIONS", 1)
    draw = np.random.default_rng(0).integers
    x, w = (draw(-3, 4, shape) * 1.0 for shape in ((batch, 4, 4, taken), (window, window, taken, given)))
    with tf.GradientTape() as tape:
        tape.watch(inputs := (tf.constant(x), tf.constant(w)))
        y = tf.nn.conv2d(*inputs, strides, "VALID")
    dy = draw(-3, 4, y.shape) * 1.0
    size = (y.shape[1] - 1) * strides + 1
    wanted, dx, dw = np.zeros(y.shape), np.zeros_like(x), np.zeros_like(w)
    for i, j in itertools.product(range(window), range(window)):
        at = np.s_[:, i : i + size : strides, j : j + size : strides]
        wanted += x[at] @ w[i, j]
        dx[at] += dy @ w[i, j].T
        dw[i, j] = np.tensordot(x[at], dy, ([0, 1, 2], [0, 1, 2]))
    np.testing.assert_array_equal(y, wanted)
    for found, gradient in zip(tape.gradient(y, inputs, dy), (dx, dw), strict=True):
        np.testing.assert_array_equal(found, gradient)
