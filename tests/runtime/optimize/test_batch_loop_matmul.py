"""The products of the rows of a sequence are made at once, before the loop that goes through them."""

from __future__ import annotations

from collections.abc import Callable

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import OptimizerOptions, batch_loop_matmul, optimize
from support.verifier import verify

Shape = tuple[int, ...]
STEPS, ROWS, INNER = 12, 48, 96  # more steps than a loop is written out for
BIG = 64  # columns, for products that are big enough; 8 are not
KNOWN = np.ones((INNER, BIG), np.float32)


def states(sequence: tf.Tensor, kernel: tf.Tensor, rounds: int = STEPS, first: int = 0) -> tf.Tensor:
    total = tf.zeros([sequence.shape[1], kernel.shape[1]], sequence.dtype)
    for i in tf.range(rounds):
        total = tf.tanh(total + sequence[first + i] @ kernel)
    return total


def arguments(columns: int = BIG, dtype: object = np.float32) -> tuple[tf.Tensor, tf.Tensor]:
    random = np.random.default_rng(1)
    sequence = random.standard_normal((STEPS, ROWS, INNER)).astype(dtype)
    return tf.constant(sequence), tf.constant(random.standard_normal((INNER, columns)).astype(dtype) / 50)


def batched(function: object, *given: tf.Tensor) -> tuple[Graph, bool]:
    """The graph of a function after the pass, and whether the loop has a product left."""
    graph = verify(batch_loop_matmul.run(optimize(tf.function(function).get_concrete_function(*given).graph)))
    (loop,) = (operation for operation in graph.operations if operation.type == "while")
    return graph, any(operation.type == "matmul" for operation in loop.regions[1].live_operations())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loop_reads_rows_of_one_batched_product(dtype: object) -> None:
    given = arguments(dtype=dtype)
    graph, has_product = batched(states, *given)
    assert not has_product
    assert [operation.type for operation in graph.operations[:3]] == ["reshape", "matmul", "reshape"]
    values = [value.numpy() for value in given]
    (found,), (expected,) = (EXECUTORS[name](graph)(values) for name in ("plan", "interpret"))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, states(*given).numpy(), rtol=1e-5, atol=1e-6)


def test_a_transposed_matrix_stays_transposed() -> None:
    def turned(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return states(sequence, tf.transpose(kernel))

    sequence, kernel = arguments()
    given = (sequence, tf.constant(kernel.numpy().T.copy()))
    graph, has_product = batched(turned, *given)
    assert not has_product
    (found,) = EXECUTORS["plan"](graph)([value.numpy() for value in given])
    np.testing.assert_allclose(found, turned(*given).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("executor", ["plan", "native"])
@pytest.mark.parametrize("shape", [(INNER, INNER), (3, INNER, INNER)])
def test_a_matrix_that_a_loop_reads_transposed_is_transposed_before_it(executor: str, shape: Shape) -> None:
    def program(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(STEPS):
            x = tf.tanh(tf.matmul(x, kernel, transpose_b=True))
        return x

    random = np.random.default_rng(1)
    given = [
        random.standard_normal(each).astype(np.float32) / 10 for each in ((*shape[:-2], 5, INNER), shape)
    ]
    graph, _ = batched(program, *map(tf.constant, given))
    (loop,) = (operation for operation in graph.operations if operation.type == "while")
    assert [each.attrs["transpose_b"] for each in loop.regions[1].operations if each.type == "matmul"] == [
        False
    ]
    (found,), (expected,) = (EXECUTORS[name](graph)(given) for name in (executor, "interpret"))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_row_with_other_uses_is_kept() -> None:
    def program(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        total, largest = tf.zeros([ROWS, BIG]), tf.constant(0.0)
        for i in tf.range(STEPS):
            row = sequence[i]
            total += row @ kernel
            largest = tf.maximum(largest, tf.reduce_max(row))
        return tf.reduce_sum(total) * 0 + largest

    graph, has_product = batched(program, *arguments())
    assert not has_product
    (found,) = EXECUTORS["plan"](graph)([value.numpy() for value in arguments()])
    assert found == arguments()[0].numpy().max()


def stops_early(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    total, i = tf.zeros([ROWS, BIG]), 0
    while i < STEPS and tf.reduce_sum(total) < 5.0:
        total += sequence[i] @ kernel
        i += 1
    return total


def products(row: Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]) -> object:
    """A program that adds up products, each of a row of the sequence."""

    def program(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        total = tf.zeros_like(row(sequence, kernel, tf.constant(0)))
        for i in tf.range(STEPS):
            total += row(sequence, kernel, i)
        return total

    return program


@pytest.mark.parametrize(
    ("program", "columns"),
    [
        pytest.param(states, 8, id="small products"),
        pytest.param(lambda xs, k: states(xs, k, rounds=11), BIG, id="a part of the sequence"),
        pytest.param(lambda xs, k: states(xs, k, rounds=11, first=1), BIG, id="another row"),
        pytest.param(stops_early, BIG, id="a loop that may stop"),
        pytest.param(products(lambda xs, k, i: xs[i, :, ::-1] @ k), BIG, id="rows that are turned round"),
        pytest.param(
            products(lambda xs, k, i: tf.matmul(xs[i], k[:ROWS], transpose_a=True)), BIG, id="turned rows"
        ),
        pytest.param(products(lambda xs, k, i: xs[i] @ tf.stack([k, k])), BIG, id="several matrices"),
        pytest.param(products(lambda xs, k, i: xs[i] @ KNOWN), BIG, id="a matrix of the program's own"),
    ],
)
def test_unsuitable_loops_are_not_batched(program: object, columns: int) -> None:
    _, has_product = batched(program, *arguments(columns))
    assert has_product


def test_loop_optimization_false_disables_batching() -> None:
    graph = optimize(tf.function(states).get_concrete_function(*arguments()).graph)
    assert batch_loop_matmul.run(graph, OptimizerOptions(loop_optimization=False)) is graph
    assert batch_loop_matmul.run(graph, OptimizerOptions()) is not graph
