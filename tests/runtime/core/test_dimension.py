"""`tf.compat.v1.Dimension`: sizes that may be unknown, as in TensorFlow 2.21."""

import agc.runtime as tf
import pytest

Dimension = tf.compat.v1.Dimension
KNOWN, UNKNOWN = Dimension(3), Dimension(None)


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (KNOWN + 1, 4), (1 + KNOWN, 4), (KNOWN - 1, 2), (10 - KNOWN, 7), (KNOWN * 2, 6), (KNOWN // 2, 1),
        (KNOWN % 2, 1), (UNKNOWN + 1, None), (1 * UNKNOWN, None), (Dimension(KNOWN), 3),
        (KNOWN.merge_with(UNKNOWN), 3), (UNKNOWN.merge_with(5), 5),
    ],
)  # fmt: skip
def test_arithmetic(found, value):
    assert isinstance(found, Dimension) and found.value == value


def test_comparisons_with_an_unknown_size_are_none():
    assert [KNOWN == 3, KNOWN != 4, KNOWN < 4, KNOWN >= UNKNOWN] == [True, True, True, None]
    assert [UNKNOWN == 3, UNKNOWN < 4, KNOWN == UNKNOWN] == [None] * 3


def test_a_known_size_is_an_index():
    assert (int(KNOWN), "abcd"[KNOWN], str(KNOWN), str(UNKNOWN)) == (3, "d", "3", "?")
    with pytest.raises(TypeError):
        int(UNKNOWN)


def test_shapes_list_their_sizes():
    shape = tf.TensorShape([2, None])
    assert [size.value for size in shape.dims] == [2, None]
    assert tf.TensorShape(None).dims is None
    assert tf.TensorShape(shape.dims) == shape and shape == shape.dims
    assert shape.concatenate(shape.dims) == [2, None, 2, None]


@pytest.mark.parametrize("staged", [False, True])
def test_sizes_are_integers_for_operations(staged):
    def f(x):
        rows, columns = x.shape.dims
        return (
            tf.ones([rows, columns * 2]),
            tf.reshape(x, [columns, rows]),
            x[: rows - 1],
            tf.fill(x.shape.dims, 1),
        )

    results = (tf.function(f) if staged else f)(tf.zeros([3, 2]))
    assert [result.shape.as_list() for result in results] == [[3, 4], [2, 3], [2, 2], [3, 2]]
    assert tf.constant(tf.zeros([3, 2]).shape.dims).dtype == tf.int32


def test_invalid_sizes():
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        Dimension(-1)
    with pytest.raises(TypeError):
        Dimension("4")
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        KNOWN.merge_with(4)
