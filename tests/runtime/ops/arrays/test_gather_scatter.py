"""gather, gather_nd, where, boolean_mask, and values scattered to indices."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.arrays import gather_ops
from support.refusals import refuses

x = tf.reshape(tf.range(6), [2, 3])
z = tf.reshape(tf.range(24), [2, 3, 4])


def test_gather_takes_slices_along_an_axis() -> None:
    assert tf.gather(["a", "b", "c"], [2, 0]).numpy().tolist() == [b"c", b"a"]
    assert tf.gather(x, 1).numpy().tolist() == [3, 4, 5]
    assert tf.gather(x, [[2, 0]], axis=1).numpy().tolist() == [[[2, 0]], [[5, 3]]]
    assert tf.gather(z, 1, axis=-1).shape == [2, 3]


@pytest.mark.parametrize("axis", [1, 2])
def test_gather_in_batches_picks_from_each_row_its_own(axis: int) -> None:
    indices = np.array([[2, 0], [0, 1]])
    rows = [np.take(part, own, axis - 1) for part, own in zip(z.numpy(), indices, strict=True)]
    np.testing.assert_array_equal(tf.gather(z, indices, axis=axis, batch_dims=1).numpy(), rows)


@pytest.mark.parametrize(
    ("indices", "axis", "message"),
    [
        ([0, 7], 0, r"indices\[1\] = 7 is not in \[0, 2\)"),
        (-1, 0, r"indices = -1 is not in \[0, 2\)"),
        ([[0, 1], [0, 4]], 1, r"indices\[1,1\] = 4 is not in \[0, 3\)"),
        ([0], 2, "Shape must be at least rank 3 but is rank 2"),
    ],
)
def test_gather_out_of_range(indices: Any, axis: int, message: str) -> None:
    with refuses(message):
        tf.gather(x, indices, axis=axis)


def test_a_gather_that_nothing_needs_does_not_fail_in_a_graph() -> None:
    @tf.function
    def unused(t: Any) -> Any:
        tf.gather(t, [7])
        return t

    @tf.function
    def used(t: Any) -> Any:
        return tf.gather(t, [7])

    assert unused(x).shape == [2, 3]
    with refuses(r"indices\[0\] = 7 is not in \[0, 2\)"):
        used(x)


def test_gather_nd_takes_coordinates() -> None:
    assert tf.gather_nd(x, [[0, 1], [1, 2]]).numpy().tolist() == [1, 5]
    assert tf.gather_nd(x, [[1]]).numpy().tolist() == [[3, 4, 5]]
    assert tf.gather_nd(x, [[1], [2]], batch_dims=1).numpy().tolist() == [1, 5]
    with refuses(r"indices\[0\] = \[0, 7\] does not index into param shape \[2,3\]"):
        tf.gather_nd(x, [[0, 7]])
    with refuses("index innermost dimension length must be <= params rank; saw: 3 vs. 2"):
        tf.gather_nd(x, [[0, 0, 0]])


def test_where_selects_with_broadcasting() -> None:
    assert tf.where([[True], [False]], x, 0).numpy().tolist() == [[0, 1, 2], [0, 0, 0]]
    assert tf.where(x > 2, 1.5, 0).dtype is tf.float32
    assert tf.where([True, False], ["a", "b"], "-").numpy().tolist() == [b"a", b"-"]
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where(x > 1, x)
    with refuses("was expected to be a int32 tensor but is a float32 tensor"):
        tf.where(x > 1, x, tf.zeros([2, 3]))


def test_where_of_a_condition_alone_returns_coordinates() -> None:
    found = tf.where(x > 3)
    assert found.dtype is tf.int64
    assert found.numpy().tolist() == [[1, 1], [1, 2]]


def test_boolean_mask_covers_axes_from_a_given_one_on() -> None:
    assert tf.boolean_mask(x, [[True, False, False], [False, True, True]]).numpy().tolist() == [0, 4, 5]
    assert tf.boolean_mask(x, [True, False, True], axis=1).numpy().tolist() == [[0, 2], [3, 5]]
    with pytest.raises(ValueError, match="mask cannot be scalar"):
        tf.boolean_mask(x, True)


@pytest.mark.parametrize(
    ("operation", "shapes", "expected"),
    [
        (lambda t: tf.gather(t, [0, 1], axis=1), [[None, 3]], [None, 2]),
        (lambda t: tf.gather(t, 0), [[None, 3]], [3]),
        (lambda t: tf.where(t > 0), [[None, 3]], [None, 2]),
        (lambda t, u: tf.where(t > 0, t, u), [[None, 3], [4, 1]], [4, 3]),
        (lambda t: tf.boolean_mask(t, [True, False, True], axis=1), [[2, 3]], [2, None]),
        (lambda t: tf.gather_nd(t, [[0]]), [[None, 3]], [1, 3]),
    ],
)
def test_static_shapes_in_a_graph(operation: Any, shapes: Any, expected: Any) -> None:
    found = []

    def traced(*tensors: Any) -> Any:
        result = operation(*tensors)
        found.append(result.shape)
        return result

    tf.function(traced, autograph=False).get_concrete_function(*(tf.TensorSpec(s, tf.int32) for s in shapes))
    assert found == [expected]


def test_scatter_nd_adds_duplicate_indices() -> None:
    assert tf.scatter_nd([[2], [0], [2]], [1, 2, 3], [4]).numpy().tolist() == [2, 0, 4, 0]
    assert tf.scatter_nd([[1]], [[1, 2]], [2, 2]).numpy().tolist() == [[0, 0], [1, 2]]
    with refuses(r"indices\[0\] = \[5\] does not index into shape \[3\]"):
        tf.scatter_nd([[5]], [1], [3])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (tf.tensor_scatter_nd_update, [9, 1, 2]),
        (tf.tensor_scatter_nd_add, [20, 1, 2]),
        (tf.tensor_scatter_nd_sub, [-14, 1, 2]),
        (tf.tensor_scatter_nd_max, [9, 1, 2]),
        (tf.tensor_scatter_nd_min, [3, 1, 2]),
    ],
)
def test_tensor_scatter_makes_a_changed_copy(operation: Any, expected: list[int]) -> None:
    old = tf.constant([3, 1, 2])
    assert operation(old, [[0], [0]], [8, 9]).numpy().tolist() == expected
    assert old.numpy().tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "index", [[2], [[2]], [[1, 2]], [[[0]]], [[1], [2]], [[0, 1], [2, 2], [0, 1]]], ids=str
)
def test_single_and_batched_indices_agree(index: Any) -> None:
    tensor, places = np.arange(9).reshape(3, 3), np.array(index)
    depth = places.shape[-1]
    updates = np.arange(20, 20 + 3 ** (2 - depth) * places.size // depth).reshape(
        (*places.shape[:-1], *tensor.shape[depth:])
    )
    for operation, put in (
        (tf.tensor_scatter_nd_update, np.ndarray.__setitem__),
        (tf.tensor_scatter_nd_add, np.add.at),
        (tf.tensor_scatter_nd_sub, np.subtract.at),
        (tf.tensor_scatter_nd_max, np.maximum.at),
    ):
        wanted = tensor.copy()
        put(wanted, (*np.moveaxis(places, -1, 0), ...), updates)  # type: ignore[operator]
        assert operation(tensor, places, updates).numpy().tolist() == wanted.tolist()
    texts = tf.tensor_scatter_nd_update(["a", "b"], [[1]], ["c"])
    assert texts.numpy().tolist() == [b"a", b"c"]


@pytest.mark.parametrize(
    "scatter",
    [
        lambda at, new: tf.scatter_nd(at, new, [2, 3]),
        lambda at, new: tf.tensor_scatter_nd_add(x, at, new),
        lambda at, new: tf.Variable(x).scatter_nd_update(at, new),
    ],
)
def test_scatters_refuse_more_coordinates_than_axes(scatter: Any) -> None:
    with refuses(r"indices\[shape=\[1,3\]\] must be at most 2, the rank of output.shape=\[2,3\]"):
        scatter([[0, 1, 2]], [7])


def test_tensor_scatter_checks_shapes_and_places() -> None:
    with refuses(r"indices\[0\] = \[5\] does not index into shape \[2,3\]"):
        tf.tensor_scatter_nd_update(x, [[5]], [[1, 2, 3]])
    with refuses(r"The inner 1 dimensions of output\.shape=\[2,3\] must match"):
        tf.tensor_scatter_nd_update(x, [[1]], [[1, 2]])


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("size", [0, 2])
def test_indices_are_checked_even_for_empty_results(size: int, dtype: tf.DType) -> None:
    x = np.zeros((size, 3))
    assert tf.gather(x, tf.constant([2, 0], dtype), axis=1).shape == (size, 2)
    for wrong in (-1, 3):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {wrong} is not in \[0, 3\)"
        ):
            tf.gather(x, tf.constant([2, wrong], dtype), axis=1)


def test_unsigned_indices_do_not_wrap():
    x, indices = tf.constant([[1, 2]]), tf.constant([[2**64 - 1]], tf.uint64)
    for way in ("plan", "interpret"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
            tf.function(lambda: gather_ops.take_along(x, indices, 1), experimental_executor=way)()


@pytest.mark.parametrize("index", [-1, 3, 2**64 - 1])
def test_the_transposes_of_gather_refuse_indices_out_of_range(index: int) -> None:
    indices = np.array([0, index], np.uint64 if index > 3 else np.int64)
    with refuses(rf"indices\[1\] = {index} is not in \[0, 3\)"):
        gather_ops.put_back([1, 2], indices, [3], 0, 0)
    with refuses(rf"indices\[0,1\] = {index} is not in \[0, 3\)"):
        gather_ops.put_along([[1, 2]], indices[None], [1, 3], 1)
    with refuses(rf"indices\[1\] = \[0, {index}\] does not index into shape \[2,3\]"):
        gather_ops.put_back_nd([1, 2], np.stack([0 * indices, indices], 1), [2, 3], 0)


def test_unsigned_indices_of_64_bits_select_as_others_do() -> None:
    indices = np.array([[0, 1], [1, 2]], np.uint64)
    assert tf.gather_nd(x, indices).numpy().tolist() == [1, 5]
    assert gather_ops.put_back_nd([1, 2], indices, [2, 3], 0).numpy().tolist() == [[0, 1, 0], [0, 0, 2]]
    assert gather_ops.put_back([1, 2], indices[1], [3], 0, 0).numpy().tolist() == [0, 1, 2]


HOW: dict[str, Any] = {
    "update": np.ndarray.__setitem__, "add": np.add.at, "sub": np.subtract.at,
    "max": np.maximum.at, "min": np.minimum.at,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "int64"])
@pytest.mark.parametrize("how", HOW)
def test_scatters_are_the_same_in_kept_calls(how: str, dtype: str) -> None:
    """The kernels of kept calls leave out the checks of shapes, but not those of indices."""
    random = np.random.default_rng(1)
    functional, method = getattr(tf, f"tensor_scatter_nd_{how}"), f"scatter_nd_{how}"
    for inner in ((), (3,)):
        x = random.integers(0, 9, (4, 5, *inner)).astype(dtype)
        tensor, variable = tf.constant(x), tf.Variable(x)
        for call in range(4):
            at = random.permutation(20)[:6].astype(np.int32 if call % 2 else np.int64)
            at = np.stack(np.unravel_index(at, (4, 5)), 1).astype(at.dtype)
            if how != "update":
                at[1] = at[0]
            updates = random.integers(0, 9, (6, *inner)).astype(dtype)
            expected, before = x.copy(), variable.numpy()
            HOW[how](expected, (*at.T,), updates)
            assert np.array_equal(functional(tensor, at, updates), expected) and np.array_equal(tensor, x)
            HOW[how](before, (*at.T,), updates)
            getattr(variable, method)(tf.constant(at), tf.constant(updates))
            assert np.array_equal(variable, before)
            sums = np.zeros_like(x)
            np.add.at(sums, (*at.T,), updates)
            assert np.array_equal(tf.scatter_nd(at, updates, x.shape), sums)
        for wrong in (-1, 5):
            at[2, 1] = wrong
            for function, arguments in (
                (functional, (tensor, at, updates)),
                (getattr(variable, method), (tf.constant(at), tf.constant(updates))),
                (tf.scatter_nd, (at, updates, x.shape)),
            ):
                with refuses(rf"indices\[2\] = \[{at[2, 0]}, {wrong}\] does not index into shape"):
                    function(*arguments)
            assert np.array_equal(variable, before)
