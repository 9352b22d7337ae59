"""Linear algebra in native code: NumPy's own LAPACK, so that results are the interpreter's to the last bit."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.executors.llvm.lowering import lapack

RNG = np.random.default_rng(4)
SQUARE = RNG.normal(size=(3, 5, 5))
RIGHT = RNG.normal(size=(3, 5, 2))
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(5)
needs_lapack = pytest.mark.skipif(
    lapack.find() is None, reason="NumPy here brings no LAPACK that can be found"
)


def solutions(a: Any, b: Any) -> Any:
    return [tf.linalg.solve(a, b, adjoint=adjoint) for adjoint in (False, True)]


def inverses(a: Any) -> Any:
    return tf.linalg.inv(a), tf.linalg.inv(a[0], adjoint=True)


def orthogonal(a: Any) -> Any:
    """Square, tall and wide matrices, whose further columns are asked for or not."""
    parts = [tf.linalg.qr(a), tf.linalg.qr(a[:, :3]), tf.linalg.qr(a[0, :, :3], full_matrices=True)]
    return tf.nest.flatten([*parts, tf.linalg.qr(a[..., :1], full_matrices=True)])


def factors(a: Any) -> Any:
    return tf.linalg.cholesky(a), tf.linalg.logdet(a[1])


def determinants(a: Any) -> Any:
    return [tf.linalg.det(a), *tf.linalg.slogdet(a), tf.linalg.det(a[0])]


def as_dtype(array: Any, dtype: Any) -> Any:
    """Complex numbers get an imaginary part; hermitian matrices stay what they are."""
    if dtype is np.complex128 and array is not POSITIVE:
        return array * (1 + 0.1j)
    return array.astype(dtype)


@needs_lapack
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize(
    ("program", "arrays"), [(solutions, [SQUARE, RIGHT]), (inverses, [SQUARE]), (orthogonal, [SQUARE])]
)
def test_the_same_functions_give_the_same_bits(program: Any, arrays: list[Any], dtype: Any) -> None:
    arrays = [as_dtype(array, dtype) for array in arrays]
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    for found, wanted in zip(JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


@needs_lapack
@pytest.mark.parametrize(
    ("program", "array", "bound"),
    [
        (factors, POSITIVE, 1e-14),
        (factors, POSITIVE.astype(np.float32), 1e-6),
        (factors, POSITIVE.astype(np.complex128), 1e-14),
        (determinants, SQUARE, 1e-14),
        (determinants, SQUARE.astype(np.float32), 1e-6),
    ],
)
def test_slogdet_adds_logarithms_in_lapacks_order(program: Any, array: Any, bound: float) -> None:
    graph = tf.function(program).get_concrete_function(tf.constant(array)).graph
    for found, wanted in zip(JitFunction(graph).run([array]), interpret(graph, [array]), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=bound)


@needs_lapack
def test_a_step_of_newton_s_method_is_compiled_with_its_gradient() -> None:
    def program(a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((a, b))
            factor = tf.linalg.cholesky(a)
            y = tf.linalg.cholesky_solve(factor, b) + tf.linalg.inv(a) @ b
            loss = tf.reduce_sum(y * y) + tf.linalg.logdet(a)[0]
        return tape.gradient(loss, (a, b))

    graph = tf.function(program).get_concrete_function(tf.constant(POSITIVE), tf.constant(RIGHT)).graph
    arrays = [POSITIVE, RIGHT]
    for found, wanted in zip(JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@needs_lapack
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (tf.linalg.inv, "not invertible, or not valid"),
        (tf.linalg.cholesky, "Cholesky decomposition was not successful. The input might not be valid"),
        (lambda a: tf.linalg.solve(a, a), "not invertible, or not valid"),
    ],
)
def test_a_singular_matrix_is_the_plans_error(program: Any, message: str) -> None:
    array = np.array([[1.0, 2.0], [2.0, 4.0]])
    if program is tf.linalg.cholesky:
        array[1, 1] = -4.0
    graph = tf.function(program).get_concrete_function(tf.constant(array)).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        JitFunction(graph).run([array])


def decomposed(a: Any) -> Any:
    return [
        *tf.linalg.eigh(a @ tf.linalg.matrix_transpose(a)),
        *tf.linalg.qr(a),
        *tf.linalg.qr(a[0, :, :2], full_matrices=True),
        *tf.linalg.svd(a[0, :3]),
        *tf.linalg.svd(a[0, :3], full_matrices=True),
        tf.linalg.svd(a, compute_uv=False),
    ]


@needs_lapack
def test_decompositions_of_real_matrices() -> None:
    graph = tf.function(decomposed).get_concrete_function(tf.constant(SQUARE)).graph
    for found, wanted in zip(JitFunction(graph).run([SQUARE]), interpret(graph, [SQUARE]), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


@needs_lapack
@pytest.mark.parametrize(("size", "is_native"), [(96, True), (97, False)])
def test_native_code_leaves_matrices_that_threads_would_share_to_the_kernel(
    size: int, is_native: bool
) -> None:
    """Threads of OpenBLAS wait for each other: while other processes are busy, that takes 200 times as long."""
    graph = (
        tf.function(tf.linalg.cholesky).get_concrete_function(tf.TensorSpec([size, size], tf.float64)).graph
    )
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert ("agc_dpotrf" in unit.symbols) == is_native
    unit.forget()


@needs_lapack
@pytest.mark.parametrize(("shape", "is_native"), [((90, 91), True), ((90, 92), False), ((200, 7, 7), False)])
def test_native_code_leaves_many_and_large_matrices_to_the_kernel(
    shape: tuple[int, ...], is_native: bool
) -> None:
    graph = tf.function(tf.linalg.qr).get_concrete_function(tf.TensorSpec(shape, tf.float64)).graph
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    assert ("agc_dgeqrf" in unit.symbols) == is_native
    unit.forget()
