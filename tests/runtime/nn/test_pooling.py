"""Pooling compared with its definition, window by window; gradients by finite differences; dilated windows."""

from __future__ import annotations

import itertools
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.nn import pool_primitive

from .gradients import check

RANDOM = np.random.default_rng(4)


def by_definition(x: Any, k: Any, s: Any, pads: Any, reduce: Any) -> Any:
    """Each window without its padding, reduced."""
    wide = np.pad(x, pads, constant_values=np.nan)
    outputs = [(size - a) // b + 1 for size, a, b in zip(wide.shape, k, s, strict=True)]
    y = np.zeros(outputs)
    for place in itertools.product(*map(range, outputs)):
        window = wide[tuple(slice(p * b, p * b + a) for p, a, b in zip(place, k, s, strict=True))]
        y[place] = reduce(window)
    return y


@pytest.mark.parametrize(("n", "k", "s"), [(1, (3,), (2,)), (2, (2, 3), (1, 2)), (3, (2, 1, 3), (2, 1, 1))])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("channels_first", [False, True])
def test_every_form_reduces_windows(n: int, k: Any, s: Any, padding: str, channels_first: bool) -> None:
    x = RANDOM.normal(size=(2, *(6, 5, 4)[:n], 3))
    total = [max((-(-x.shape[i + 1] // s[i]) - 1) * s[i] + k[i] - x.shape[i + 1], 0) for i in range(n)]
    pads = [(t // 2, t - t // 2) if padding == "SAME" else (0, 0) for t in total]
    whole = ((0, 0), *pads, (0, 0))
    letters = ("NC" + "DHW"[3 - n :]) if channels_first else None
    given = np.moveaxis(x, -1, 1) if channels_first else x
    for kind, reduce in (("max", np.nanmax), ("avg", np.nanmean)):
        expected = by_definition(x, (1, *k, 1), (1, *s, 1), whole, reduce)
        found = getattr(tf.nn, f"{kind}_pool")(given, k, s, padding, letters).numpy()
        np.testing.assert_allclose(np.moveaxis(found, 1, -1) if channels_first else found, expected)
        same = tf.nn.pool(given, k, kind.upper(), s, padding, letters)
        np.testing.assert_array_equal(same, found)


def test_padding_in_a_list_and_pooled_channels() -> None:
    x = RANDOM.normal(size=(1, 4, 4, 4))
    pads = [[0, 0], [1, 2], [0, 1], [0, 0]]
    expected = by_definition(x, (1, 3, 2, 1), (1, 2, 2, 1), pads, np.nanmax)
    np.testing.assert_allclose(tf.nn.max_pool2d(x, [3, 2], 2, pads), expected)
    expected = by_definition(x, (1, 1, 1, 2), (1, 1, 1, 2), [(0, 0)] * 4, np.nanmax)
    np.testing.assert_allclose(tf.nn.max_pool2d(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"), expected)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_gradients(padding: str) -> None:
    x = RANDOM.permutation(2 * 5 * 4 * 2).reshape(2, 5, 4, 2) / 7
    setting: Any = {"ksize": (1, 3, 2, 1), "strides": (1, 2, 1, 1), "padding": padding}
    check(pool_primitive.max_pool, x, **setting)
    check(pool_primitive.avg_pool, x, **setting)
    y = pool_primitive.max_pool(x, **setting).numpy()
    # the second gradient is that of what is moved; which elements are moved is constant, but for jumps
    check(pool_primitive.max_pool_grad, x, y, y + 1, skip=(0, 1), **setting)
    check(pool_primitive.max_pool_grad_grad, x, y, x + 1, skip=(0, 1), **setting)
    check(pool_primitive.avg_pool_grad, np.array(x.shape), y, **setting)


def test_max_pooling_breaks_ties_by_the_first_element() -> None:
    # TensorFlow 2.21 gives these places and this gradient
    x = np.array([[[[2.0], [2.0], [1.0]], [[2.0], [0.0], [1.0]]]], "f")
    values, places = tf.nn.max_pool_with_argmax(x, 2, 1, "VALID")
    assert places.numpy().ravel().tolist() == [0, 1]
    _, places = tf.nn.max_pool_with_argmax(np.concatenate([x, x]), 2, 1, "SAME", include_batch_in_index=True)
    assert places.dtype is tf.int64 and places.numpy()[1].ravel().tolist() == [6, 7, 8, 9, 11, 11]
    setting: Any = {"ksize": (1, 2, 2, 1), "strides": (1, 1, 1, 1), "padding": "VALID"}
    found = pool_primitive.max_pool_grad(x, values, tf.ones_like(values), **setting)
    assert found.numpy().ravel().tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_windows_with_holes_unknown_sizes_and_nothing() -> None:
    x = np.arange(7, dtype="f").reshape(1, 7, 1) - 10
    assert tf.nn.pool(x, [2], "MAX", dilations=[2]).numpy().ravel().tolist() == [-8, -7, -6, -5, -4]
    assert tf.nn.pool(x, [2], "AVG", dilations=[2]).numpy().ravel().tolist() == [-9, -8, -7, -6, -5]

    @tf.function(input_signature=[tf.TensorSpec([None, None, 1])])
    def traced(x: Any) -> Any:
        return tf.nn.pool(x, [2], "AVG", dilations=[2]), tf.nn.max_pool1d(x, 3, 2, "SAME")

    np.testing.assert_array_equal(traced(x)[0], tf.nn.pool(x, [2], "AVG", dilations=[2]))
    np.testing.assert_array_equal(traced(x)[1], tf.nn.max_pool1d(x, 3, 2, "SAME"))
    assert traced(x[:0])[1].shape == (0, 4, 1)
    assert tf.nn.max_pool1d(x.astype("i"), 2, 2, "VALID").numpy().ravel().tolist() == [-9, -7, -5]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: tf.nn.max_pool2d(x, 2, 1, "same"), "padding"),
        (lambda x: tf.nn.max_pool2d(x[0], 2, 1, "SAME"), "rank 4"),
        (lambda x: tf.nn.max_pool2d(x, [2, 1, 1, 1], 1, "SAME"), "batch"),
        (lambda x: tf.nn.avg_pool2d(x, 9, 1, "VALID"), "negative"),
        (lambda x: tf.nn.avg_pool2d(x.astype("i"), 2, 1, "VALID"), "does not take int32"),
        (lambda x: tf.nn.pool(x, [2, 2], "SUM"), "pooling_type"),
        (lambda x: tf.nn.pool(x, [2, 2], "MAX", [2, 2], dilations=[2, 1]), "conjunction"),
    ],
)
def test_refusals_name_the_mismatch(call: Any, words: str) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        call(np.ones((1, 4, 4, 1), "f"))


@pytest.mark.parametrize("two", [4 / 2, np.float64(2), np.float32(2)])
def test_sizes_may_be_floats_without_a_fraction(two):
    x = np.ones([1, 4, 4, 2], np.float32)
    assert tf.nn.max_pool2d(x, [1, two, two, 1], two, "VALID").shape == (1, 2, 2, 2)
    assert tf.image.extract_patches(x, [1, two, two, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape == (
        1,
        3,
        3,
        8,
    )
    with pytest.raises(TypeError, match="expected an integer, got"):
        tf.nn.space_to_depth(x, two + 0.5)


def test_a_type_of_pooling_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match="Invalid `pooling_type`"):
        tf.nn.pool(tf.zeros([1, 4, 4, 1]), [2, 2], np.array(["MAX"]), strides=[1, 1])
