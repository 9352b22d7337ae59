"""Parts of tensors that are found while native code runs: slices that move, indices, values put at indices."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

TABLE = np.arange(24, dtype=np.float32).reshape(6, 4)
CUBE = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
PAIRS = np.array([[1, 0], [3, 3], [2, 0]], np.int32)


def check(program: Any, *arguments: Any) -> JitFunction:
    """Native code and the interpreter give the same, to the last bit."""
    arrays = [np.asarray(argument) for argument in arguments]
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    native = JitFunction(graph)
    for one, other in zip(native.run(arrays), map(np.asarray, interpret(graph, arrays)), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(one, other)
    return native


def gradient(program: Any) -> Any:
    def found(x: Any, i: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(program(x, i) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, x))

    return found


@pytest.mark.parametrize(
    "program",
    [
        lambda x, i: x[i : i + 3],
        lambda x, i: x[2 * i : (i + 1) * 2, 1],
        lambda x, i: x[i : i + 4 : 2, ::-1],
        lambda x, i: x[None, i - 1 : 1 + i, ..., i],
        lambda x, i: tf.slice(x, [i, 0], [3, 2]),
        gradient(lambda x, i: x[i : i + 3]),
        gradient(lambda x, i: tf.slice(x, [i, 0], [3, 2])),
    ],
)
def test_a_slice_of_known_length_may_start_anywhere(program: Any) -> None:
    assert check(program, TABLE, np.int32(2))._plan is None  # what it says is done by native code


def test_consecutive_batches_are_sliced() -> None:
    def total(x: Any, n: Any) -> Any:
        found = tf.zeros([2, 4])
        for i in tf.range(n):
            found += x[i * 2 : (i + 1) * 2]
        return found

    check(total, TABLE, np.int32(3))


@pytest.mark.parametrize(
    ("start", "step"), [(-3, 1), (-1, 1), (4, 1), (5, 1), (100, 1), (-2, 2), (2, 2), (3, 2)]
)
def test_a_truncated_or_negative_slice_runs_in_the_plan(start: int, step: int, given_up: list[str]) -> None:
    check(lambda x, i: x[i : i + 2 * step + 1 : step], TABLE, np.int32(start))
    assert given_up
    given_up.clear()


def test_a_slice_of_computed_length() -> None:
    check(lambda x: x[tf.cast(x[1, 0], tf.int32) - 3 :], TABLE)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, i: tf.gather(x, i, batch_dims=1),
        lambda x, i: tf.gather(x, i, batch_dims=-1, axis=2),
        lambda x, i: tf.gather(tf.reshape(x, [3, 2, 10]), i, batch_dims=2),
        lambda x, i: tf.gather_nd(x, i % 3),
        lambda x, i: tf.gather_nd(x, i, batch_dims=1),
        gradient(lambda x, i: tf.gather(x, i, batch_dims=1, axis=2)),
        gradient(lambda x, i: tf.gather(x, i, axis=1)),
        gradient(lambda x, i: tf.gather(x, i % 3)),
        gradient(lambda x, i: tf.gather_nd(x, i % 3)),
        lambda x, i: tf.scatter_nd(i, x[0, 0, :3], [4, 4]),
        lambda x, i: tf.tensor_scatter_nd_update(x[0], i[:, :1], x[1, :3]),
        lambda x, i: tf.tensor_scatter_nd_add(x[0], i, x[1, 0, :3]) + x[0],
        lambda x, i: tf.tensor_scatter_nd_sub(x[0], [[1], [1], [0]], x[1, :3]),
        lambda x, i: tf.tensor_scatter_nd_max(x[1], i[:, :1], 50 - x[1, :3]),
        lambda x, i: tf.tensor_scatter_nd_min(x[1], i[:, :1], 50 - x[1, :3]),
    ],
)
def test_elements_at_indices(program: Any) -> None:
    check(program, CUBE, PAIRS)


@pytest.mark.parametrize("how", ["add", "max", "min", "update"])
def test_booleans_scattered_to_duplicate_indices(how: str) -> None:
    def program(x: Any, i: Any, u: Any) -> Any:
        return getattr(tf, f"tensor_scatter_nd_{how}")(x, i, u), tf.scatter_nd(i, u, [5])

    truths = np.array([True, True, True, False, True])
    check(program, np.array([False, True, False, True]), [[0], [0], [1], [2], [3]], truths)


@pytest.mark.parametrize("how", ["add", "sub", "mul", "max", "min", "update"])
def test_rows_of_variables_change_only_after_success(how: str) -> None:
    values = []
    for jit_compile in (False, True):
        v = tf.Variable(CUBE[0])

        @tf.function(jit_compile=jit_compile)
        def change(rows: Any, indices: Any, v: Any = v) -> Any:
            for _ in tf.range(2):
                getattr(v, f"scatter_{how}")(tf.IndexedSlices(rows, indices))
            return v[indices[0]] * 2

        found = change(tf.constant(CUBE[1, :3]), tf.constant([1, 3, 1]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[2\] = 4 is not in \[0, 4\)"):
            change(tf.constant(CUBE[1, :3]), tf.constant([1, 3, 4]))
        values.append((found.numpy().tolist(), v.numpy().tolist()))
    assert values[0] == values[1]


def test_part_of_a_variable_is_assigned() -> None:
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])

    @tf.function(jit_compile=True)
    def change(i: Any, x: Any) -> Any:
        v[None, i, None].assign([[x]])
        v.scatter_nd_update([[3]], [x + 1])
        return v + 0

    assert change(tf.constant(1), tf.constant(9.0)).numpy().tolist() == [1.0, 9.0, 3.0, 10.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)out of bounds.*test_indexing.py"):
        change(tf.constant(7), tf.constant(9.0))
    assert v.numpy().tolist() == [1.0, 9.0, 3.0, 10.0]


def columns(mask: Any) -> Any:
    """Return a matrix of 5 rows, whose number of columns is known at run time only."""
    return tf.boolean_mask(tf.ones([5, 3]), mask, axis=1)


@pytest.mark.parametrize("indices", [[7], [0], [-1], [[1, 9]], []])
@pytest.mark.parametrize("mask", [[False, False, False], [False, True, False]])
@pytest.mark.parametrize(
    "program",
    [
        lambda mask, i: tf.gather(tf.zeros([5, 0]), i),
        lambda mask, i: tf.gather(tf.zeros([0, 4]), i, axis=1),
        lambda mask, i: tf.gather(columns(mask), i),
        lambda mask, i: tf.gather_nd(columns(mask), i[..., None]),
        lambda mask, i: tf.gather(tf.boolean_mask(tf.ones([3, 4]), mask), i, axis=1),
    ],
)
def test_indices_of_rows_without_elements_are_checked(
    program: Any, mask: list[bool], indices: Any, given_up: list[str]
) -> None:
    """Native code raises an error for the same indices as the interpreter, also if no element is computed."""

    def shape(run: Any) -> Any:
        try:
            return tuple(run(tf.constant(mask), tf.constant(indices, tf.int32)).shape)
        except tf.errors.InvalidArgumentError:
            return "out of range"

    expected = shape(program)
    assert shape(tf.function(program, jit_compile=True)) == expected
    if given_up:  # the plan runs indices that are in range, too, if no element of the result can check them
        assert 0 in expected and indices
        given_up.clear()


@pytest.mark.parametrize(("shape", "axis"), [([2, 4], 2), ([2, 4], -5), ([], 0)])
def test_a_roll_along_no_axis_of_the_tensor_is_the_plans_error(shape: list[int], axis: int) -> None:
    x = tf.zeros(shape)
    for executor in (None, True):
        program = tf.function(lambda x: tf.roll(x, 1, axis), jit_compile=executor)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"axis {axis} is out of range"):
            program(x)
