"""Memory is overwritten in place only after its last read, under whichever alias.

Updates of some elements, loops and branches take the memory of what they are given, where that is read for the last
time. A view, an expression that is not computed yet, and the result of a branch may still have to read it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.ir.graph import Graph
from hypothesis import given, settings
from support.matrix_graphs import inputs, matrix_graphs
from support.random_graphs import many

Program = Callable[[Any, Any], Any]
PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


def update(x: Any) -> Any:
    """Set two elements to other numbers: in the memory of `x`, if it may be overwritten."""
    return tf.tensor_scatter_nd_update(x, [[0], [3]], [100.0, 200.0])


def rows(x: Any) -> Any:
    return tf.TensorArray(tf.float64, 3, clear_after_read=False, element_shape=x.shape).unstack(
        [x, x * 2, x * 3]
    )


@program
def a_view_is_read_behind_an_update(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    matrix, flat = tf.reshape(a, [2, -1]), tf.expand_dims(a, 0)
    return update(a), matrix, flat


@program
def the_view_is_updated(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    matrix = tf.reshape(a, [2, -1])
    return tf.tensor_scatter_nd_update(matrix, [[0]], [matrix[1]]), a


@program
def an_update_takes_its_numbers_from_what_it_replaces(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    column = tf.reshape(a, [-1, 1])
    places = tf.constant([[1], [2]]) + tf.cast(column[:2] * 0.0, tf.int32)
    return tf.tensor_scatter_nd_update(a, places, tf.reshape(column, [-1])[:2])


@program
def a_branch_updates_what_an_expression_reads(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    double, b = a * 2.0, tf.sort(x)
    turned = b[::-1]
    return (double - update(a), turned - update(b)) if n > 0 else (double, turned)


@program
def a_branch_updates_the_expression_itself(x: Any, n: Any) -> Any:
    double = tf.cumsum(x) * 2.0
    turned = double[::-1]
    return update(double) + turned if n > 0 else turned


@program
def a_view_is_read_behind_a_branch(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    matrix = tf.reshape(a, [2, -1])
    if n > 0:
        a = update(a)
    return a, matrix


@program
def what_a_branch_had_computed_has_a_view(x: Any, n: Any) -> Any:
    dear = tf.exp(tf.sin(x))
    a = dear if n > 0 else dear * 2.0
    matrix = tf.reshape(dear, [2, -1])
    return update(dear), matrix, a


@program
def a_branch_gives_the_same_memory(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    if n > 0:
        same, view = a, tf.reshape(a, [2, -1])
    else:
        same, view = tf.sort(a), tf.reshape(a[::-1], [2, -1])
    return update(a), same, view


@program
def a_view_is_read_behind_a_loop(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    matrix = tf.reshape(a, [2, -1])
    for _ in tf.range(n):
        a = update(a) + 1.0
    return a, matrix


@program
def a_loop_reads_an_expression_of_what_it_starts_with(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    double = a * 2.0
    for _ in tf.range(n):
        a = update(a) * 0.5 + double
    return a


@program
def a_loop_begins_with_constants(x: Any, n: Any) -> Any:
    few, many = tf.constant(np.arange(4.0)), tf.constant(np.arange(24.0))
    a, b, c = few, many, many
    for _ in tf.range(n):
        a, b, c = tf.reverse(a, [0]) + x[:4], update(b) + c, tf.cumsum(c)
    return a, b, c, few * x[:4], many * x


@program
def states_are_expressions_of_each_other(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    b = a * 2.0
    c = b[::-1]
    for _ in tf.range(n):
        a, b, c = update(b) + c, update(a), tf.sin(a)
    return a, b, c


@program
def a_branch_in_a_loop(x: Any, n: Any) -> Any:
    a = tf.cumsum(x)
    for i in tf.range(n):
        double = a * 2.0
        a = update(a) + double if i > 0 else double
    return a


@program
def inner_loops_start_with_what_was_before(x: Any, n: Any) -> Any:
    a = total = tf.cumsum(x)
    zeros = tf.zeros_like(a)
    for _ in tf.range(n):
        now, sums = a, zeros
        for _ in tf.range(2):
            now, sums = update(now) + total, update(sums) + now
        total += now + sums
    return total, a, zeros


@program
def elements_of_lists(x: Any, n: Any) -> Any:
    array = rows(x)
    element, double = array.read(1), array.read(1) * 2.0
    if n > 0:
        array = array.write(1, x + double)
    for _ in tf.range(n):
        array = array.write(1, update(array.read(1)) + double)
    return array.stack(), element


@program
def versions_of_lists(x: Any, n: Any) -> Any:
    array = rows(x)
    a = tf.cumsum(x)
    other = array.write(0, a)
    return array.write(0, update(a)).stack(), other.stack(), a


@program
def sizes_that_only_show_while_it_runs(x: Any, n: Any) -> Any:
    a = tf.boolean_mask(x, x > 0.0)
    zeros, double = tf.zeros_like(a), a * 2.0
    b, column = zeros, tf.reshape(a, [-1, 1])
    for _ in tf.range(n):
        a, b = a + double + zeros, b + a
        for _ in tf.range(2):
            zeros = zeros + 1.0
    if n > 1:
        b = double - b
    return a, b, zeros, column


def all_stacked(x: Any) -> tuple[Any, Any]:
    kept = tf.TensorArray(tf.float64, 3, clear_after_read=False)
    for i in tf.range(3):
        x = update(x) * 0.5
        kept = kept.write(i, x)
    return kept, x


@program
def a_stacked_list_changes_behind_it(x: Any, n: Any) -> Any:
    kept, last = all_stacked(x)
    before = kept.stack()
    kept = kept.write(0, last * 9.0)
    return before, kept.stack(), tf.reshape(before, [-1])


@program
def a_stacked_list_is_read_and_updated_as_a_tensor(x: Any, n: Any) -> Any:
    kept, last = all_stacked(x)
    stacked = kept.stack()
    return stacked, tf.tensor_scatter_nd_update(stacked, [[1]], [last]), kept.read(1), stacked[1]


@program
def one_stacked_list_is_two_results(x: Any, n: Any) -> Any:
    kept, last = all_stacked(x)
    stacked = kept.stack()
    return (
        stacked,
        tf.expand_dims(stacked, 0),
        stacked,
        tf.cond(n > 0, lambda: stacked, lambda: stacked * last),
    )


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_live_arrays_are_not_overwritten(function: Program) -> None:
    x = np.random.default_rng(0).standard_normal(24)
    graph = tf.function(function).get_concrete_function(tf.constant(x), tf.constant(0)).graph
    native = JitFunction(graph)
    for n in (0, 1, 3):
        agrees(native, graph, [x, np.array(n, np.int32)])


def test_an_update_reuses_the_memory_of_a_dead_value() -> None:
    def again_and_again(x: Any) -> Any:
        x = tf.cumsum(x)
        for _ in tf.range(3):
            x = update(update(x))
        return update(x)

    graph = tf.function(again_and_again).get_concrete_function(tf.TensorSpec([200], tf.float64)).graph
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert unit.slots == []  # all of it uses the memory of the result


@settings(max_examples=many(25))
@given(matrix_graphs(exact=True))
def test_native_code_agrees_on_random_graphs(graph: Graph) -> None:
    agrees(JitFunction(graph), graph, inputs())


def agrees(native: JitFunction, graph: Graph, values: list[Any]) -> None:
    """Native code gives what the interpreter gives; it does not change what it is given."""
    for value in values:
        value.flags.writeable = False
    wanted = [np.array(each) for each in interpret(graph, [value.copy() for value in values])]
    first, second = native.run(values), native.run(values)
    for one, other, expected in zip(first, second, wanted, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-12)
        np.testing.assert_array_equal(other, one)
