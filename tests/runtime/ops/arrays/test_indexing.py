"""`tensor[key]`, slice and strided_slice: NumPy agrees wherever TensorFlow allows the key."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.refusals import refuses

ARRAY = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
z = tf.constant(ARRAY)
x = z[0]

KEYS = [
    np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1, 2, 3], np.s_[:, 1], np.s_[..., 0], np.s_[0, ..., -1],
    np.s_[None], np.s_[:, None, :, None], np.s_[..., None], np.s_[::-1], np.s_[:, ::-2], np.s_[1:, :2, 1:3],
    np.s_[5:], np.s_[:-5], np.s_[-2:], np.s_[1::-1], np.s_[:, 2:0:-1], np.s_[()], np.s_[...],
    np.s_[np.int64(1), np.int32(2)], np.s_[1, None, ..., ::3],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_key_behaves_as_in_numpy(key: Any) -> None:
    @tf.function
    def traced(tensor: Any) -> Any:
        result = tensor[key]
        assert result.shape == ARRAY[key].shape
        return result

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def unknown(tensor: Any) -> Any:
        return tensor[key]

    for result in (z[key], traced(z), unknown(z)):
        assert result.dtype is tf.int32
        np.testing.assert_array_equal(result.numpy(), ARRAY[key])


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_tape_records_each_key(key: Any) -> None:
    floats, expected = tf.constant(ARRAY, tf.float32), np.zeros(ARRAY.shape, np.float32)
    expected[key] = 1
    for _ in range(4):
        with tf.GradientTape() as tape:
            tape.watch(floats)
            part = floats[key]
        np.testing.assert_array_equal(part.numpy(), ARRAY[key])
        np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(part, floats)).numpy(), expected)


def test_tensors_are_indices_and_bounds_of_slices() -> None:
    one, two = tf.constant(1), tf.constant(2, tf.int64)

    def pick(i: Any, j: Any) -> list[Any]:
        return [z[i], z[i, j], z[0, i:], z[:i], z[..., i:j], z[0, i - 2], z[i::-1]]

    expected = [ARRAY[1], ARRAY[1, 2], ARRAY[0, 1:], ARRAY[:1], ARRAY[..., 1:2], ARRAY[0, -1], ARRAY[1::-1]]
    for results in (pick(one, two), tf.function(pick)(one, tf.cast(two, tf.int32))):
        for result, array in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result.numpy(), array)


def test_a_traced_bound_leaves_the_size_open() -> None:
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([2, None, 4]), tf.TensorSpec([], tf.int32)])
    def f(t: Any, i: Any) -> Any:
        shapes.extend([t[i].shape, t[i:].shape, t[:, 1:].shape, t[:, :, 1:3].shape, t[:, None, 0].shape])
        return t[i]

    f(tf.zeros([2, 3, 4]), 1)
    assert shapes == [[None, 4], [None, None, 4], [2, None, 4], [2, None, 2], [2, 1, 4]]


def test_a_mask_of_booleans_selects() -> None:
    assert x[tf.constant([True, False, True])].numpy().tolist() == ARRAY[0][[0, 2]].tolist()
    assert x[x > 8].numpy().tolist() == [9, 10, 11]
    assert x[np.array([False, True, False])].shape == [1, 4]
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2,\) are incompatible"):
        x[tf.constant([True, False])]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (np.s_[5], "slice index 5 of dimension 0 out of bounds"),
        (np.s_[-4], "slice index -1 of dimension 0 out of bounds"),
        (np.s_[0, 4], "slice index 4 of dimension 1 out of bounds"),
        (np.s_[..., 9], "slice index 9 of dimension 1 out of bounds"),
        (np.s_[0, 0, 0], "Index out of range using input dim 2; input has only 2 dims"),
        (np.s_[::0], r"strides\[0\] must be non-zero"),
        (np.s_[..., ...], "Multiple ellipses in slice spec not allowed"),
    ],
)
def test_a_key_out_of_range(key: Any, message: str) -> None:
    with refuses(message):
        x[key]
    with pytest.raises(ValueError, match=message):
        tf.function(lambda t: t[key]).get_concrete_function(x)


@pytest.mark.parametrize("key", [lambda i: i, lambda i: (slice(None), i), lambda i: slice(i, None)])
def test_an_index_of_unknown_rank_must_turn_out_to_be_a_scalar(key: Any) -> None:
    signature = [tf.TensorSpec([None, None]), tf.TensorSpec(None, tf.int32)]
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for executor in ("plan", "interpret"):
        f = tf.function(lambda x, i: x[key(i)], signature, experimental_executor=executor)
        assert f(x, tf.constant(1)).numpy().tolist() == x.numpy()[key(1)].tolist()
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1\] is not compatible"):
            f(x, tf.constant([1]))


def test_a_traced_index_out_of_range_fails_when_the_graph_runs() -> None:
    row = tf.function(lambda t, i: t[i])
    assert row(x, tf.constant(-1)).numpy().tolist() == [8, 9, 10, 11]
    with refuses("slice index 3 of dimension 0 out of bounds"):
        row(x, tf.constant(3))


@pytest.mark.parametrize(
    "key",
    [
        1.5,
        "a",
        tf.constant(1.0),
        tf.constant([0, 1]),
        np.array([0, 1]),
        slice(0, 1.5),
        (0, True),
        slice(True, None),
    ],
)
def test_an_invalid_index_is_refused(key: Any) -> None:
    with pytest.raises(TypeError, match="Only integers, slices"):
        x[key]


def test_the_printed_graph_shows_the_key_as_written() -> None:
    concrete = tf.function(lambda t, i: t[i, ::-1, ..., None]).get_concrete_function(z, tf.constant(0))
    assert "key='_, ::-1, ..., None'" in str(concrete.graph)


def test_iteration_gives_the_rows() -> None:
    assert [row.numpy().tolist() for row in x] == ARRAY[0].tolist()
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1))


def test_strings_are_indexed_like_numbers() -> None:
    words = tf.constant(["a", "b", "c"])
    assert words[1].numpy() == b"b"
    assert tf.function(lambda t, i: t[i])(words, tf.constant(2)).numpy() == b"c"
    assert words[::-1].numpy().tolist() == [b"c", b"b", b"a"]


def test_slice_takes_positions_and_sizes() -> None:
    assert tf.slice(x, [0, 1], [2, -1]).numpy().tolist() == ARRAY[0][0:2, 1:].tolist()
    taken = tf.function(lambda t, begin: tf.slice(t, begin, [1, 2]))(x, tf.constant([2, 1]))
    assert taken.numpy().tolist() == [[9, 10]]
    with refuses(r"Expected size\[1\] in \[0, 3\], but got 5"):
        tf.slice(x, [0, 1], [1, 5])
    with refuses(r"Expected begin\[0\] in \[0, 3\], but got 4"):
        tf.slice(x, [4, 0], [0, 0])
    with refuses("Expected begin and size arguments to be 1-D tensors of size 2"):
        tf.slice(x, [0, 1], [1])


def test_strided_slice_and_its_masks() -> None:
    assert tf.strided_slice([1, 2, 3, 4, 5], [4], [0], [-2]).numpy().tolist() == [5, 3]
    assert tf.strided_slice([1, 2, 3, 4, 5], np.array([2**32 + 1]), np.array([2**32 + 3])).shape == [0]
    assert tf.strided_slice(x, [1], [2], shrink_axis_mask=1).numpy().tolist() == ARRAY[0, 1].tolist()
    assert tf.strided_slice(x, [9, 1], [9, 3], begin_mask=1, end_mask=1).shape == [3, 2]
    assert tf.strided_slice(z, [0, 1], [0, 3], ellipsis_mask=1).shape == [2, 3, 2]
    assert tf.strided_slice(x, [0, 1], [0, 2], new_axis_mask=1).shape == [1, 1, 4]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_part_of_a_variable_is_assigned_as_in_numpy(key: Any) -> None:
    v, expected = tf.Variable(ARRAY), ARRAY.copy()
    for number in (5, 5, 5, 6):
        v[key].assign_add(tf.fill(ARRAY[key].shape, number))
        expected[key] += number
        np.testing.assert_array_equal(v.numpy(), expected)
    for _ in range(4):
        v[key].assign(7)
        with pytest.raises((ValueError, tf.errors.OpError)):
            v[key].assign(tf.zeros([9, 9], tf.int32))
        with pytest.raises((ValueError, tf.errors.OpError)):
            v[5, 0].assign(1)
    expected[key] = 7
    np.testing.assert_array_equal(v.numpy(), expected)
