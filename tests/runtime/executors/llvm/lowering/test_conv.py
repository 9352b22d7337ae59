"""Convolutions and pooling in native code, and their gradients: what the interpreter gives, to some last places."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.codegen import blockwise, parallel_loops
from agc.runtime.executors.llvm.lowering import (
    conv,
    conv_by_offset,
    conv_one_matrix,
    conv_tiles,
    conv_winograd,
)
from support.selection import in_turn, pairs


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


SETTINGS = [
    {"strides": strides, "padding": padding, "dilations": dilations}
    for strides in (1, 2, (1, 3))
    for dilations in (1, 2)
    for padding in ("SAME", "VALID", [[0, 0], [3, 1], [0, 2], [0, 0]])
    if strides == 1 or dilations == 1
]


def check_small_blocks(monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any], groups: int) -> None:
    """Compare a convolution that runs in blocks of one row."""
    monkeypatch.setattr(blockwise, "_LEAST_WORK", 1)
    monkeypatch.setattr(conv, "_ROWS", 1)
    layer = with_gradients(lambda a, b: tf.nn.relu(tf.nn.conv2d(a, b, **setting) + 0.5))
    agree(layer, [numbers(3, 7, 11, 4), numbers(3, 2, 4 // groups, 8)], bound=1e-4)


IN_SMALL_BLOCKS = [
    (setting, groups)
    for place, setting in enumerate(SETTINGS)
    for groups in in_turn([1, 2, 4], place + place // 3)  # three settings in a row differ in their padding
]


@pytest.mark.parametrize(("setting", "groups"), IN_SMALL_BLOCKS)
def test_convolutions_in_small_blocks(
    monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any], groups: int
) -> None:
    check_small_blocks(monkeypatch, setting, groups)


@pytest.mark.parametrize(
    ("shape", "dtype", "setting"),
    [
        ((3, 8, 12, 4), np.float32, {"padding": "SAME"}),
        ((2, 10, 6, 5), np.float64, {"padding": "VALID"}),
        ((5, 2, 4, 3), np.float16, {"padding": "SAME"}),
        ((1, 26, 4, 3), np.float32, {"padding": [[0, 0], [2, 0], [0, 4], [0, 0]]}),
        ((2, 3, 6, 8), np.float32, {"padding": "SAME", "data_format": "NCHW"}),
        ((3, 7, 5, 4), np.float32, {"padding": "SAME"}),
        ((2, 9, 11, 3), np.float32, {"padding": "SAME", "dilations": (2, 3)}),
        ((2, 4, 5, 6, 3), np.float32, {"padding": "SAME"}),
        ((2, 5, 6, 4, 3), np.float64, {"padding": "VALID", "dilations": (2, 1, 1)}),
    ],
)
def test_filters_of_three_by_three_in_tiles(
    monkeypatch: pytest.MonkeyPatch, shape: Any, dtype: Any, setting: dict[str, Any]
) -> None:
    """Winograd's algorithm, in blocks of two rows or more; a convolution without tiles shares them."""
    monkeypatch.setattr(conv_tiles, "TILES", 1)
    monkeypatch.setattr(conv_winograd, "_CHANNELS", 1)
    monkeypatch.setattr(conv_winograd, "_WASTE", 9)
    monkeypatch.setattr(blockwise, "_LEAST_WORK", 1)
    monkeypatch.setattr(conv, "_ROWS", 1)
    channels = shape[1] if "data_format" in setting else shape[-1]
    window = (2, 3, 3)[-len(shape) + 2 :]

    def layer(x: Any, w: Any) -> Any:
        y = tf.nn.convolution(x, w, 1, **setting)
        ones = tf.ones([1] * len(window) + [6, 6], y.dtype)
        return tf.nn.relu(y + 0.5) * tf.nn.convolution(y, ones, 1, **setting | {"padding": "SAME"})

    arrays = [numbers(*shape, dtype=dtype), numbers(*window, channels, 6, dtype=dtype) / 4]
    agree(with_gradients(layer), arrays, bound={2: 5e-2, 4: 1e-3, 8: 1e-10}[np.dtype(dtype).itemsize])


OFFSETS = [
    ((5, 13, 6), (2, 6, 5), {"padding": "SAME"}),
    ((2, 5, 13, 6), (2, 3, 6, 5), {"padding": "VALID"}),
    ((2, 7, 9, 4), (3, 2, 4, 3), {"padding": "SAME", "dilations": (2, 1)}),
    ((2, 3, 4, 11, 3), (2, 3, 2, 3, 4), {"padding": "SAME"}),
    ((2, 4, 3, 9, 3), (2, 1, 2, 3, 4), {"padding": "VALID"}),
]

IN_PARTS = [
    (*layer, work, has_blas)
    for row, layer in enumerate(OFFSETS)
    for work in in_turn([1, 1000, 1 << 20], row)
    for has_blas in in_turn([True, False], row)
]


@pytest.mark.parametrize(("x", "w", "setting", "work", "has_blas"), IN_PARTS)
def test_few_filters_by_products_of_overlapping_rows(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, x: Any, w: Any, setting: dict[str, Any],
    work: int, has_blas: bool,
) -> None:  # fmt: skip
    """A block is a part of a line, some lines, or some images."""
    monkeypatch.setattr(blockwise, "_LEAST_WORK", work)
    monkeypatch.setattr(conv_by_offset, "_INSIDE", 1)
    if not has_blas:
        request.getfixturevalue("without_blas")
    layer = with_gradients(lambda a, b: tf.nn.relu(tf.nn.convolution(a, b, 1, **setting) + 0.5))
    agree(layer, [numbers(*x), numbers(*w)], bound=1e-4)


def test_a_row_at_the_end_of_a_line_is_not_in_the_result() -> None:
    x = numbers(1, 4, 20, 16)
    x[0, 2, 0] = np.inf
    w = numbers(2, 3, 16, 4)
    found = tf.function(lambda x: tf.nn.conv2d(x, w, 1, "VALID"), jit_compile=True)(x).numpy()
    assert not np.isfinite(found[0, 1:, 0]).any()
    assert np.isfinite(found[0, :, 1:]).all()
    assert np.isfinite(found[0, 0]).all()


@pytest.mark.parametrize("window", [(3, 2), (1, 1)])
def test_large_filters_have_one_matrix_of_few_windows(monkeypatch: pytest.MonkeyPatch, window: Any) -> None:
    monkeypatch.setattr(conv_one_matrix, "BYTES", 100)
    monkeypatch.setattr(conv_one_matrix, "_COLUMNS", 3)
    layer = with_gradients(lambda a, b: tf.nn.relu(tf.nn.conv2d(a, b, 1, "SAME") + 0.5))
    agree(layer, [numbers(2, 3, 2, 10), numbers(*window, 10, 8)], bound=1e-4)


def test_a_number_that_is_not_finite_stays_in_its_tile() -> None:
    x = numbers(1, 28, 28, 32)
    w = numbers(3, 3, 32, 32)
    convolved = tf.function(lambda x: tf.nn.conv2d(x, w, 1, "SAME"), jit_compile=True)
    expected = convolved(x).numpy()
    x[0, 8, 8, 1] = np.inf
    found = convolved(x).numpy()
    assert not np.isfinite(found[0, 7:10, 7:10]).any()
    found[0, 6:10, 6:10] = expected[0, 6:10, 6:10]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_dtypes_and_formats_of_convolutions(dtype: Any, data_format: str) -> None:
    axes = (0, 1, 2, 3) if data_format == "NHWC" else (0, 3, 1, 2)
    x = numbers(2, 9, 8, 3, dtype=dtype).transpose(axes).copy()
    layer = with_gradients(lambda a, b: tf.nn.conv2d(a, b, 1, "SAME", data_format=data_format))
    agree(layer, [x, numbers(3, 3, 3, 5, dtype=dtype)], bound=2e-2 if dtype == np.float16 else 1e-4)


@pytest.mark.parametrize("stride", [1, 2])
def test_depthwise_convolutions(stride: int) -> None:
    strides = (1, stride, stride, 1)
    layer = with_gradients(lambda a, b: tf.nn.depthwise_conv2d(a, b, strides, "SAME"))
    agree(layer, [numbers(3, 9, 7, 5), numbers(3, 3, 5, 1)], bound=1e-4)
    agree(layer, [numbers(3, 9, 7, 5), numbers(3, 3, 5, 2)], bound=1e-4)


@pytest.mark.parametrize("window", [(7, 7), (1, 37), (37, 1)])
def test_depthwise_convolutions_of_large_windows(window: tuple[int, int]) -> None:
    layer = with_gradients(lambda a, b: tf.nn.depthwise_conv2d(a, b, (1, 1, 1, 1), "SAME"))
    for channels in (2, 9):  # by BLAS, and by channel
        agree(layer, [numbers(2, 9, 8, channels), numbers(*window, channels, 2)], bound=1e-3)


@pytest.mark.parametrize("odd", [1.0, np.nan, np.inf])
def test_gradients_of_dilated_depthwise_convolutions_read_the_windows_alone(odd: float) -> None:
    filters = numbers(3, 3, 2, 1)
    filters[0, 0, 0, 0] = odd

    def gradient(dy: Any, filters: Any) -> Any:
        return tf.nn.depthwise_conv2d_backprop_input(
            [1, 9, 7, 2], filters, dy, (1, 1, 1, 1), "VALID", dilations=[2, 2]
        )

    agree(gradient, [numbers(1, 5, 3, 2), filters])


@pytest.mark.parametrize("filters", [4, 32])
def test_a_filter_of_nan_is_multiplied_by_the_zeros_around_unless_channels_are_separate(filters: int) -> None:
    filter = numbers(3, 1, 1, filters)
    filter[0, 0, 0, 0] = np.nan

    def gradient(dy: Any, filter: Any) -> Any:
        return tf.nn.conv2d_transpose(dy, filter, [1, 9, 1, 1], 1)

    arrays = [numbers(1, 9, 1, filters), filter]
    agree(gradient, arrays)
    assert np.isnan(gradient(*map(tf.constant, arrays))).sum() == (8 if filters == 4 else 9)


def test_gradients_of_large_filters_are_divided_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv, "PART_BYTES", 1)
    monkeypatch.setattr(conv_one_matrix, "_COLUMNS", 2)
    layer = with_gradients(lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"))
    agree(layer, [numbers(2, 6, 5, 3), numbers(3, 3, 3, 12)], bound=1e-4)


@pytest.mark.usefixtures("without_blas")
@pytest.mark.parametrize(("setting", "groups"), pairs([SETTINGS[0], SETTINGS[3], SETTINGS[-1]], [1, 2]))
def test_without_blas_products_use_the_blocked_function(
    monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any], groups: int
) -> None:
    check_small_blocks(monkeypatch, setting, groups)


@pytest.mark.usefixtures("without_blas")
def test_filters_of_three_by_three_without_blas() -> None:
    layer = with_gradients(lambda a, b: tf.nn.conv2d(a, b, 1, "SAME"))
    agree(layer, [numbers(6, 12, 12, 32), numbers(3, 3, 32, 32)], bound=1e-3)


def test_integers_are_convolved() -> None:
    x, w = (
        np.arange(size, dtype=np.int32).reshape(shape)
        for size, shape in ((96, (2, 4, 4, 3)), (54, (3, 3, 3, 2)))
    )

    def program(a: Any, b: Any) -> Any:
        y = tf.nn.convolution(a, b, padding="SAME")
        return y, tf.nn.conv_transpose(y, b, (2, 4, 4, 3), 1)

    agree(program, [x, w])
    agree(lambda a, b: tf.nn.conv_transpose(a, b, (2, 8, 8, 2), 2), [x, w.reshape(3, 3, 2, 3)])


def test_convolutions_share_the_block_that_reads_them() -> None:
    """Two convolutions and the operations on both run in one loop over blocks."""

    def block(x: Any, first: Any, second: Any, scale: Any) -> Any:
        y = tf.nn.conv2d(x, first, 1, "SAME") * scale
        return tf.nn.relu(y + tf.nn.conv2d(x, second, 1, "SAME")), y

    agree(block, [numbers(2, 12, 12, 3), numbers(3, 3, 3, 8), numbers(1, 1, 3, 8), numbers(8)])


def test_a_convolution_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = with_gradients(lambda a, b: tf.nn.relu(tf.nn.conv2d(a, b, 1, "SAME")))
    strided = with_gradients(lambda a, b: tf.nn.conv2d(a, b, 2, "SAME"))
    arrays = [numbers(16, 28, 28, 8), numbers(3, 3, 8, 16)]
    for program in (layer, strided):
        graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
        results = []
        for count in (1, 2, 3):
            monkeypatch.setattr(parallel_loops, "threads_within", lambda count=count: count)
            results.append(JitFunction(graph).run(arrays))
        for others in results[1:]:
            for found, wanted in zip(others, results[0], strict=True):
                np.testing.assert_array_equal(found, wanted)


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


WINDOWS = [
    (2, 2, "VALID"),
    (3, 2, "SAME"),
    (1, 2, "SAME"),
    ((3, 2), 1, "SAME"),
    ((2, 3), (3, 2), "VALID"),
    (6, (1, 2), "SAME"),
    ((3, 2), (2, 1), [[0, 0], [2, 0], [1, 1], [0, 0]]),
]


@pytest.mark.parametrize(("size", "stride", "padding"), WINDOWS)
@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_pooling(pool: Any, size: Any, stride: Any, padding: Any) -> None:
    x = np.round(numbers(2, 7, 6, 3) * 2)  # so that several elements of a window are the largest
    agree(with_gradients(lambda a: pool(a, size, stride, padding)), [x])


@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_pooling_of_other_numbers(pool: Any) -> None:
    x = numbers(2, 5, 4, 3)
    agree(with_gradients(lambda a: pool(a, 3, 2, "SAME")), [x.astype(np.float64)], 1e-14)
    agree(with_gradients(lambda a: pool(a, 2, 1, "SAME")), [x.astype(np.float16)], 1e-2)
    x[0, 1, 2], x[1, 2, 2], x[1, 4, 1] = np.nan, np.inf, -np.inf
    agree(lambda a: [pool(a, 2, 1, "SAME"), pool(a, 5, 1, "SAME")], [x])


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.avg_pool])
def test_pooling_of_other_axes(pool: Any) -> None:
    agree(with_gradients(lambda a: pool(a, [1, 1, 1, 3], [1, 1, 1, 3], "VALID")), [numbers(2, 3, 2, 7)])
    agree(with_gradients(lambda a: pool(a, 3, 2, "SAME", data_format="NCHW")), [numbers(2, 3, 6, 5)])
    agree(with_gradients(lambda a: pool(a, (2, 3, 2), (2, 1, 1), "SAME")), [numbers(1, 5, 4, 3, 2)])


def test_pooling_of_integers() -> None:
    x = np.arange(60, dtype=np.int32).reshape(1, 5, 4, 3) % 7 - 5
    agree(lambda a: [tf.nn.max_pool2d(a, 3, 2, "SAME"), tf.nn.max_pool2d(a, 5, 1, "SAME")], [x])


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
