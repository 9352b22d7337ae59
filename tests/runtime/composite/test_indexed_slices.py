"""Rows of a tensor that is zero elsewhere. Values and error classes are TensorFlow's."""

import agc.runtime as tf
import pytest


def rows(dense_shape=(3, 2)):
    shape = None if dense_shape is None else tf.constant(dense_shape)
    return tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), shape)


def test_operations_take_the_dense_tensor():
    assert tf.add(rows(), 1.0).numpy().tolist() == [[1, 1], [2, 3], [1, 1]]
    assert tf.add_n([rows(), rows()]).numpy().tolist() == [[0, 0], [2, 4], [0, 0]]
    assert tf.gather(rows(), 1).numpy().tolist() == [1, 2]


def test_equal_indices_add_up():
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 0]), tf.constant([2]))
    assert tf.convert_to_tensor(slices).numpy().tolist() == [3, 0]


def test_python_operators_are_refused_but_minus():
    assert (-rows()).values.numpy().tolist() == [[-1, -2]]
    with pytest.raises(TypeError, match="unsupported operand"):
        rows() + 1


def test_no_tensor_without_a_dense_shape_or_of_another_dtype():
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(rows(None))
    with pytest.raises(ValueError, match="Incompatible tensor conversion"):
        tf.convert_to_tensor(rows(), tf.int32)


def test_indexed_slices_have_a_spec():
    text = "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int32, tf.int32, TensorShape([1]))"
    assert repr(tf.type_spec_from_value(rows())) == text
    text = "IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int32, None, TensorShape([1]))"
    assert repr(tf.type_spec_from_value(rows(None))) == text
    assert repr(tf.IndexedSlicesSpec()) == (
        "IndexedSlicesSpec(TensorShape(None), tf.float32, tf.int64, None, TensorShape([None]))"
    )


def test_indexed_slices_are_loop_state():
    @tf.function
    def doubled(slices, n):
        while n > 0:
            values, indices = slices.values, slices.indices
            slices = tf.IndexedSlices(
                tf.concat([values, values], 0), tf.concat([indices, indices], 0), slices.dense_shape
            )
            n -= 1
        return slices

    result = doubled(rows(), tf.constant(3))
    assert tf.convert_to_tensor(result).numpy().tolist() == [[0, 0], [8, 16], [0, 0]]


def test_branches_return_indexed_slices():
    @tf.function
    def signed(slices, positive):
        return slices if positive else -slices

    assert signed(rows(), tf.constant(False)).values.numpy().tolist() == [[-1, -2]]
    concrete = signed.get_concrete_function(rows(), tf.constant(True))
    assert isinstance(concrete.structured_outputs, tf.IndexedSlices)


def test_functions_are_traced_once_for_a_spec():
    @tf.function(reduce_retracing=True)
    def total(slices):
        return tf.reduce_sum(slices.values)

    for count in (1, 2, 3, 4):
        slices = tf.IndexedSlices(tf.ones([count]), tf.range(count), tf.constant([9]))
        assert total(slices).numpy() == count
    assert total.experimental_get_tracing_count() == 2


def test_input_signature():
    @tf.function(input_signature=[tf.IndexedSlicesSpec([3, 2], tf.float32, tf.int32, tf.int32)])
    def values(slices):
        return slices.values

    assert values(rows()).numpy().tolist() == [[1, 2]]
    with pytest.raises(TypeError, match="does not fit"):
        values(tf.constant(1.0))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("shape", [(4, 1), None])
def test_operations_that_keep_the_rows(traced, shape):
    def repeated():
        dense = None if shape is None else tf.constant(shape)
        return tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([1, 1, 2]), dense)

    for call, expected in (
        (lambda rows: tf.cast(rows, tf.float64), [1, 2, 3]),
        (lambda rows: tf.cast(rows, tf.float32), [1, 2, 3]),
        (lambda rows: tf.math.scalar_mul(2.0, rows), [2, 4, 6]),
        (lambda rows: tf.clip_by_value(rows, 0.0, 2.0), [1, 2, 2]),
    ):
        result = tf.function(lambda call=call: call(repeated()))() if traced else call(repeated())
        assert isinstance(result, tf.IndexedSlices)
        assert result.values.numpy().ravel().tolist() == expected
        assert result.indices.numpy().tolist() == [1, 1, 2]
        assert (result.dense_shape is None) == (shape is None)
    assert tf.cast(repeated(), tf.float16).dtype is tf.float16
