"""`RowPartition` and `DynamicRaggedShape`: the factories agree with each other, and with what TensorFlow 2.21 gives."""

import agc.runtime as tf
import pytest

Rows, Shape = tf.experimental.RowPartition, tf.experimental.DynamicRaggedShape


@pytest.mark.parametrize(
    "rows",
    [
        Rows.from_row_splits([0, 2, 2, 5]),
        Rows.from_row_lengths([2, 0, 3]),
        Rows.from_row_starts([0, 2, 2], 5),
        Rows.from_row_limits([2, 2, 5]),
        Rows.from_value_rowids([0, 0, 2, 2, 2]),
    ],
    ids=["splits", "lengths", "starts", "limits", "rowids"],
)
def test_every_factory_makes_the_same_rows(rows):
    assert rows.dtype is tf.int64
    assert rows.row_splits().numpy().tolist() == [0, 2, 2, 5]
    assert rows.row_starts().numpy().tolist() == [0, 2, 2]
    assert rows.row_limits().numpy().tolist() == [2, 2, 5]
    assert rows.offsets_in_rows().numpy().tolist() == [0, 1, 0, 1, 2]


def test_a_hint_is_the_dtype_of_python_numbers_only():
    assert Rows.from_row_lengths([1], dtype_hint=tf.int32).dtype is tf.int32
    assert Rows.from_row_starts([0], 2, dtype_hint=tf.int32).dtype is tf.int32
    assert Rows.from_uniform_row_length(2, nrows=3, dtype_hint=tf.int32).dtype is tf.int32
    assert Rows.from_row_limits(tf.constant([1], tf.int64), dtype_hint=tf.int32).dtype is tf.int64


@pytest.mark.parametrize(
    "wrong", [lambda: Rows.from_row_starts([1, 2], 5), lambda: Rows.from_row_limits([3, 2])]
)
def test_rows_that_overlap_or_leave_values_are_refused(wrong):
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong()


@pytest.mark.parametrize(
    ("arguments", "splits", "inner"),
    [
        (([2, (2, 1), 3],), [[0, 2, 3]], [3, 3]),
        (([2, 3],), [], [2, 3]),
        (([2, 3], 1), [[0, 3, 6]], [6]),
        (([2, (1, 2), 2, (1, 2, 1, 2, 1, 1)],), [[0, 1, 3], [0, 2, 4, 6], [0, 1, 3, 4, 6, 7, 8]], [8]),
        (([0, ()],), [[0]], [0]),
        (([],), [], []),
    ],
)
def test_a_shape_from_the_lengths_of_axes(arguments, splits, inner):
    shape = Shape.from_lengths(*arguments)
    assert [rows.row_splits().numpy().tolist() for rows in shape.row_partitions] == splits
    assert shape.inner_shape.numpy().tolist() == inner
    assert shape.rank == len(arguments[0])


@pytest.mark.parametrize("arguments", [([(1, 2), 3],), ([2, (1, 2, 3)],), ([2, (3, 2)], 0), ([4], 1)])
def test_lengths_that_do_not_fit_are_refused(arguments):
    with pytest.raises(ValueError, match=r"axis|rows|num_row_partitions"):
        Shape.from_lengths(*arguments)


def test_a_shape_from_row_partitions_alone():
    shape = Shape.from_row_partitions([Rows.from_row_lengths([2, 1])])
    assert shape.static_lengths() == [2, (2, 1)]
    with pytest.raises(ValueError, match="cannot be empty"):
        Shape.from_row_partitions([])
