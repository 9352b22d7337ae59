"""Sparse tensors as strings. Messages, shapes and refusals are those of TensorFlow 2.21."""

import agc.runtime as tf
import pytest

MATRIX = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [4, 3])


def parts(sparse):
    """Return the indices, values and dense shape as lists."""
    return [part.numpy().tolist() for part in (sparse.indices, sparse.values, sparse.dense_shape)]


def test_a_tensor_is_three_messages():
    indices, values, dense_shape = tf.io.serialize_sparse(MATRIX)
    assert tf.io.parse_tensor(indices, tf.int64).numpy().tolist() == [[0, 0], [0, 2], [2, 1]]
    assert tf.io.parse_tensor(values, tf.float32).numpy().tolist() == [1.0, 2.0, 3.0]
    assert tf.io.parse_tensor(dense_shape, tf.int64).numpy().tolist() == [4, 3]


def test_a_minibatch_has_a_row_for_each_item_also_without_values():
    rows = tf.io.serialize_many_sparse(MATRIX)
    assert rows.shape == [4, 3]
    values = [tf.io.parse_tensor(row[1], tf.float32).numpy().tolist() for row in rows]
    assert values == [[1.0, 2.0], [], [3.0], []]
    assert parts(tf.io.deserialize_many_sparse(rows, tf.float32)) == parts(MATRIX)


def test_items_of_other_sizes_get_the_largest():
    other = tf.SparseTensor([[1, 4]], [7.0], [2, 9])
    rows = tf.stack([tf.io.serialize_sparse(MATRIX), tf.io.serialize_sparse(other)])
    assert parts(tf.io.deserialize_many_sparse(rows, tf.float32)) == [
        [[0, 0, 0], [0, 0, 2], [0, 2, 1], [1, 1, 4]],
        [1.0, 2.0, 3.0, 7.0],
        [2, 4, 9],
    ]


@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_graphs_serialize_and_parse(executor):
    @tf.function(experimental_executor=executor)
    def copy(sparse):
        return tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(sparse), tf.string, rank=2)

    words = tf.SparseTensor([[0, 1], [1, 0]], ["a", "b"], [2, 2])
    assert parts(copy(words)) == [[[0, 1], [1, 0]], [b"a", b"b"], [2, 2]]
    assert copy.get_concrete_function(words).structured_outputs.shape.rank == 2


@pytest.mark.parametrize(
    ("indices", "shape", "reason"),
    [
        ([[2]], [4], "should be > 1, but saw rank: 1"),
        ([[2, 0]], [1, 3], "out of bounds"),
    ],
)
def test_a_minibatch_that_cannot_be_serialized(indices, shape, reason):
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        tf.io.serialize_many_sparse(tf.SparseTensor(indices, [1.0], shape))


def test_indices_must_be_in_order():
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.io.serialize_many_sparse(tf.SparseTensor([[2, 0], [0, 0]], [1.0, 2.0], [4, 3]))


def row(indices, values, dense_shape):
    """Return a serialized tensor, whose parts need not fit each other."""
    return tf.stack([tf.io.serialize_tensor(tf.constant(part)) for part in (indices, values, dense_shape)])


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        ([["a", "b", "c"]], {}, "Could not parse"),
        (tf.zeros([0, 3], tf.string), {}, "at least 1"),
        (tf.zeros([2, 2], tf.string), {}, "row of 3 strings"),
        (tf.io.serialize_many_sparse(MATRIX), {"dtype": tf.int32}, "Type mismatch"),
        (tf.io.serialize_many_sparse(MATRIX), {"rank": 3}, r"Inconsistent ranks.*\[1\], rank=3"),
        ([row(tf.zeros([1, 2], tf.int64), [1.0], tf.constant([4], tf.int64))], {}, r"SparseTensor\[0\] is invalid"),
        ([row(tf.constant([[4]], tf.int64), [1.0], tf.constant([4], tf.int64))], {}, "outside of its dense shape"),
        (
            [
                tf.io.serialize_sparse(MATRIX),
                tf.io.serialize_sparse(tf.SparseTensor([[1]], [7.0], [2])),
            ],
            {},
            r"Inconsistent ranks.*\[1, 2\]",
        ),
    ],
)  # fmt: skip
def test_strings_that_are_no_sparse_tensors_are_refused(rows, options, reason):
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        tf.io.deserialize_many_sparse(rows, **{"dtype": tf.float32, **options})


def test_other_arguments_are_refused():
    with pytest.raises(TypeError, match="Input must be a SparseTensor"):
        tf.io.serialize_sparse(1.0)
    with pytest.raises(tf.errors.UnimplementedError, match=r"as tf\.string only"):
        tf.io.serialize_many_sparse(MATRIX, tf.variant)
