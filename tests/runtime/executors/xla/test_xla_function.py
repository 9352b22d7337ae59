"""`tf.function(jit_compile="xla")`: whole graphs as XLA programs, with state, control flow and errors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import agc.runtime as tf
import jax
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError
from agc.runtime.executors.xla import XlaFunction

XLA = {"jit_compile": "xla"}


def test_loops_and_branches_run_as_one_program() -> None:
    @tf.function(**XLA)
    def collatz(n: Any) -> Any:
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    assert int(collatz(tf.constant(27))) == 111
    assert int(collatz(tf.constant(27, tf.int64))) == 111


@pytest.mark.parametrize(("size", "operation"), [(4, "stablehlo.select"), (4000, "stablehlo.case")])
def test_small_cheap_branches_are_selected(size: int, operation: str) -> None:
    def clipped(x: Any) -> Any:
        return x - 1.0 if x[0] > 0 else x * 2.0

    x = np.linspace(1, 2, size, dtype=np.float32)
    function = XlaFunction(tf.function(clipped).get_concrete_function(x).graph)
    np.testing.assert_array_equal(function.run([x])[0], x - 1)
    np.testing.assert_array_equal(function.run([-x])[0], -x * 2)
    (program,) = function._programs.values()
    assert operation in program._jitted.lower(x).as_text()


def test_each_combination_of_shapes_has_a_program() -> None:
    @tf.function(**XLA, input_signature=[tf.TensorSpec([None, None])])
    def product(x: Any) -> Any:
        return tf.matmul(x, x, transpose_b=True)

    for rows in (1, 2, 3):
        x = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        np.testing.assert_array_equal(product(x), x @ x.T)


def test_variables_are_assigned_when_the_run_has_succeeded() -> None:
    total = tf.Variable([0, 0])

    @tf.function(**XLA)
    def shared(xs: Any, n: Any) -> Any:
        total.assign_add(xs)
        return total // n

    assert shared([4, 6], 2).numpy().tolist() == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        shared([1, 1], 0)
    # The plan runs a failing call: the assignment before the division stays, as in every executor.
    assert total.numpy().tolist() == [5, 7]


def test_a_band_beyond_the_matrix_is_the_plans_error() -> None:
    banded = tf.function(lambda x, n: tf.linalg.band_part(x, n, -1), jit_compile="xla")
    x = tf.ones([2, 4])
    assert banded(x, tf.constant(2)).numpy().tolist() == x.numpy().tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most the number of rows"):
        banded(x, tf.constant(3))


def test_failed_checks_name_the_line() -> None:
    @tf.function(**XLA)
    def chosen(x: Any, i: Any) -> Any:
        for _ in tf.range(3):
            x += x[i]
        return x

    assert chosen(tf.constant([1, 2]), tf.constant(-1)).numpy().tolist() == [15, 16]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)out of bounds.*test_xla_function.py:\d+, in chosen"
    ):
        chosen(tf.constant([1, 2]), tf.constant(2))


def test_assertions_may_have_a_message() -> None:
    @tf.function(**XLA)
    def checked(x: Any) -> Any:
        tf.debugging.assert_greater(x, 0.0, message="x is to be positive")
        return x + 1.0

    np.testing.assert_array_equal(checked(tf.constant([1.0, 2.0])), [2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is to be positive"):
        checked(tf.constant([1.0, 0.0]))


def test_checks_in_the_test_of_a_loop_end_it() -> None:
    @tf.function(**XLA)
    def halved(x: Any, n: Any) -> Any:
        while x // n > 1:
            x -= 1
        return x

    assert int(halved(tf.constant(9), tf.constant(3))) == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        halved(tf.constant(9), tf.constant(0))


def test_shapes_may_depend_on_integers_that_are_inputs() -> None:
    @tf.function(**XLA, input_signature=[tf.TensorSpec([6]), tf.TensorSpec([], tf.int32)])
    def rows(x: Any, n: Any) -> Any:
        return tf.reshape(x, [n, -1]) + 1

    x = np.arange(6, dtype=np.float32)
    assert rows(x, 2).shape == (2, 3)
    np.testing.assert_array_equal(rows(x, 3), x.reshape(3, 2) + 1)


def test_graphs_with_unknown_shapes_are_refused_with_the_lines() -> None:
    @tf.function(**XLA)
    def distinct(x: Any) -> Any:
        return tf.unique(x).y

    with pytest.raises(
        CompilationError, match=r'(?s)by XLA, as jit_compile="xla" demands.*xla_function.py.*unique'
    ):
        distinct([1, 2, 1])


@pytest.mark.parametrize("program", [
    lambda texts: tf.equal(texts, "b"),
    tf.math.count_nonzero,
    tf.size,
    lambda texts, state=tf.Variable(["a", "b"]): tf.size(state),  # noqa: B008 - a variable of strings
    lambda texts: tf.constant("c"),
])  # fmt: skip
def test_strings_are_refused(program: Any) -> None:
    with pytest.raises(CompilationError, match="strings, which XLA programs do not"):
        tf.function(program, **XLA)(tf.constant(["a", "b"]))


def test_shapes_that_a_branch_refuses_are_refused_with_its_line() -> None:
    @tf.function(**XLA, input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([])])
    def product(x: Any, c: Any) -> Any:
        if c > 0:
            return tf.matmul(x, tf.ones([3, 2]))
        return x[:, :2]

    assert product(tf.ones([2, 3]), 1.0).shape == (2, 2)
    with pytest.raises(CompilationError, match=r"test_xla_function.py:\d+, in product: matmul: these shapes"):
        product(tf.ones([2, 2]), -1.0)


def test_shapes_that_an_operation_refuses_raise_its_error() -> None:
    @tf.function(**XLA, input_signature=[tf.TensorSpec([None, None])])
    def product(x: Any) -> Any:
        return tf.matmul(x, tf.ones([3, 2]))

    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible") as error:
        product(tf.ones([2, 2]))
    assert not isinstance(error.value, CompilationError)


def test_results_that_are_larger_than_the_memory_raise_the_error_of_the_operation() -> None:
    @tf.function(**XLA)
    def stitched(rows: Any) -> Any:
        return tf.dynamic_stitch([[2**30, 0]], [rows])[:1]

    with pytest.raises(tf.errors.ResourceExhaustedError, match="Unable to allocate"):
        stitched(tf.zeros([2, 1_000_000]))


def test_gradients_of_a_program_are_programs() -> None:
    @tf.function(**XLA)
    def loss(w: Any) -> Any:
        return tf.reduce_sum(tf.exp(w) * w)

    w = tf.constant([0.5, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(w)
        value = loss(w)
    np.testing.assert_allclose(tape.gradient(value, w), np.exp(w) * (w + 1), rtol=1e-6)


def test_types_of_64_bits_exist_within_programs_only() -> None:
    double = tf.function(lambda x: x * 2, **XLA)
    assert double(np.float64(0.1)).dtype is tf.float64
    assert int(double(np.int64(1 << 40))) == 1 << 41
    assert not jax.config.jax_enable_x64
    assert jax.numpy.ones(2, dtype=float).dtype == np.float32


def test_jax_is_imported_by_programs_only() -> None:
    code = """
import sys
import agc.runtime as tf
assert float(tf.function(lambda x: x + 1)(1.0)) == 2 and "jax" not in sys.modules
double = tf.function(lambda x: x * 2, jit_compile="xla")
assert "jax" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_compilers_are_refused() -> None:
    with pytest.raises(ValueError, match='"native" or "xla", not "gcc"'.replace('"gcc"', "'gcc'")):
        tf.function(lambda x: x, jit_compile="gcc")


def test_images_are_resized_with_smoothing():
    x = tf.reshape(tf.range(24.0), [1, 4, 3, 2])
    expected = tf.image.resize(x, [2, 5], "lanczos3", antialias=True)
    resized = tf.function(
        lambda x: tf.image.resize(x, [2, 5], "lanczos3", antialias=True), jit_compile="xla"
    )(x)
    np.testing.assert_allclose(resized, expected, rtol=1e-5)
