"""Shapes changed, elements repeated and moved: reshape and its relatives, tile, pad, reverse, roll."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.refusals import refuses

x = tf.reshape(tf.range(6), [2, 3])


def static_shape(operation: Any, *shapes: Any) -> list[int | None] | None:
    """The shape that is known of the operation's result, for arguments whose shapes are known so far."""
    found: list[Any] = []

    def traced(*tensors: Any) -> Any:
        result = operation(*tensors)
        found.append(result.shape)
        return result

    tf.function(traced, autograph=False).get_concrete_function(*(tf.TensorSpec(s, tf.int32) for s in shapes))
    return None if found[0].rank is None else found[0].as_list()


def test_reshape_finds_the_size_that_is_left_out() -> None:
    assert tf.reshape(x, [3, -1]).numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert tf.reshape(7, []).numpy() == 7
    assert tf.reshape(tf.zeros([0, 3]), [-1, 3]).shape == [0, 3]


@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize(
    ("old", "sizes", "new"),
    [
        ([0, 3], [0, -1], [0, 3]),
        ([0], [0, -1], [0, 1]),
        ([0, 3], [-1, 0], [3, 0]),
        ([0, 3], [0, -1, 2], [0, 1, 2]),
    ],
)
def test_a_size_next_to_zero_is_found_from_the_other_sizes(
    old: list[int], sizes: list[int], new: list[int], is_static: bool
) -> None:
    shape = sizes if is_static else tf.constant(sizes)
    for function in (tf.reshape, tf.function(tf.reshape), tf.function(tf.reshape, jit_compile=True)):
        assert function(tf.zeros(old), shape).shape == new


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([4], "Input to reshape is a tensor with 6 values, but the requested shape has 4"),
        (
            [4, -1],
            "Input to reshape is a tensor with 6 values, but the requested shape requires a multiple of 4",
        ),
        ([-1, -1], "Only one input size may be -1, not both 0 and 1"),
        ([-2, 3], "Size 0 must be non-negative, not -2"),
    ],
)
def test_reshape_says_why_a_shape_does_not_fit(shape: list[int], message: str) -> None:
    with refuses(message):
        tf.reshape(x, shape)

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32), tf.TensorSpec(None, tf.int32)])
    def later(tensor: Any, shape: Any) -> Any:
        return tf.reshape(tensor, shape)

    with refuses(message):
        later(x, tf.constant(shape))


@pytest.mark.parametrize(
    ("operation", "shapes", "expected"),
    [
        (lambda t: tf.reshape(t, [-1, 2]), [[2, 3]], [3, 2]),
        (lambda t: tf.reshape(t, [-1, 2]), [[None, 3]], [None, 2]),
        (lambda t, s: tf.reshape(t, [s, 2]), [[2, 3], []], [3, 2]),
        (lambda t, s: tf.reshape(t, s), [[2, 3], [2]], [None, None]),
        (lambda t, s: tf.reshape(t, s), [[2, 3], [None]], None),
        (tf.transpose, [[None, 3]], [3, None]),
        (lambda t: tf.transpose(t, [1, 0, 2]), [[None, 3, 4]], [3, None, 4]),
        (tf.transpose, [None], None),
        (lambda t: tf.expand_dims(t, -1), [[None, 3]], [None, 3, 1]),
        (tf.squeeze, [[1, 3, 1]], [3]),
        (tf.squeeze, [[1, None]], None),
        (lambda t: tf.squeeze(t, 0), [[None, None]], [None]),
        (lambda t, s: tf.broadcast_to(t, [s, 3]), [[3], []], [None, 3]),
        (lambda t: tf.ensure_shape(t, [None, 3]), [[2, None]], [2, 3]),
        (lambda t, s: tf.tile(t, [s, 2]), [[2, 3], []], [None, 6]),
        (lambda t: tf.pad(t, [[1, 1], [0, 2]]), [[None, 3]], [None, 5]),
        (lambda t: tf.repeat(t, 2, axis=1), [[None, 3]], [None, 6]),
        (lambda t: tf.reverse(t, [0]), [[None, 3]], [None, 3]),
    ],
)
def test_static_shapes_in_a_graph(operation: Any, shapes: Any, expected: Any) -> None:
    assert static_shape(operation, *shapes) == expected


@pytest.mark.parametrize("axis", [[-1], (1,), [[1]], np.array([1]), tf.constant([1])])
def test_expand_dims_takes_an_axis_in_a_sequence(axis) -> None:
    assert tf.expand_dims(tf.ones([2]), axis).shape == [2, 1]
    assert tf.function(lambda t: tf.expand_dims(t, axis))(tf.ones([2])).shape == [2, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a single value"):
        tf.expand_dims(tf.ones([2]), [0, 1])


def test_expand_dims_and_squeeze_are_inverse() -> None:
    assert tf.expand_dims(x, 1).shape == [2, 1, 3]
    assert tf.squeeze(tf.expand_dims(x, 1)).shape == [2, 3]
    assert tf.squeeze([[[1], [2]]], [0, -1]).numpy().tolist() == [1, 2]
    with refuses("Tried to expand dim index 3 for tensor with 2 dimensions"):
        tf.expand_dims(x, 3)
    with refuses(r"Can not squeeze dim\[0\], expected a dimension of 1, got 2"):
        tf.squeeze(x, 0)


def test_transpose() -> None:
    assert tf.transpose(x).numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert tf.transpose(tf.zeros([2, 3, 4]), tf.constant([2, 0, 1])).shape == [4, 2, 3]
    assert tf.transpose([[1 + 2j]], conjugate=True).numpy().tolist() == [[1 - 2j]]
    with refuses(r"transpose expects a vector of size 2\. But input\(1\) is a vector of size 1"):
        tf.transpose(x, [0])
    with refuses("1 is missing from {0,0}"):
        tf.transpose(x, [0, 0])


def test_transpose_of_a_tensor_of_unknown_rank() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def turned(tensor: Any) -> Any:
        return tf.transpose(tensor)

    assert turned(x).shape == [3, 2]
    assert turned(tf.zeros([2, 3, 4], tf.int32)).shape == [4, 3, 2]


def test_broadcast_to_and_ensure_shape() -> None:
    assert tf.broadcast_to([[1], [2]], [2, 2]).numpy().tolist() == [[1, 1], [2, 2]]
    assert tf.broadcast_to(7, [2]).numpy().tolist() == [7, 7]
    with refuses(r"Incompatible shapes: \[2,3\] vs\. \[3,3\]"):
        tf.broadcast_to(x, [3, 3])
    with refuses(r"Shape of tensor input \[2,3\] is not compatible with expected shape \[3,\?\]"):
        tf.ensure_shape(x, [3, None])


def test_ensure_shape_checks_when_the_graph_runs() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def three(tensor: Any) -> Any:
        return tf.ensure_shape(tensor, [3])

    assert three(tf.range(3)).shape == [3]
    with refuses(r"Shape of tensor input \[2\] is not compatible with expected shape \[3\]"):
        three(tf.range(2))


@pytest.mark.parametrize("multiples", [[2, 3], [1, 1], [0, 3], [2, 0], [0, 0]])
def test_the_gradient_of_tile_has_the_shape_of_its_input(multiples: list[int]) -> None:
    def gradient(x: Any, multiples: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tile(x, multiples)
        return tape.gradient(y, x)

    expected = np.full((3, 2), np.prod(multiples)).tolist()
    given = tf.ones([3, 2]), tf.constant(multiples)
    assert gradient(*given).numpy().tolist() == expected
    unknown = [tf.TensorSpec([None, None]), tf.TensorSpec([2], tf.int32)]
    for jit_compile in (False, True):
        for signature in (None, unknown):
            f = tf.function(gradient, input_signature=signature, jit_compile=jit_compile)
            assert f(*given).numpy().tolist() == expected
        fixed = tf.function(lambda x: gradient(x, multiples), jit_compile=jit_compile)
        assert fixed(given[0]).numpy().tolist() == expected


def test_tile_and_repeat() -> None:
    assert tf.tile(["a", "b"], [2]).numpy().tolist() == [b"a", b"b", b"a", b"b"]
    assert tf.tile(x, [1, 0]).shape == [2, 0]
    assert tf.repeat(x, [1, 0, 2], axis=1).numpy().tolist() == [[0, 2, 2], [3, 5, 5]]
    with refuses("Expected multiples argument to be a vector of length 2 but got length 1"):
        tf.tile(x, [2])


def test_pad() -> None:
    assert tf.pad([1, 2], [[1, 2]], constant_values=9).numpy().tolist() == [9, 1, 2, 9, 9]
    assert tf.pad([1, 2, 3], [[2, 2]], "REFLECT").numpy().tolist() == [3, 2, 1, 2, 3, 2, 1]
    assert tf.pad([1, 2, 3], [[2, 2]], "symmetric").numpy().tolist() == [2, 1, 1, 2, 3, 3, 2]
    with refuses("paddings must be less than the dimension size: 3, 3 not less than 3"):
        tf.pad([1, 2, 3], [[3, 3]], "REFLECT")
    with refuses("Paddings must be non-negative: -1 0"):
        tf.pad([1, 2, 3], [[-1, 0]])
    with pytest.raises(ValueError, match='expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC"'):
        tf.pad([1], [[0, 0]], "WRAP")


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pads_equal_numpys(mode: str) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for pads in ([[0, 0], [1, 2], [3, 0]], [[1, 1], [0, 0], [0, 3]], [[0, 1], [2, 2], [1, 1]]):
        wanted = np.pad(x, pads, mode.lower())  # type: ignore[call-overload]
        assert tf.pad(x, pads, mode).numpy().tolist() == wanted.tolist()
    assert tf.pad(5, np.zeros((0, 2), np.int32), mode).numpy() == 5
    assert tf.pad([["b"]], [[0, 0], [0, 0]], mode).numpy().tolist() == [[b"b"]]


def test_reverse_and_roll() -> None:
    assert tf.reverse(x, [0, -1]).numpy().tolist() == [[5, 4, 3], [2, 1, 0]]
    assert tf.roll(x, [1, -1], [0, 1]).numpy().tolist() == [[4, 5, 3], [1, 2, 0]]
    with refuses("axis 0 specified more than once"):
        tf.reverse(x, [0, 0])
    with refuses("axis 2 is out of range"):
        tf.roll(x, 1, 2)


def test_meshgrid() -> None:
    across, down = tf.meshgrid([1, 2], [3, 4, 5])
    assert across.numpy().tolist() == [[1, 2], [1, 2], [1, 2]]
    assert down.numpy().tolist() == [[3, 3], [4, 4], [5, 5]]
    assert tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")[0].shape == [2, 3]


def test_kernels_leave_their_inputs_alone() -> None:
    before = x.numpy()
    for result in (tf.reverse(x, [0]), tf.pad(x, [[1, 1], [0, 0]]), tf.tile(x, [2, 1]), tf.roll(x, 1, 0)):
        assert result.shape.rank == 2
    tf.tensor_scatter_nd_add(x, [[0]], [[9, 9, 9]])
    assert (x.numpy() == before).all()


def test_a_float_tensor_in_a_list_of_sizes_is_cast() -> None:
    x = tf.range(6)
    assert tf.reshape(x, [tf.constant(2.0), 3]).shape == (2, 3)
    traced = tf.function(lambda n: tf.reshape(x, [n, 3]))
    assert traced(tf.constant(2.0)).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32 is not an integer dtype"):
        tf.reshape(x, [tf.constant(2.5), 3])
