"""Products of ragged matrices are those of each pair of matrices."""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

TALL = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], []], ragged_rank=1, inner_shape=(2,))
OWN_SIZES = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0, 7.0]]])
FITTING = tf.ragged.constant([[[1.0, 2.0], [1.0, 1.0]], [[5.0], [6.0], [7.0]]])
NESTED = tf.ragged.constant([[[[1.0, 2.0]], [[3.0, 4.0]]], [[[5.0, 6.0]]]], ragged_rank=2, inner_shape=(2,))

# name: factors, flags, the static shape of the product
PRODUCTS = {
    "rows differ": (TALL, tf.ones([3, 2, 4]), {}, [3, None, 4]),
    "columns differ": (tf.ones([3, 4, 2]), TALL, {"transpose_b": True}, [3, None, None]),
    "both differ": (TALL, TALL, {"transpose_b": True}, [3, None, None]),
    "an inner axis differs": (TALL, TALL, {"adjoint_a": True}, [3, 2, 2]),
    "all sizes differ": (OWN_SIZES, FITTING, {}, [2, None, None]),
    "two batch axes": (NESTED, NESTED, {"transpose_b": True}, [2, None, None, None]),
}


def matrices(x):
    """Return the matrices of a batch as NumPy arrays."""
    x = tf.RaggedTensor.from_tensor(x) if isinstance(x, tf.Tensor) else x
    rows = x.values if x.shape.rank > 3 else x
    return [
        tf.convert_to_tensor(one.to_tensor() if hasattr(one, "to_tensor") else one).numpy() for one in rows
    ]


@each_case("name", PRODUCTS)
@each_case("graph", [False, True])
def test_products_are_those_of_each_pair(name, graph):
    a, b, flags, shape = PRODUCTS[name]

    def product(a, b):
        return tf.matmul(a, b, **flags)

    found = (tf.function(product) if graph else product)(a, b)
    assert found.shape.as_list() == shape
    pairs = zip(matrices(a), matrices(b), strict=True)
    expected = [
        (x.T if "adjoint_a" in flags else x) @ (y.T if "transpose_b" in flags else y) for x, y in pairs
    ]
    for one, wanted in zip(matrices(found), expected, strict=True):
        np.testing.assert_allclose(one.reshape(wanted.shape), wanted)


def test_a_ragged_matrix_with_equal_rows_gives_a_tensor():
    rows = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0, 4.0], [2, 2])
    assert tf.matmul(rows, tf.ones([2, 1])).numpy().tolist() == [[3.0], [7.0]]


def test_padding_has_no_gradient():
    values, weights = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.Variable(tf.ones([2, 2, 1]))
    with tf.GradientTape() as tape:
        batches = tf.RaggedTensor.from_row_lengths(values, [1, 2])
        loss = tf.reduce_sum(tf.matmul(batches, weights).flat_values ** 2)
    by_value, by_weight = tape.gradient(loss, [values, weights])
    assert by_value.numpy().tolist() == [[6.0, 6.0], [14.0, 14.0], [22.0, 22.0]]
    assert by_weight.numpy().tolist() == [[[6.0], [12.0]], [[152.0], [188.0]]]


WRONG = {
    "the dtypes differ": (TALL, tf.ones([3, 2, 1], tf.float64), ValueError, "the same dtype"),
    "the ranks differ": (TALL, tf.ones([2, 1]), ValueError, "the same rank"),
    "the inner sizes differ": (OWN_SIZES, OWN_SIZES, tf.errors.InvalidArgumentError, "as many columns"),
    "a matrix is ragged": (
        tf.ragged.constant([[1.0, 2.0], [3.0]]),
        tf.ones([2, 1]),
        tf.errors.InvalidArgumentError,
        "the rows of `a` must have one length",
    ),
    "a matrix of a batch is ragged": (
        tf.ragged.constant([[[1.0, 2.0], [3.0]]]),
        tf.ones([1, 2, 1]),
        tf.errors.InvalidArgumentError,
        "the rows of a matrix of `a` must have one length",
    ),
    "the batches differ": (
        NESTED,
        tf.ones([2, 1, 2, 1]),
        tf.errors.InvalidArgumentError,
        "identical ragged splits",
    ),
}


@each_case("name", WRONG)
def test_factors_that_do_not_fit_are_refused(name):
    a, b, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        tf.matmul(a, b)
