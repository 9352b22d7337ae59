"""The other functions of `tf.nn`: numbers from TensorFlow 2.21, gradients by finite differences, refusals."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.nn import losses, lrn, rectifiers, space_to_depth

from .gradients import check

RANDOM = np.random.default_rng(6)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_cross_entropies() -> None:
    labels, logits = [[0.0, 1.0], [0.25, 0.75]], [[1.0, 2.0], [1e4, -1e4]]
    close(tf.nn.softmax_cross_entropy_with_logits(labels, logits), [0.31326166, 15000.0])
    close(tf.nn.softmax_cross_entropy_with_logits(labels[:1], [[1.0, 2.0], [3.0, 4.0]]), [0.31326166] * 2)
    close(
        tf.nn.softmax_cross_entropy_with_logits(np.transpose(labels), np.transpose(logits), 0),
        [0.31326166, 15000.0],
    )
    close(tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], logits), [0.31326166, 0.0])
    close(tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0], [1.0, -2.0]), [1.3132617, 2.126928])
    close(tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [1.0, 2.0], 2.0), [1.3132617, 0.253856])
    close(tf.nn.log_poisson_loss([2.0, 0.5], [0.0, 1.0], True), [1.6518061, 2.2182817])
    for call in (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 5], logits),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([0.0, 1.0], logits),
        lambda: tf.nn.softmax_cross_entropy_with_logits([[1.0, 2.0, 3.0]], logits),
    ):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            call()
    check(losses.softmax_cross_entropy, _normal(3, 4) ** 2, _normal(3, 4), skip=(1,))
    shares = RANDOM.dirichlet(np.ones(4), 3)
    check(losses.softmax_cross_entropy, shares, _normal(3, 4))
    check(losses.sparse_softmax_cross_entropy, np.array([1, 0, 3]), _normal(3, 4))


def test_classes_that_differ_in_number_are_the_error_of_the_mode() -> None:
    def loss() -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 3]), tf.ones([2, 4]))

    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        loss()
    with pytest.raises(ValueError, match="not compatible"):
        tf.function(loss)()


def _normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def test_cross_entropies_of_dynamic_size() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec(None)])
    def sparse(labels: Any, logits: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)

    close(sparse([1, 0], [[1.0, 2.0], [1e4, -1e4]]), [0.31326166, 0.0])
    assert sparse(np.zeros(0, "i"), np.zeros((0, 3), "f")).shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        sparse([7], [[1.0, 2.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="same dimensions"):
        sparse([0, 0], [[1.0, 2.0]])


def test_moments_and_what_they_normalize() -> None:
    x = _normal(3, 4, 2)
    mean, variance = tf.nn.moments(x, [0, 1])
    close(mean, x.mean((0, 1)))
    close(variance, x.var((0, 1)))
    assert tf.nn.moments(x, [0], keepdims=True)[1].shape == (1, 4, 2)
    weights = RANDOM.uniform(1, 2, size=(3, 1, 1))
    mean, variance = tf.nn.weighted_moments(x, [0], weights)
    expected = np.average(x, 0, weights[:, 0, 0])
    close(mean, expected)
    close(variance, np.average((x - expected) ** 2, 0, weights[:, 0, 0]))
    count, total, squares, shift = tf.nn.sufficient_statistics(x, [0, 2], shift=0.5)
    mean, variance = tf.nn.normalize_moments(count, total, squares, shift)
    close(mean, x.mean((0, 2)))
    close(variance, x.var((0, 2)))
    normal = tf.nn.batch_normalization(x, x.mean((0, 1)), x.var((0, 1)), [1.0, 2.0], [3.0, 4.0], 0.0)
    close(tf.nn.moments(normal, [0, 1])[0], [1.0, 2.0])
    close(tf.nn.moments(normal, [0, 1])[1], [9.0, 16.0])
    whole = tf.nn.moments(tf.constant([[1, 2], [3, 5]]), [0])
    assert [part.numpy().tolist() for part in whole] == [[2, 3], [1, 2]]


def test_local_responses() -> None:
    x = np.arange(8, dtype="f").reshape(1, 1, 1, 8)
    expected = [0.0, 0.2102241, 0.25, 0.24321346, 0.22646008, 0.20999163, 0.26516503, 0.34194565]
    close(tf.nn.lrn(x, 2, 1.0, 0.5, 0.75).numpy().ravel(), expected)
    attrs: Any = {"depth_radius": 2, "bias": 1.5, "alpha": 0.5, "beta": 0.75}
    x = _normal(1, 1, 2, 5).astype("f")
    found = lrn.lrn.differentiate(tf.ones_like(x), lrn.lrn(x, **attrs), tf.constant(x), **attrs)
    for place in np.ndindex(x.shape):
        ends = [tf.reduce_sum(lrn.lrn(x + step * _unit(place, x), **attrs)) for step in (0.01, -0.01)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 0.02, found.numpy()[place], atol=2e-3)


def _unit(place: Any, like: Any) -> Any:
    unit = np.zeros_like(like)
    unit[place] = 1
    return unit


def test_the_axis_of_softmax_may_be_none() -> None:
    x = _normal(2, 3)
    close(tf.nn.softmax(x, axis=None), tf.nn.softmax(x, axis=1))
    close(tf.nn.log_softmax(x, None), tf.math.log(tf.nn.softmax(x)))


def test_rectifiers() -> None:
    close(tf.nn.selu([-1.0, 0.0, 2.0]), [-1.1113307, 0.0, 2.101402])
    close(tf.nn.leaky_relu([-1.0, 2.0], 2.0), [-2.0, 2.0])
    assert tf.nn.leaky_relu(tf.constant([-1, 2]), 0.5).numpy().tolist() == [-0.5, 2.0]
    assert tf.nn.crelu([[-1, 0, 2]], axis=0).numpy().tolist() == [[0, 0, 2], [1, 0, 0]]
    for op in (rectifiers.relu6, rectifiers.selu, rectifiers.softsign):
        check(op, [-3.5, -0.5, 0.5, 5.5, 7.0])
    check(rectifiers.leaky, [-3.5, 0.5], alpha=0.3)


def test_space_to_depth_round_trips() -> None:
    x = _normal(2, 4, 6, 3)
    deep = tf.nn.space_to_depth(x, 2)
    assert deep.shape == (2, 2, 3, 12)
    close(tf.nn.depth_to_space(deep, 2), x)
    first = tf.nn.space_to_depth(np.moveaxis(x, -1, 1), 2, "NCHW")
    close(np.moveaxis(first, 1, -1), deep)
    parts = tf.nn.space_to_batch(x, [2, 3], [[0, 0], [1, 2]])
    assert parts.shape == (12, 2, 3, 3)
    close(space_to_depth.batch_to_space(parts, [2, 3], [[0, 0], [1, 2]]), x)
    assert tf.nn.space_to_batch([[[1], [2]], [[3], [4]]], [2], [[0, 0]]).numpy().ravel().tolist() == [
        1,
        3,
        2,
        4,
    ]
    check(space_to_depth.space_to_batch_nd, _normal(1, 3, 2), np.array([2]), np.array([[1, 0]]))
    check(space_to_depth.batch_to_space_nd, _normal(4, 3, 2), np.array([2]), np.array([[1, 0]]))
    check(space_to_depth.space_to_depth, _normal(1, 2, 4, 1), block_size=2, data_format="NHWC")
    with pytest.raises(tf.errors.InvalidArgumentError, match="divisible"):
        tf.nn.space_to_depth(x, 5)


def test_dropout_has_tensorflows_numbers() -> None:
    tf.random.set_seed(3)
    ones = tf.ones([6])
    assert tf.nn.dropout(ones, 0.5, seed=4).numpy().tolist() == [2, 0, 2, 2, 2, 2]
    assert tf.nn.dropout(ones, 0.5, seed=4).numpy().tolist() == [0, 2, 2, 2, 2, 2]
    assert tf.nn.dropout(ones, 0.5).numpy().tolist() == [0, 2, 0, 0, 2, 2]
    assert tf.nn.dropout(ones, 0.0).numpy().tolist() == [1] * 6
    assert tf.nn.dropout(ones, 0.5).numpy().tolist() == [0, 2, 0, 0, 0, 0]
    rows = tf.nn.dropout(tf.ones([3, 4]), 0.5, noise_shape=[None, 1]).numpy()
    assert rows[:, 0].tolist() == [2, 0, 0] and (rows == rows[:, :1]).all()
    kept = tf.nn.experimental.stateless_dropout(ones, 0.3, [1, 2]).numpy()
    close(kept, [1.4285715, 0, 1.4285715, 0, 0, 1.4285715])
    for rate in (1.0, 1.5, -0.1, "a"):
        with pytest.raises(ValueError, match="rate"):
            tf.nn.dropout(ones, rate)
    with pytest.raises(ValueError, match="floating"):
        tf.nn.dropout(tf.constant([1]), 0.5)


def test_rows_of_tables() -> None:
    table = tf.constant([[1.0, 2], [3, 4], [5, 6]])
    assert tf.nn.embedding_lookup(table, [[2], [0]]).numpy().tolist() == [[[5, 6]], [[1, 2]]]
    close(
        tf.nn.embedding_lookup(table, [2, 0], max_norm=1.0), [[0.6401844, 0.76822126], [0.4472136, 0.8944272]]
    )
    assert tf.nn.embedding_lookup([table, table[:2]], [4, 2]).numpy().tolist() == [[3, 4], [5, 6]]
    with pytest.raises(ValueError, match="rows evenly"):
        tf.nn.embedding_lookup([table, table[:1]], [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        tf.nn.embedding_lookup(table, [3])


def test_numbers_about_predictions() -> None:
    inf, nan = float("inf"), float("nan")
    found = tf.nn.in_top_k([1, 0, 3, -1], [[1.0, 2, 2], [1, 1, 1], [1, 2, 3], [1, 2, 3]], 1)
    assert found.numpy().tolist() == [True, True, False, False]
    assert tf.nn.in_top_k([1, 0, 0], [[1.0, inf], [nan, 1], [1, 2]], 2).numpy().tolist() == [
        False,
        False,
        True,
    ]
    close(tf.nn.zero_fraction([0.0, 1, 0]), 2 / 3)
    close(tf.nn.compute_average_loss([[1.0, 2, 3], [1, 2, 4]], sample_weight=[1.0, 2]), 10.0)
    close(tf.nn.compute_average_loss([1.0, 2, 3], [1.0, 0, 2], 2), 3.5)
    close(tf.nn.scale_regularization_loss([1.0, 3.0]), 4.0)


def test_in_top_k_takes_arrays_of_any_numbers() -> None:
    for scores in (np.array([[1.0, 2.0]]), np.array([[1, 2]]), [[1, 2]]):
        assert tf.math.in_top_k([0], scores, 1).numpy().tolist() == [False]
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64"):
        tf.math.in_top_k([0], tf.constant([[1.0, 2.0]], tf.float64), 1)


def test_dilation_and_erosion() -> None:
    from agc.runtime.ops.nn import morphology

    x, one = np.arange(9.0).reshape(1, 3, 3, 1), [1, 1, 1, 1]
    found = tf.nn.dilation2d(x, np.ones((2, 2, 1)), one, "SAME", "NHWC", one)
    assert found.numpy().ravel().tolist() == [5, 6, 6, 8, 9, 9, 8, 9, 9]
    found = tf.nn.erosion2d(x, np.arange(4.0).reshape(2, 2, 1), one, "VALID", "NHWC", one)
    assert found.numpy().ravel().tolist() == [-3, -2, 0, 1]
    found = tf.nn.dilation2d(
        x.astype("i"), np.ones((2, 2, 1), "i"), [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]
    )
    assert found.numpy().ravel().tolist() == [5, 6, 5, 8, 9, 8]
    setting: Any = {"strides": (2, 1), "rates": (1, 2), "padding": "SAME"}
    check(morphology.dilated, _normal(2, 4, 5, 2), _normal(2, 3, 2), **setting)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="depth of input"):
        tf.nn.dilation2d(x, np.ones((2, 2, 2)), one, "SAME", "NHWC", one)


def test_rows_of_tables_for_lists() -> None:
    table = tf.constant([[1.0, 2], [3, 4], [5, 6]])
    ids = tf.sparse.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1]], [1, 2, 0, 1], [3, 2])
    weights = tf.sparse.SparseTensor(ids.indices, [1.0, 2, 3, 0.5], [3, 2])
    for combiner, plain, weighed in (
        ("sum", [[8, 10], [0, 0], [4, 6]], [[13, 16], [0, 0], [4.5, 8]]),
        ("mean", [[4, 5], [0, 0], [2, 3]], [[4.3333335, 5.3333335], [0, 0], [1.2857143, 2.2857144]]),
        ("sqrtn", [[5.656854, 7.071068], [0, 0], [2.828427, 4.2426405]],
         [[5.8137765, 7.1554174], [0, 0], [1.4795909, 2.6303837]]),
    ):  # fmt: skip
        close(tf.nn.embedding_lookup_sparse(table, ids, None, combiner), plain)
        close(tf.nn.embedding_lookup_sparse(table, ids, weights, combiner), weighed)
        close(tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner), weighed)
        plain[1] = [3, 4]
        close(tf.nn.safe_embedding_lookup_sparse(table, ids, None, combiner, default_id=1), plain)
    with pytest.raises(ValueError, match="combiner"):
        tf.nn.embedding_lookup_sparse(table, ids, None, "max")
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.embedding_lookup_sparse(table, [1], None)


def test_monotonous_sequences() -> None:
    from agc.runtime.ops.reduce import isotonic

    found, pools = tf.nn.isotonic_regression([[3.0, 1, 2, 5, 4], [1, 2, 3, 4, 5]])
    assert found.numpy().tolist() == [[3.0] * 5] * 2
    assert pools.numpy().tolist() == [[0, 1, 1, 1, 1], [0] * 5]
    found, pools = tf.nn.isotonic_regression([[3, 1], [2, 5]], axis=0)
    assert found.dtype is tf.float64 and found.numpy().tolist() == [[3, 3], [2, 3]]
    x = _normal(3, 6)
    y, pools = isotonic.pooled_violators(x)
    weights = _normal(3, 6)
    gradient = isotonic.pooled_violators.differentiate(
        [tf.constant(weights), None], [y, pools], tf.constant(x)
    )
    for place in np.ndindex(x.shape):
        ends = [
            np.sum(weights * isotonic.pooled_violators(x + s * _unit(place, x))[0].numpy())
            for s in (1e-5, -1e-5)
        ]
        np.testing.assert_allclose(gradient.numpy()[place], (ends[0] - ends[1]) / 2e-5, atol=1e-6)


def test_the_best_along_an_axis() -> None:
    x = [[1.0, 4, 3, 2], [3.0, 9, 8, 7]]
    values, places = tf.nn.approx_max_k(x, 2)
    assert values.numpy().tolist() == [[4, 3], [9, 8]] and places.numpy().tolist() == [[1, 2], [1, 2]]
    values, places = tf.nn.approx_min_k(x, 1, reduction_dimension=0)
    assert values.numpy().tolist() == [[1, 4, 3, 2]] and places.numpy().tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_slope_of_the_cross_entropy_of_sigmoids_at_zero_is_that_on_both_sides(dtype):
    logits = tf.constant([0.0, -0.0, 1e-9, -1e-9], dtype)
    losses = {
        tf.nn.sigmoid_cross_entropy_with_logits: 0.5 - 0.25,
        lambda z, x: tf.nn.weighted_cross_entropy_with_logits(z, x, 3.0): 0.75 * 0.5 - 0.25 * 3.0 * 0.5,
    }
    for loss, slope in losses.items():
        with tf.GradientTape() as tape:
            tape.watch(logits)
            y = loss(tf.fill([4], tf.cast(0.25, dtype)), logits)
        close(tape.gradient(y, logits), [slope] * 4)
