"""Nests of loops of native code that differ in sizes and addresses alone are compiled once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.executors.llvm.codegen import function_builder, outlining

RANDOM = np.random.default_rng(0)


def updates(a: Any, b: Any, c: Any) -> Any:
    """Each by itself: a nest of one loop."""
    return [0.9 * each - 0.1 * tf.square(each) for each in (a, b, c)]


def rows(a: Any, b: Any, c: Any) -> Any:
    """Sums in registers, and in memory beside each other."""
    return [
        tf.reduce_sum(tf.square(each) + each, axis) for each in (a, b, c) for axis in range(each.shape.rank)
    ]


def with_numbers(a: Any, b: Any, c: Any) -> Any:
    """What is passed may be a number in a register, too."""
    return [(each - tf.reduce_mean(a)) * tf.reduce_max(each) for each in (a, b, c)]


def other_operations(a: Any, b: Any, c: Any) -> Any:
    """What differs in an operation, or in a number that is not counted with, stays apart."""
    return 0.9 * a + 0.1 * tf.square(a), 0.9 * b - 0.1 * tf.square(b), 0.8 * c - 0.1 * tf.square(c)


#           program           functions of twins for matrices and for vectors of these sizes
PROGRAMS = [
    (updates, 1, 1),
    (rows, 2, 1),
    (with_numbers, 2, 2),
    (other_operations, 0, 0),
]
MATRICES = (70, 80), (96, 128), (100, 65)
VECTORS = (7,), (1000,), (64,)


def of_shapes(program: Callable[..., Any], shapes: Any, dtype: Any) -> tuple[Any, list[Any]]:
    """A program's graph, and inputs for it."""
    inputs = [RANDOM.standard_normal(shape).astype(dtype) for shape in shapes]
    return tf.function(program).get_concrete_function(*map(tf.constant, inputs)).graph, inputs


@pytest.mark.parametrize(("program", "of_matrices", "of_vectors"), PROGRAMS)
@pytest.mark.parametrize("shapes", [MATRICES, VECTORS])
def test_merged_bodies_compute_the_same_results(
    program: Callable[..., Any], of_matrices: int, of_vectors: int, shapes: Any
) -> None:
    graph, inputs = of_shapes(program, shapes, np.float64)
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    found = [name for name in unit.module.globals if name.startswith("twins")]
    assert len(found) == (of_matrices if shapes is MATRICES else of_vectors)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-12, atol=1e-12)


def test_merged_nests_may_work_in_place() -> None:
    def squares(a: Any, b: Any, c: Any) -> Any:
        products = [tf.matmul(each, each, transpose_b=True) for each in (a, b, c)]
        return [tf.matmul(tf.square(each) - 2.0 * each, each + 1.0) for each in products]

    graph, inputs = of_shapes(squares, MATRICES, np.float64)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9)


def test_elements_of_merged_nests_equal_the_interpreters() -> None:
    graph, inputs = of_shapes(lambda *xs: [x * 3 - 7 for x in xs], [(5,), (30, 40), (600,)], np.int32)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize(("sizes", "are_merged"), [((300, 400), False), ((600, 700), True)])
def test_nests_in_loops_are_merged_if_they_are_worth_a_call(sizes: tuple[int, int], are_merged: bool) -> None:
    def repeated(a: Any, b: Any, n: Any) -> Any:
        for _ in tf.range(n):
            a, b = 0.9 * a - tf.square(a), 0.9 * b - tf.square(b)
        return a, b

    n = np.array(3, np.int32)
    inputs = [*(RANDOM.standard_normal(size) for size in sizes), n]
    specs = [*(tf.TensorSpec([size], tf.float64) for size in sizes), tf.TensorSpec([], tf.int32)]
    graph = tf.function(repeated).get_concrete_function(*specs).graph
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert any(name.startswith("twins") for name in unit.module.globals) == are_merged
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_the_nests_of_a_large_function_become_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also nests that note a failure or a sum in a variable of the function."""

    def different(x: Any, i: Any) -> Any:
        picked = tf.gather(x, i)
        return tf.reduce_sum(picked * x), tf.reduce_max(tf.sin(x) - picked, 1), tf.cumsum(x * x)

    inputs = [RANDOM.standard_normal((40, 30)), np.arange(40, dtype=np.int32)[::-1]]
    graph = tf.function(different).get_concrete_function(*map(tf.constant, inputs)).graph
    specs = [value.spec for value in graph.inputs]
    assert "nest" not in compile_graph.lowered(graph, specs).module.globals
    monkeypatch.setattr(outlining, "LARGE", 1)
    module = compile_graph.lowered(graph, specs).module
    assert "nest" in module.globals
    assert "llvm.loop" not in str(module.globals["kernel"])
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9)
    assert JitFunction(graph).run([inputs[0], inputs[1] % 7])[0].shape == ()
    with pytest.raises(tf.errors.InvalidArgumentError, match="40"):
        JitFunction(graph).run([inputs[0], inputs[1] + 1])


def test_the_sum_of_rows_in_a_loop_becomes_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost counts all columns of a row, though each row is a loop of its own."""

    def repeated(x: Any, n: Any) -> Any:
        total = tf.zeros([100], tf.float64)
        for _ in tf.range(n):
            total += tf.reduce_sum(x * total[0], 0)
        return total

    specs = tf.TensorSpec([20, 100], tf.float64), tf.TensorSpec([], tf.int32)
    graph = tf.function(repeated).get_concrete_function(*specs).graph
    monkeypatch.setattr(outlining, "LARGE", 1)
    module = compile_graph.lowered(graph, [value.spec for value in graph.inputs]).module
    assert "fadd" in str(module.globals["nest"])


def test_nests_of_little_cost_are_not_vectorized(monkeypatch: pytest.MonkeyPatch) -> None:
    """A nest of 10 elements next to one of 20,000; but not in a small function, whose nests all matter."""

    def different(x: Any, y: Any) -> Any:
        return tf.abs(x) * 2.0, tf.reduce_sum(tf.exp(y))

    inputs = [RANDOM.standard_normal(20_000), RANDOM.standard_normal(10)]
    graph = tf.function(different).get_concrete_function(*map(tf.constant, inputs)).graph
    specs = [value.spec for value in graph.inputs]
    assert "vectorize.enable" not in compile_graph.lowered(graph, specs).text()
    monkeypatch.setattr(outlining, "LARGE", 1)
    text = compile_graph.lowered(graph, specs).text()
    assert text.count('!"llvm.loop.vectorize.enable", i1 false') == 1
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9)


def test_the_cost_of_a_nest_counts_the_loops_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A convolution of each channel has a loop over the channels in those over rows and columns."""

    def different(x: Any, w: Any, y: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID"), tf.nn.relu(y * y + y) * y

    specs = [tf.TensorSpec(shape) for shape in ([1, 7, 7, 512], [5, 5, 512, 1], [30_000])]
    graph = tf.function(different).get_concrete_function(*specs).graph
    monkeypatch.setattr(outlining, "LARGE", 1)
    assert (
        "vectorize.enable" not in compile_graph.lowered(graph, [value.spec for value in graph.inputs]).text()
    )


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_equal_bodies_of_parallel_loops_are_one_function(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large nests with the same body share a function for threads; small ones share another."""
    monkeypatch.setattr(function_builder, "count_of_threads", lambda: 2)
    shapes = (400, 512), (30,), (700, 300), (5, 7)

    def stepped(*xs: Any) -> Any:
        *others, last = xs
        return [*(0.9 * x - 0.1 * tf.square(x) for x in others), 0.9 * last - rate * tf.square(last)]

    inputs = [RANDOM.standard_normal(shape) for shape in shapes]
    graph = tf.function(stepped).get_concrete_function(*map(tf.constant, inputs)).graph
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    names = [name for name in unit.module.globals if name.startswith(("part", "twins"))]
    assert names == (["part", "twins"] if rate == 0.1 else ["part"])
    assert unit.text().count('call void @"agc_run_parts"(') == 2
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-12)


def test_bodies_of_parallel_loops_that_differ_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(function_builder, "count_of_threads", lambda: 2)

    def stepped(one: Any, other: Any, third: Any) -> Any:
        return [0.9 * one - 0.1 * one * one, 0.8 * other - 0.1 * other * other, 0.9 * third + 0.1 * third]

    inputs = [RANDOM.standard_normal((rows, 512)) for rows in (400, 500, 600)]
    graph = tf.function(stepped).get_concrete_function(*map(tf.constant, inputs)).graph
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert sum(name.startswith("part") for name in unit.module.globals) == 3
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-12)
