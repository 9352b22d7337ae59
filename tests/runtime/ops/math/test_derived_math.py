"""Functions of numbers that are made of others: values of TensorFlow 2.21; gradients by differences."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.op import find
from support.everywhere import everywhere

inf, nan = np.inf, np.nan


def test_sums_and_fractions() -> None:
    assert everywhere(lambda x, y: tf.math.accumulate_n([x, y]), [1, 2], [3, 4]).tolist() == [4, 6]
    assert everywhere(lambda x: tf.math.scalar_mul(2, x), [1.0, 2.0]).tolist() == [2, 4]
    assert everywhere(tf.math.zero_fraction, [0.0, -0.0, 2.0]) == np.float32(2 / 3)
    assert np.isnan(tf.math.zero_fraction(tf.zeros([0])).numpy())
    assert tf.math.reciprocal_no_nan([2 + 0j, 0]).numpy().tolist() == [0.5, 0]
    assert everywhere(tf.math.softsign, [1.0, -3.0]).tolist() == [0.5, -0.75]
    for refused in ([], [[1, 2], [3]], [[1], [1.5]]):
        with pytest.raises(ValueError, match=r"same dtype and shape|not compatible"):
            tf.math.accumulate_n(refused)
    with pytest.raises(ValueError, match="Only scalar multiply works"):
        tf.scalar_mul([2.0], [1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="softsign does not take int32"):
        tf.math.softsign([1])


def test_a_sigmoid_of_float16_is_as_small_as_a_float16_can_be() -> None:
    x = np.arange(-20, 12, 1 / 8, dtype=np.float16)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_array_max_ulp(everywhere(tf.sigmoid, x), exact.astype(np.float16), 1)


def test_polynomials_and_lbeta() -> None:
    assert tf.math.polyval([2, 3], 2).numpy() == 7
    assert tf.math.polyval([], 2.0).numpy() == 0.0
    assert everywhere(lambda x: tf.math.polyval([x, 1.0, x], 2.0), 3.0) == 17.0
    with pytest.raises(ValueError, match="must be list type"):
        tf.math.polyval(tf.constant([2, 3]), 2)  # type: ignore[arg-type]
    np.testing.assert_allclose(
        everywhere(tf.math.lbeta, [[1.0, 2.0], [3.0, 4.0]]), [-0.6931472, -4.0943446], 1e-6
    )
    assert tf.math.lbeta([[]]).numpy().tolist() == [-inf]


def test_monotony() -> None:
    assert [bool(tf.math.is_non_decreasing(x)) for x in ([1, 1, 2], [], [[1, 2], [3, 0]])] == [
        True,
        True,
        False,
    ]
    assert [bool(tf.math.is_strictly_increasing(x)) for x in ([1, 1, 2], 3)] == [False, True]
    assert bool(tf.math.is_strictly_increasing(tf.constant([1, 0], tf.uint8))) is False
    with pytest.raises(TypeError, match="numeric"):
        tf.math.is_non_decreasing(["a", "b"])


def test_xlog1py_and_nextafter() -> None:
    assert tf.math.xlog1py([0.0, 0.0, 2.0], [-1.0, nan, 0.0]).numpy().tolist() == [0, 0, 0]
    assert tf.math.nextafter(1.0, 2.0).numpy() == np.float32(1.0000001)
    with pytest.raises(tf.errors.InvalidArgumentError, match="nextafter does not take float16"):
        tf.math.nextafter(tf.constant(1.0, tf.float16), tf.constant(2.0, tf.float16))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1.0, 2.3132617, 3.4076061]),
        ({"exclusive": True}, [-inf, 1.0, 2.3132617]),
        ({"exclusive": True, "reverse": True}, [3.3132617, 3.0, -inf]),
    ],
)
def test_cumulative_logsumexp(options: Any, expected: Any) -> None:
    given = everywhere(lambda x: tf.math.cumulative_logsumexp(x, **options), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(given, expected, 1e-6)
    assert tf.math.cumulative_logsumexp([[-inf, -inf, 3.0]], axis=1).numpy().tolist() == [[-inf, -inf, 3.0]]
    x, weights, step = np.array([0.3, -1.0, 2.0, 0.5]), np.array([0.5, -2.0, 1.0, 3.0]), 1e-6
    inner = slice(0, -1) if options.get("reverse") else slice(1 if options else 0, None)

    def total(values: Any) -> Any:
        return (tf.math.cumulative_logsumexp(values, **options).numpy() * weights)[inner].sum()

    op: Any = find("cumulative_logsumexp")
    dy = np.zeros(4)
    dy[inner] = weights[inner]
    attrs = {"axis": 0, "exclusive": False, "reverse": False} | options
    slope = [(total(x + step * unit) - total(x - step * unit)) / (2 * step) for unit in np.eye(4)]
    given = op.differentiate(tf.constant(dy), op(tf.constant(x), **attrs), tf.constant(x), **attrs)
    np.testing.assert_allclose(given.numpy(), slope, rtol=1e-6, atol=1e-8)


def test_clipping() -> None:
    assert (
        everywhere(lambda x: tf.clip_by_norm(x, 1.0), [3.0, 4.0]).tolist() == np.float32([0.6, 0.8]).tolist()
    )
    assert tf.clip_by_norm([3.0, 4.0], 10.0).numpy().tolist() == [3.0, 4.0]
    assert tf.clip_by_norm([0.0, 0.0], 1.0).numpy().tolist() == [0.0, 0.0]
    clipped, norm = tf.clip_by_global_norm([[3.0, 4.0], None, [12.0]], 1.0)
    assert (norm.numpy(), clipped[1]) == (13.0, None)
    np.testing.assert_allclose(clipped[0].numpy(), [0.23076925, 0.30769232], 1e-6)
    assert np.isnan(tf.clip_by_global_norm([[3.0, inf]], 1.0)[0][0].numpy()).all()
    assert tf.clip_by_global_norm([], 1.0)[1].numpy() == 0.0
    assert tf.linalg.global_norm([[3.0, 4.0], None]).numpy() == 5.0
    with pytest.raises(TypeError, match="sequence of tensors"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
