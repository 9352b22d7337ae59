"""The products that a loop adds up are made at once, after the loop that stores their factors."""

from __future__ import annotations

from collections.abc import Callable

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import OptimizerOptions, delay_loop_matmul, optimize
from support.verifier import verify

STEPS, ROWS, UNITS = 11, 6, 48  # more steps than a loop is written out for
EXECUTED = ("plan", "native", "interpret")
Program = Callable[..., object]


def state(sequence: tf.Tensor, kernel: tf.Tensor, steps: object = STEPS) -> tf.Tensor:
    """The last state of a recurrent network."""
    state = tf.zeros([ROWS, UNITS], sequence.dtype)
    for i in tf.range(steps):
        state = tf.tanh(sequence[i] @ kernel + state @ kernel)
    return state


def gradient(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        loss = tf.reduce_sum(state(sequence, kernel) ** 2)
    return tape.gradient(loss, kernel)


def arguments(dtype: object = np.float32, units: int = UNITS) -> tuple[tf.Tensor, tf.Tensor]:
    random = np.random.default_rng(1)
    sequence = random.standard_normal((STEPS, ROWS, units)).astype(dtype)
    return tf.constant(sequence), tf.constant(random.standard_normal((units, units)).astype(dtype) / 10)


def sums_left(program: Program, *given: tf.Tensor) -> tuple[Graph, int]:
    """The graph of a program after the pass, and how many products with a transposed factor its loops have."""
    graph = verify(delay_loop_matmul.run(optimize(tf.function(program).get_concrete_function(*given).graph)))
    bodies = [each.regions[1] for each in graph.walk() if each.type == "while"]
    inside = [each for body in bodies for each in body.live_operations() if each.type == "matmul"]
    return graph, sum(each.attrs["transpose_a"] for each in inside)


def results(graph: Graph, *given: tf.Tensor) -> dict[str, np.ndarray]:
    return {name: EXECUTORS[name](graph)([value.numpy() for value in given])[0] for name in EXECUTED}


@pytest.mark.parametrize(("dtype", "exact"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_the_gradient_of_a_matrix_is_one_product(dtype: object, exact: float) -> None:
    given = arguments(dtype)
    graph, left = sums_left(gradient, *given)
    assert left == 0
    expected = gradient(*given).numpy()
    for found in results(graph, *given).values():
        np.testing.assert_allclose(found, expected, rtol=exact, atol=exact * np.abs(expected).max())


def stored(graph: Graph) -> int:
    """Return how many factors the loops of a graph store for products after them."""
    return sum(each.type == "array_write" for each in graph.walk())


def test_factors_that_the_loop_reads_in_order_are_not_stored() -> None:
    """The gradient reads the sequence and the list of states backwards, and stores the other factor so."""
    graph, _ = sums_left(gradient, *arguments())
    assert stored(graph) == 1


def test_the_loop_stores_rows_that_it_reads_in_another_order() -> None:
    def program(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        sum_ = tf.zeros([UNITS, UNITS])
        for i in tf.range(STEPS):
            sum_ += tf.matmul(sequence[i], sequence[STEPS - 1 - i], transpose_a=True)
            sum_ += tf.matmul(sequence[i], sequence[i // 2], transpose_a=True)
        return sum_ + kernel

    given = arguments()
    graph, left = sums_left(program, *given)
    assert (left, stored(graph)) == (0, 2)
    expected = program(*given).numpy()
    for found in results(graph, *given).values():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_a_list_that_is_longer_than_the_loop_is_not_read_as_a_whole() -> None:
    def program(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        rows = []
        for i in tf.range(STEPS + 2):
            rows.append(sequence[i % STEPS] * 2.0)
        sum_ = tf.zeros([UNITS, UNITS])
        for _ in tf.range(STEPS):
            row = rows.pop()
            sum_ += tf.matmul(row, row, transpose_a=True)
        return sum_ + kernel + rows[0][0]

    given = arguments()
    graph, left = sums_left(program, *given)
    assert (left, stored(graph)) == (0, 1)
    expected = tf.function(program)(*given).numpy()
    for found in results(graph, *given).values():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def total(row: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], first: float = 0.0) -> Program:
    """A program that adds products of the rows of its sequence to a first value."""

    def program(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        sum_ = kernel * first if first else tf.zeros([UNITS, UNITS])
        for i in tf.range(STEPS):
            sum_ += row(sequence[i], kernel)
        return sum_

    return program


def square(row: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    return tf.matmul(row, row, transpose_a=True)


def test_the_sum_starts_with_its_first_value() -> None:
    sequence, kernel = arguments()
    graph, left = sums_left(total(square, 2.0), sequence, kernel)
    assert left == 0
    expected = 2 * kernel.numpy() + np.einsum("sri,srj->ij", sequence.numpy(), sequence.numpy())
    for found in results(graph, sequence, kernel).values():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def stops_early(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    sum_, i = tf.zeros([UNITS, UNITS]), 0
    while i < STEPS and tf.reduce_sum(sequence[i]) < 50.0:
        sum_ += square(sequence[i], kernel)
        i += 1
    return sum_


def reads_the_sum(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    sum_, most = tf.zeros([UNITS, UNITS]), 0.0
    for i in tf.range(STEPS):
        sum_ += square(sequence[i], kernel)
        most = tf.maximum(most, tf.reduce_max(sum_))
    return sum_ * most


def reads_the_product(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    sum_, last = tf.zeros([UNITS, UNITS]), tf.zeros([UNITS, UNITS])
    for i in tf.range(STEPS):
        last = square(sequence[i], kernel)
        sum_ += last
    return sum_ * last


def makes_its_rows(sequence: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    sum_, row = tf.zeros([UNITS, UNITS]), tf.zeros([ROWS, UNITS])
    for _ in tf.range(STEPS):
        row = tf.tanh(row + kernel[:ROWS])
        sum_ += square(row, kernel)
    return sum_


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(stops_early, id="a loop that may stop"),
        pytest.param(reads_the_sum, id="a sum that is read"),
        pytest.param(reads_the_product, id="a product that is read"),
        pytest.param(makes_its_rows, id="a loop that reads no rows"),
        pytest.param(total(lambda row, k: tf.matmul(k, k * row[0], transpose_a=True)), id="a fixed factor"),
        pytest.param(
            total(lambda row, k: tf.matmul(row[:1, :8], row[:1, :8], transpose_a=True)[0, 0] + k),
            id="another shape",
        ),
        pytest.param(
            total(lambda row, k: tf.matmul(row[:1], row[:1], transpose_a=True)), id="a small product"
        ),
    ],
)
def test_other_sums_stay_in_their_loops(program: Program) -> None:
    given = arguments()
    graph, left = sums_left(program, *given)
    assert left == 1
    expected = program(*given).numpy()  # type: ignore[attr-defined]
    for found in results(graph, *given).values():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_count_that_is_not_known_keeps_its_gradient(steps: int) -> None:
    def program(sequence: tf.Tensor, kernel: tf.Tensor, steps: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            loss = tf.reduce_sum(state(sequence, kernel, steps) ** 2)
        return tape.gradient(loss, kernel)

    given = (*arguments(), tf.constant(steps))
    graph, left = sums_left(program, *given)
    assert left == 2
    expected = program(*given).numpy() if steps else np.zeros((UNITS, UNITS))
    for found in results(graph, *given).values():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_loop_optimization_false_disables_the_pass() -> None:
    graph = optimize(tf.function(gradient).get_concrete_function(*arguments()).graph)
    assert delay_loop_matmul.run(graph, OptimizerOptions(loop_optimization=False)) is graph
    assert delay_loop_matmul.run(graph, OptimizerOptions()) is not graph
