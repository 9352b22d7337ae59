"""Shapes that depend on integers: the graph is compiled for their values, as it is for shapes."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import CompilationError, JitFunction

X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize(
    "program, argument",
    [
        (lambda x, n: tf.zeros([n, 2]) + x[0, 1], 3),
        (lambda x, n: tf.range(n) * n, 5),
        (lambda x, n: tf.range(n, 20, 2), 5),
        (lambda x, n: tf.fill([n], x[0, 2]), 2),
        (lambda x, n: tf.reshape(x, [n, -1]), 6),
        (lambda x, n: tf.reshape(x, n), [2, 6]),
        (lambda x, n: x[:n] + x[-n:], 2),
        (lambda x, n: tf.tile(x, [n, 1]), 2),
        (lambda x, n: tf.one_hot([0, 2], n), 3),
        (lambda x, n: tf.concat([x, tf.ones([n, 3])], 0), 1),
    ],
)
def test_integers_that_reach_shapes(program: Any, argument: Any) -> None:
    arrays = [X, np.asarray(argument, np.int32)]
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    native = JitFunction(graph)
    (found,), (wanted,) = native.run(arrays), interpret(graph, arrays)
    np.testing.assert_array_equal(found, wanted)
    assert native._plan is None and native.by_value == (1,)


def test_only_integers_that_shapes_depend_on_are_specialized() -> None:
    def program(x: Any, n: Any, k: Any) -> Any:
        return tf.reduce_sum(x[:n]) * tf.cast(k, tf.float32)

    native = JitFunction(
        tf.function(program).get_concrete_function(tf.constant(X), 2 + tf.constant(0), tf.constant(1)).graph
    )
    numbers = [(2, 1), (2, 5), (3, 5), (2, -1)]
    found = [float(native.run([X, np.int32(n), np.int32(k)])[0]) for n, k in numbers]
    assert found == [15.0, 75.0, 180.0, -15.0]
    assert native.by_value == (1,) and len(native._code) == 2


def test_code_for_a_pattern_of_shapes_does_not_run_without_the_values() -> None:
    """Code with sizes in registers takes all inputs, and code for values leaves them out: each gets its own."""
    size = tf.TensorSpec([], tf.int32)
    resized = tf.function(lambda x, *sizes: tf.reshape(x, sizes) * 2.0)
    native = JitFunction(resized.get_concrete_function(tf.TensorSpec([None, None]), size, size).graph)
    matrix, nothing = (
        [np.ones((3, 4), np.float32), *np.int32([6, 2])],
        [np.ones((1, 0), np.float32), *np.int32([0, 5])],
    )
    native.generalized(matrix, ((-1, -2), (), ()))
    for arguments, shape in [(matrix, (6, 2)), (nothing, (0, 5)), (matrix, (6, 2))]:
        (found,) = native.run(arguments)
        assert np.array_equal(found, np.full(shape, 2.0))
    assert native.by_value


def test_shape_queries_are_constants() -> None:
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None])])
    def asked(x: Any) -> Any:
        return tf.range(tf.size(x)), tf.zeros([tf.shape(x)[0] * tf.rank(x)]), tf.reshape(x, [-1, 2])

    assert [part.shape.as_list() for part in asked(tf.ones([4]))] == [[4], [4], [2, 2]]
    assert [part.shape.as_list() for part in asked(tf.ones([6]))] == [[6], [6], [3, 2]]


def test_variables_are_assigned_and_errors_are_the_plans() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def add(n: Any, x: Any) -> Any:
        v.assign_add(tf.reshape(tf.ones([n]) * x, [2]))
        return v + 0

    assert add(tf.constant(2), tf.constant(3.0)).numpy().tolist() == [4.0, 5.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)reshape.*test_value_specialization.py"):
        add(tf.constant(3), tf.constant(3.0))
    assert v.numpy().tolist() == [4.0, 5.0]


@pytest.mark.parametrize(
    ("shape", "size"),
    [(lambda n: tf.stack([n]), 12), (lambda n: [n, 3], 4), (lambda n: [2, n, 3], 2)],
)
def test_a_size_that_follows_from_the_others_is_checked(shape: Any, size: int) -> None:
    reshaped = tf.function(lambda n: tf.reshape(tf.constant(X), shape(n)), jit_compile=True)
    for n in (size, -1):
        np.testing.assert_array_equal(reshaped(tf.constant(n)).numpy().ravel(), X.ravel())
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
        reshaped(tf.constant(5))


def test_variables_are_not_specialized_by_value() -> None:
    size = tf.Variable(2)

    @tf.function(jit_compile=True)
    def grown(n: Any) -> Any:
        size.assign_add(n)
        return tf.range(size)

    assert [grown(tf.constant(n)).numpy().tolist() for n in (1, 1, -1)] == [
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2],
    ]
    assert int(size) == 3


def test_the_reason_is_that_of_the_specialized_graph() -> None:
    @tf.function(jit_compile=True)
    def printed(n: Any) -> Any:
        tf.print(n)
        return tf.zeros([n])

    with pytest.raises(CompilationError) as caught:
        printed(tf.constant(2))
    assert len(caught.value.reasons) == 1 and "print" in caught.value.reasons[0]
