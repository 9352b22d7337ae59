"""Tensors of a given ragged shape: `tf.zeros`, `reshape`, `broadcast_to` and others. Answers are TensorFlow 2.21's."""

import agc.runtime as tf
import pytest

Shape = tf.experimental.DynamicRaggedShape
ROWS = tf.ragged.constant([[1, 2], [3]])
RAGGED = Shape.from_lengths([2, (2, 1)])
PAIRS = Shape.from_lengths([2, (2, 1), 2])
UNIFORM = Shape.from_lengths([2, 3])


def test_zeros_ones_and_fill():
    assert tf.zeros(RAGGED).to_list() == [[0.0, 0.0], [0.0]]
    assert tf.ones(PAIRS, tf.int32).to_list() == [[[1, 1], [1, 1]], [[1, 1]]]
    assert tf.fill(RAGGED, "a").to_list() == [[b"a", b"a"], [b"a"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.fill(RAGGED, [1, 2])


def test_reshape_changes_the_rows():
    assert tf.reshape([1, 2, 3], RAGGED).to_list() == [[1, 2], [3]]
    assert tf.reshape(ROWS, Shape.from_lengths([2, (1, 2)])).to_list() == [[1], [2, 3]]
    assert tf.reshape(ROWS, Shape.from_lengths([3])).numpy().tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="4 values, but the requested shape has 3"):
        tf.reshape([1, 2, 3, 4], RAGGED)


@pytest.mark.parametrize(
    ("value", "shape", "expected"),
    [
        (5, RAGGED, [[5, 5], [5]]),
        ([[7], [8]], RAGGED, [[7, 7], [8]]),
        (ROWS, RAGGED, [[1, 2], [3]]),
        ([1, 2], PAIRS, [[[1, 2], [1, 2]], [[1, 2]]]),
        (ROWS, Shape.from_lengths([2, 2, (2, 1, 2, 1)]), [[[1, 2], [3]], [[1, 2], [3]]]),
        (ROWS, tf.shape(ROWS), [[1, 2], [3]]),
    ],
)
def test_broadcasting_repeats_axes_of_size_1(value, shape, expected):
    assert tf.broadcast_to(value, shape).to_list() == expected


@pytest.mark.parametrize(
    ("value", "shape", "reason"),
    [
        ([1, 2, 3], RAGGED, "Unable to broadcast"),
        (ROWS, Shape.from_lengths([2, (1, 2)]), "Unable to broadcast"),
        (ROWS, Shape.from_lengths([2, 1], num_row_partitions=1), "Incompatible shapes"),
        ([[1, 2], [3, 4]], Shape.from_lengths([2, 1], num_row_partitions=1), "Incompatible shapes"),
        ([[[1]]], RAGGED, "rank 3 cannot be broadcast to rank 2"),
        (ROWS, UNIFORM, "cannot be broadcast to the uniform shape"),
        (ROWS, [2, 2], "cannot be broadcast to the uniform shape"),
    ],
)
def test_values_that_do_not_fit_are_refused(value, shape, reason):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=reason):
        tf.broadcast_to(value, shape)


def test_a_uniform_shape_gives_a_dense_tensor():
    for made in (
        tf.ones(UNIFORM, tf.int32),
        tf.fill(UNIFORM, 1),
        tf.broadcast_to(1, UNIFORM),
        tf.reshape([1] * 6, UNIFORM),
    ):
        assert made.numpy().tolist() == [[1, 1, 1], [1, 1, 1]]


def test_other_operations_refuse_a_ragged_shape():
    assert not tf.is_tensor(RAGGED)
    with pytest.raises(ValueError, match=r"size: Attempt to convert a value .*DynamicRaggedShape"):
        tf.size(RAGGED)


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_graphs_have_the_shapes_of_their_arguments(executor):
    @tf.function(experimental_executor=executor)
    def line(x):
        shape = tf.shape(x)
        return tf.reshape(x, shape) * tf.broadcast_to(2, shape) + tf.fill(shape, 3) + tf.ones(shape, tf.int32)

    assert line(ROWS).to_list() == [[6, 8], [10]]


def test_the_gradient_of_broadcasting_is_a_sum():
    column = tf.constant([[7.0], [8.0]])
    with tf.GradientTape() as tape:
        tape.watch(column)
        total = tf.reduce_sum(tf.broadcast_to(column, RAGGED).flat_values * tf.constant([1.0, 10.0, 100.0]))
    assert tape.gradient(total, column).numpy().tolist() == [[11.0], [100.0]]
