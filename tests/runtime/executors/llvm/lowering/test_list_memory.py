"""List elements are read without copies and lists written in place; earlier reads keep their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.ops.lists.list_gradients import array_item, array_one, array_rows, array_sum

ROWS = np.arange(120, dtype=np.float32).reshape(3, 40)
ONES = np.ones(40, np.float32)
YES, NO = np.bool_(True), np.bool_(False)


def check(program: Any, *calls: tuple[Any, ...]) -> None:
    """Native code and the interpreter give the same."""
    graph = tf.function(program).get_concrete_function(*map(tf.constant, calls[0])).graph
    native = JitFunction(graph)
    for call in calls:
        arguments = list(map(np.asarray, call))
        for one, other in zip(native.run(arguments), interpret(graph, arguments), strict=True):
            np.testing.assert_array_equal(one, other)


def listed(rows: Any) -> Any:
    return tf.TensorArray(tf.float32, 3, element_shape=[40], clear_after_read=False).unstack(rows)


def chosen(element: Any, p: Any) -> Any:
    return tf.cond(p, lambda: element, lambda: element * 2)


def sized(element: Any, p: Any) -> Any:
    size = tf.where(p, 4, 3)
    return tf.cond(p, lambda: element[:size], lambda: element)


@pytest.mark.parametrize(
    "left",
    [
        lambda element, p: element,
        lambda element, p: tf.pad(element, [[0, 0]]),
        lambda element, p: tf.reshape(element, [5, 8]),
        chosen,
        lambda element, p: chosen(chosen(element, p), p),
        sized,
    ],
    ids=["itself", "padded", "reshaped", "chosen", "chosen twice", "sized"],
)
def test_an_element_returned_by_a_branch_survives_a_later_write(left: Callable[..., Any]) -> None:
    def program(rows: Any, row: Any, p: Any, q: Any) -> Any:
        array = listed(rows)
        other = left(row, q)
        found = tf.cond(p, lambda: left(array.read(1), q), lambda: other)
        return found, array.write(1, row).stack()

    check(program, *[(ROWS, ONES, p, q) for p in (YES, NO) for q in (YES, NO)])


@pytest.mark.parametrize(
    "part",
    [lambda x, n: x[:n] * 2, lambda x, n: tf.cond(n > 3, lambda: x, lambda: x[1:])],
    ids=["computed", "chosen"],
)
def test_a_slice_as_loop_state_survives_writes_to_its_list(part: Callable[..., Any]) -> None:
    def program(rows: Any, row: Any, n: Any, count: Any) -> Any:
        array, found = listed(rows), row[:n]
        for i in tf.range(count):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(found, tf.TensorShape([None]))],
            )
            other = listed(rows * 5 + tf.reduce_sum(found))
            found = part(array.read(0), n + i)
            array = other
        return found, array.stack()

    check(program, *[(ROWS, ONES, np.int32(n), np.int32(count)) for n, count in ((3, 0), (3, 1), (2, 3))])


def test_the_gradient_of_one_element_survives_that_of_another() -> None:
    def program(rows: Any, row: Any, places: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(rows)
            array = listed(rows)
            put = tf.tensor_scatter_nd_update(array.read(1) * row, places, [7.0, 8.0])
            total = tf.reduce_sum((array.read(0) + put) ** 2)
        return tf.convert_to_tensor(tape.gradient(total, rows))

    check(program, (ROWS, ONES, [[1], [5]]))


@pytest.mark.parametrize("place", [0, 2])
def test_an_overwritten_element_without_gradient(place: int) -> None:
    def program(rows: Any, place: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(rows)
            total = tf.reduce_sum(listed(rows).write(place, ONES).read(0) ** 2)
        return tf.convert_to_tensor(tape.gradient(total, rows))

    check(program, (ROWS, np.int32(place)))


def test_versions_of_a_list_do_not_share_elements() -> None:
    def program(rows: Any, row: Any) -> Any:
        one = listed(rows)
        two = one.write(1, row)
        three, four = one.write(1, row * 2), two.write(0, row * 3)
        return [each.stack() for each in (one, two, three, four)]

    check(program, (ROWS, ONES))


def test_a_gradient_list_may_grow_after_a_read() -> None:
    """The list gets longer, and so its memory moves."""

    def program(row: Any, place: Any) -> Any:
        grads = array_sum(array_one(0, row), array_one(1, row + 1))
        return [array_item(grads, i, [4000], tf.float32) for i in (0, place)]

    check(program, (np.arange(4000, dtype=np.float32), np.int32(500)))


@pytest.mark.parametrize("size", [1, 3])
def test_rows_with_a_single_gradient(size: int) -> None:
    """Do not use the memory after the last row."""

    def program(row: Any, place: Any) -> Any:
        return [array_rows(array_one(place, row * i), [size, 4], tf.float32) for i in (1, 2)]

    check(program, (np.arange(4, dtype=np.float32), np.int32(1)))
