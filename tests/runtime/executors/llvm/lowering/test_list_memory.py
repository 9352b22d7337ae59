"""List elements are read without copies and lists written in place; earlier reads keep their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
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


def written_and_read(rows: Any, count: Any) -> Any:
    array, total = listed(rows), tf.zeros([40])
    for i in tf.range(count):
        value = tf.tanh(rows[i])
        array = array.write(2 - i, value)
        total += array.read(0) * value
    return total, array.stack()


def appended_twice(rows: Any, count: Any) -> Any:
    """The list moves at the second `append`, while the first value has other readers."""
    states, state = [], rows[0]
    for i in tf.range(10 * count):
        value = tf.sin(state + tf.cast(i, tf.float32))
        states.append(value)
        states.append(value * 2)
        state = tf.reverse(value, [0])
    return state, tf.stack(states)


def in_two_lists(rows: Any, count: Any) -> Any:
    one, other, state = listed(rows), listed(rows), rows[0]
    for i in tf.range(count):
        before = one.read(i)
        state = tf.tanh(state + before)
        one = one.write(i, state)
        other = other.write(2 - i, state * before)
    return state, one.stack(), other.stack()


def under_two_names(rows: Any, count: Any) -> Any:
    one = listed(rows)
    other = one
    for i in tf.range(count):
        before = other.read(2 - i)
        value = tf.tanh(before)
        one = one.write(i, value)
        other = other.write(i, value + one.read(i) + before)
    return one.stack(), other.stack()


def in_branches(rows: Any, count: Any) -> Any:
    array, state = listed(rows), rows[0]
    for i in tf.range(count):
        value = tf.cos(rows[i])
        if i % 2 == 0:
            array = array.write(i, value * state)
            state = value + 1.0
        else:
            state = array.read(i - 1) + value
            array = array.write(i - 1, state)
    return state, array.stack()


def in_nested_loops(rows: Any, count: Any) -> Any:
    states, state = [], rows[0]
    for i in tf.range(count):
        value = tf.tanh(rows[i])
        states.append(value)
        for _ in tf.range(i + 17):
            states.append(value * state)
        state += value
    return state, tf.stack(states)


def factors(rows: Any, count: Any) -> Any:
    """A product reads the value from the list, and the next value overwrites the state."""
    array, state = tf.TensorArray(tf.float32, 3), rows
    for i in tf.range(count):
        value = tf.tanh(state)
        array = array.write(i, value)
        state = tf.matmul(value, value, transpose_a=True)[:3] + value
    return state, array.stack()


def of_few_elements(rows: Any, count: Any) -> Any:
    """The state is so small that it has one buffer, which is written at the end of an iteration."""
    states, state = [], rows[0, :3]
    for i in tf.range(count + 2):
        states.append(state * 2)
        state = tf.reverse(state, [0]) + tf.cast(i, tf.float32)
        states.append(state)
    return state, tf.stack(states)


ITERATING = [
    written_and_read,
    appended_twice,
    in_two_lists,
    under_two_names,
    in_branches,
    in_nested_loops,
    factors,
]


@pytest.mark.parametrize("program", [*ITERATING, of_few_elements])
def test_values_computed_in_lists_agree_with_the_interpreter(program: Any) -> None:
    graph = tf.function(program).get_concrete_function(tf.constant(ROWS), tf.constant(3)).graph
    given = [ROWS, np.int32(3)]
    for one, other in zip(JitFunction(graph).run(given), interpret(graph, given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_a_list_is_read_without_copies_while_another_one_grows() -> None:
    """Both have elements of one type. The value is computed in the list, where the product reads it."""

    def program(rows: Any, kernel: Any, count: Any) -> Any:
        given, made, total = [], [], tf.zeros([40])
        for i in tf.range(count):
            given.append(rows[i] * 2)
        for i in tf.range(count):
            value = tf.tanh(given[i])
            made.append(value)
            total += tf.linalg.matvec(kernel, value)
        return total, tf.stack(made)

    given = map(tf.constant, (ROWS, np.eye(40, dtype=np.float32), 3))
    written = compile_graph.text(tf.function(program).get_concrete_function(*given).graph)
    assert len(re.findall(rf"memcpy.*i64 {ROWS[0].nbytes}", written)) == 1  # the sum, to the result
