"""Lists of tensors and tables in `tf.raw_ops`, as graphs of TensorFlow use them."""

import agc.runtime as tf
import numpy as np
import pytest

raw = tf.raw_ops
SHAPE = tf.constant([2])
UNKNOWN = tf.constant(-1)


def as_function(function):
    """Return the results of a traced function; in graphs a write leaves the old list unchanged."""
    return tf.nest.map_structure(lambda tensor: tensor.numpy().tolist(), tf.function(function)())


def test_elements_are_set_and_stacked():
    def program():
        array = raw.TensorListReserve(element_shape=SHAPE, num_elements=3, element_dtype=tf.float32)
        array = raw.TensorListSetItem(input_handle=array, index=1, item=tf.constant([1.0, 2.0]))
        stacked = raw.TensorListStack(input_handle=array, element_shape=SHAPE, element_dtype=tf.float32)
        item = raw.TensorListGetItem(
            input_handle=array, index=1, element_shape=UNKNOWN, element_dtype=tf.float32
        )
        return stacked, item, raw.TensorListLength(input_handle=array)

    assert as_function(program) == ([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]], [1.0, 2.0], 3)


def test_elements_are_pushed_and_popped():
    def program():
        old = raw.EmptyTensorList(element_shape=UNKNOWN, max_num_elements=-1, element_dtype=tf.int32)
        for number in range(3):
            old = raw.TensorListPushBack(input_handle=old, tensor=tf.constant(number))
        rest, last = raw.TensorListPopBack(input_handle=old, element_shape=UNKNOWN, element_dtype=tf.int32)
        both = raw.TensorListConcatLists(input_a=old, input_b=rest, element_dtype=tf.int32)
        return last, rest.stack(), both.stack()

    assert as_function(program) == (2, [0, 1], [0, 1, 2, 0, 1])


def test_rows_become_elements():
    rows = tf.constant([[1, 2], [3, 4], [5, 6]])

    def program():
        array = raw.TensorListFromTensor(tensor=rows, element_shape=SHAPE)
        picked = raw.TensorListGather(
            input_handle=array, indices=tf.constant([2, 0]), element_shape=SHAPE, element_dtype=tf.int32
        )
        whole = raw.TensorListConcatV2(
            input_handle=array,
            element_shape=SHAPE,
            leading_dims=tf.zeros([0], tf.int64),
            element_dtype=tf.int32,
        )
        shape = raw.TensorListElementShape(input_handle=array, shape_type=tf.int32)
        scattered = raw.TensorListScatterV2(
            tensor=rows, indices=tf.constant([2, 0, 1]), element_shape=SHAPE, num_elements=-1
        )
        return picked, whole.tensor, whole.lengths, shape, scattered.stack()

    picked, whole, lengths, shape, scattered = as_function(program)
    assert picked == [[5, 6], [1, 2]]
    assert (whole, lengths, shape) == ([1, 2, 3, 4, 5, 6], [2, 2, 2], [2])
    assert scattered == [[3, 4], [5, 6], [1, 2]]


@pytest.mark.parametrize(
    "fill", [raw.InitializeTableV2, raw.LookupTableImportV2], ids=["initialize", "import"]
)
def test_static_tables_are_made_and_filled(fill):
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    fill(table_handle=table, keys=tf.constant(["a", "b"]), values=tf.constant([1, 2], tf.int64))
    found = raw.LookupTableFindV2(
        table_handle=table, keys=tf.constant(["b", "x"]), default_value=tf.constant(-1, tf.int64)
    )
    assert found.numpy().tolist() == [2, -1]


def test_tables_are_filled_from_files(tmp_path):
    (tmp_path / "words").write_text("emerson\nlake\n")
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    raw.InitializeTableFromTextFileV2(
        table_handle=table,
        filename=tf.constant(str(tmp_path / "words")),
        key_index=-2,
        value_index=-1,
        offset=5,
    )
    found = raw.LookupTableFindV2(
        table_handle=table, keys=tf.constant(["lake"]), default_value=tf.constant(-1, tf.int64)
    )
    assert found.numpy().tolist() == [6]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("one, other", [([3, 2], [2]), ([1, 2], [3, 1]), ([], [4]), ([2, 3], [2, 3])])
def test_axes_of_broadcast_gradients(one, other, traced):
    def axes(one, other):
        return tuple(raw.BroadcastGradientArgs(s0=one, s1=other))

    function = tf.function(axes) if traced else axes
    found = [
        each.numpy().tolist() for each in function(tf.constant(one, tf.int32), tf.constant(other, tf.int32))
    ]
    whole = np.broadcast_shapes(one, other)
    for shape, given in zip((one, other), found, strict=True):
        padded = [1] * (len(whole) - len(shape)) + list(shape)
        assert given == [axis for axis, size in enumerate(padded) if size != whole[axis]]
