"""Linear algebra: results put back into the equations that define them; shapes known in part; refusals."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.builder import Builder
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.linalg.einsum import einsum_shape
from agc.runtime.ops.linalg.matmul import matrix_product
from support.matrices import DTYPES, close, matrices


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses_and_solutions(dtype: Any) -> None:
    a, b = matrices(dtype, 2, 3, 3), matrices(dtype, 2, 3, 4)
    close(tf.linalg.inv(a) @ a, np.broadcast_to(np.eye(3), (2, 3, 3)))
    close(a @ tf.linalg.solve(a, b), b)
    close(tf.linalg.adjoint(a) @ tf.linalg.solve(a, b, adjoint=True), b)
    close(np.triu(a) @ tf.linalg.triangular_solve(a, b, lower=False), b)
    sign, size = tf.linalg.slogdet(a)
    close(sign * tf.exp(size), tf.linalg.det(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("full", [False, True])
def test_factors_multiply_to_the_matrix(dtype: Any, rows: int, columns: int, full: bool) -> None:
    a = matrices(dtype, 2, rows, columns)
    q, r = tf.linalg.qr(a, full_matrices=full)
    close(q @ r, a)
    s, u, v = tf.linalg.svd(a, full_matrices=full)
    inner = s.shape[-1]
    close(
        u.numpy()[..., :inner]
        * s.numpy()[..., None, :]
        @ np.conj(np.swapaxes(v.numpy()[..., :inner], -1, -2)),
        a,
    )
    assert q.shape[-1] == (rows if full else inner)


@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian_matrices(dtype: Any) -> None:
    b = matrices(dtype, 2, 3, 3)
    a = b @ np.conj(np.swapaxes(b, -1, -2)) + np.eye(3, dtype=dtype)
    lower = tf.linalg.cholesky(a)
    close(lower @ tf.linalg.adjoint(lower), a)
    values, vectors = tf.linalg.eigh(a)
    close(a @ vectors.numpy(), vectors.numpy() * values.numpy()[..., None, :])
    close(tf.linalg.logdet(a), np.log(np.linalg.det(a).real))


@pytest.mark.parametrize(
    "flags", [{}, {"transpose_a": True}, {"adjoint_b": True}, {"transpose_b": True, "adjoint_a": True}]
)
def test_products_of_batches(flags: dict[str, bool]) -> None:
    a, b = matrices(np.complex128, 2, 3, 3), matrices(np.complex128, 3, 3)
    left = np.swapaxes(a, -1, -2) if "transpose_a" in flags or "adjoint_a" in flags else a
    right = np.swapaxes(b, -1, -2) if "transpose_b" in flags or "adjoint_b" in flags else b
    left, right = (
        (left.conj() if "adjoint_a" in flags else left),
        (right.conj() if "adjoint_b" in flags else right),
    )
    close(tf.matmul(a, b, **flags), left @ right)


@pytest.mark.parametrize(
    ("a", "b", "product"),
    [
        ((None, 3), (3, 5), (None, 5)),
        ((7, None, 3), (None, 5), (7, None, 5)),
        ((1, 2, 3), (None, 3, 4), (None, 2, 4)),
        (None, (3, 5), None),
    ],
)
def test_shapes_of_products(a: Any, b: Any, product: Any) -> None:
    assert matrix_product(a, b) == product


@pytest.mark.parametrize(
    ("equation", "shapes", "result"),
    [
        ("ij,jk->ik", [(2, None), (3, 4)], (2, 4)),
        ("ij,jk", [(2, 3), (3, 4)], (2, 4)),
        ("ba", [(2, 3)], (3, 2)),
        ("...ij->...ji", [(None, 2, 3)], (None, 3, 2)),
        ("i...->...", [None], None),
        ("ii->", [(2, 2)], ()),
        ("i,j->ij", [None, (2,)], (None, 2)),
    ],
)
def test_shapes_of_einsum(equation: str, shapes: list[Any], result: Any) -> None:
    assert einsum_shape(equation, shapes) == result


@pytest.mark.parametrize(
    "call",
    [
        lambda m: tf.matmul(m([2]), m([2, 2])),
        lambda m: tf.matmul(m([2, 3]), m([2, 3])),
        lambda m: tf.linalg.matvec(m([2, 3]), m([2])),
        lambda m: tf.linalg.inv(m([2, 3])),
        lambda m: tf.linalg.inv(m([2])),
        lambda m: tf.linalg.solve(m([2, 2]), m([2])),
        lambda m: tf.linalg.diag_part(m([2])),
        lambda m: tf.linalg.diag_part(m([2, 2]), k=2),
        lambda m: tf.linalg.set_diag(m([2, 2]), m([3])),
        lambda m: tf.linalg.cross(m([2]), m([2])),
        lambda m: tf.tensordot(m([2, 3]), m([2, 3]), [[1], [1, 0]]),
        lambda m: tf.einsum("ij,jk->ik", m([2, 3]), m([2, 3])),
        lambda m: tf.einsum("ij->i", m([2])),
        lambda m: tf.nn.bias_add(m([2, 3]), m([2])),
        lambda m: tf.nn.softmax(m([])),
    ],
)
def test_mismatched_shapes_are_refused_eagerly_and_in_graphs(call: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(lambda shape: tf.zeros(shape))
    with Builder("f") as builder, pytest.raises(ValueError, match="op "):
        call(lambda shape: builder.input_tensor("x", TensorType(tf.float32, tuple(shape))))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("flags", [{}, {"transpose_b": True}, {"adjoint_b": True}], ids=str)
def test_the_gradient_of_one_matrix_for_a_batch_is_one_product(dtype: Any, flags: dict[str, bool]) -> None:
    a, weights = matrices(dtype, 2, 3, 4, 5), matrices(dtype, 2, 3, 4, 6)
    b = matrices(dtype, *((6, 5) if flags else (5, 6)))

    def gradient(b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(b)
            y = tf.reduce_sum(tf.matmul(a, b, **flags) * weights)
        return tape.gradient(y, b)

    each = gradient(tf.broadcast_to(b, [2, 3, *b.shape]))
    close(gradient(tf.constant(b)), tf.reduce_sum(each, [0, 1]))
    graph = tf.function(gradient).get_concrete_function(tf.TensorSpec(b.shape, b.dtype)).graph
    products = [each for each in graph.operations if each.type == "matmul"]
    assert products[-1].outputs[0].shape == b.shape


def test_a_singular_matrix_has_no_inverse() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv([[1.0, 1.0], [1.0, 1.0]])


EXECUTORS = {"eager": None, "plan": {"jit_compile": False}, "native": {"jit_compile": True}}


def run(how: str, program: Any, *arguments: Any) -> Any:
    return (program if how == "eager" else tf.function(program, **EXECUTORS[how]))(*arguments)


@pytest.mark.parametrize("how", EXECUTORS)
@pytest.mark.parametrize("name", ["inv", "lu", "eigvalsh", "solve"])
def test_nan_is_refused_where_lapack_would_return_other_numbers(how: str, name: str) -> None:
    function = getattr(tf.linalg, name)
    arguments = [tf.constant([[np.nan, 1.0], [1.0, 2.0]])] * (1 + (name == "solve"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="contains NaN"):
        run(how, function, *arguments)


@pytest.mark.parametrize("how", EXECUTORS)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_matrices_with_nan_or_infinity_give_nan_and_their_neighbors_results(how: str, number: float) -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 3.0]], np.float32)
    batch = tf.constant([matrix, [[1.0, number], [2.0, 3.0]]])
    functions = [
        lambda x: tf.linalg.svd(x, compute_uv=False),
        lambda x: tf.linalg.svd(x)[0],
        lambda x: tf.linalg.svd(x)[2],
        tf.linalg.pinv,
        tf.linalg.expm,
        lambda x: tf.math.real(tf.linalg.logm(tf.cast(x, tf.complex64))),
    ]
    for one, whole in zip(
        run(how, lambda x: [f(x) for f in functions], tf.constant(matrix[None])),
        run(how, lambda x: [f(x) for f in functions], batch),
        strict=True,
    ):
        np.testing.assert_array_equal(whole[0], one[0])
        assert np.isnan(whole[1]).all()
    assert run(how, tf.linalg.matrix_rank, batch).numpy().tolist() == [2, 0]


@pytest.mark.parametrize("how", EXECUTORS)
def test_the_sign_of_a_determinant_that_is_nan_is_nan(how: str) -> None:
    sign, size = run(
        how, tf.linalg.slogdet, tf.constant([[[1.0, np.nan], [2.0, 3.0]], [[1.0, 2.0], [2.0, 4.0]]])
    )
    np.testing.assert_array_equal(sign, [np.nan, 0])
    np.testing.assert_array_equal(size, [np.nan, -np.inf])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "columns"), [(30, 2), (100, 250)])
@pytest.mark.parametrize("lower", [True, False])
def test_large_triangles(dtype: Any, size: int, columns: int, lower: bool) -> None:
    a, b = matrices(dtype, size, size) + size * np.eye(size, dtype=dtype), matrices(dtype, 2, size, columns)
    half = np.tril(a) if lower else np.triu(a)
    close(half @ tf.linalg.triangular_solve(a, b, lower=lower), b)
    close(np.conj(half.T) @ tf.linalg.triangular_solve(a, b, lower=lower, adjoint=True), b)
    a[3, 3] = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.triangular_solve(a, b, lower=lower)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: tf.reverse(a, [0]),
        lambda a: tf.reverse(a, [0, 1]),
        lambda a: tf.transpose(tf.reverse(a, [0])),
        lambda a: tf.broadcast_to(a[:1], a.shape),
    ],
)
def test_a_large_triangle_may_be_a_view(view: Any) -> None:
    a = view(tf.constant(matrices("float64", 130, 130) + 130.0 * (np.eye(130) + np.eye(130)[::-1])))
    b = matrices("float64", 130, 2)
    close(tf.linalg.triangular_solve(a, b), tf.linalg.triangular_solve(tf.constant(np.array(a)), b))


@pytest.mark.parametrize("how", EXECUTORS)
def test_nan_and_infinity_reach_the_unknowns_that_depend_on_them(how: str) -> None:
    matrix = tf.constant([[1.0, np.nan, np.nan], [1.0, np.inf, 0.0], [2.0, 0.0, 1.0]])
    sides = tf.constant([[1.0, 1.0], [3.0, 3.0], [4.0, np.nan]])
    found = run(how, tf.linalg.triangular_solve, matrix, sides)
    np.testing.assert_array_equal(found, [[1.0, 1.0], [0.0, 0.0], [2.0, np.nan]])
    sides = tf.constant([[1.0, 1.0]] * 30 + [[1.0, np.nan]] * 10)
    found = run(how, tf.linalg.triangular_solve, tf.eye(40), sides)
    np.testing.assert_array_equal(found, sides)


def test_the_spectral_norm_of_nan_is_nan() -> None:
    a = np.stack([np.eye(2), [[np.nan, 1.0], [2.0, 3.0]]])
    np.testing.assert_array_equal(tf.norm(a, 2, axis=(1, 2)), [1.0, np.nan])


def test_a_norm_of_matrices_has_axes_in_range() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axes \[-2, -1\] are out of range .* rank 0"):
        tf.norm(1.0, 2, axis=(-2, -1))


def test_norms_of_matrices() -> None:
    a = matrices(np.float64, 2, 3, 4)
    for order, numpys in (("fro", "fro"), ("euclidean", "fro"), (1, 1), (2, 2), (np.inf, np.inf)):
        close(tf.norm(a, order, axis=(-2, -1)), np.linalg.norm(a, numpys, axis=(-2, -1)))
        assert tf.norm(a, order, axis=[0, 2], keepdims=True).shape.as_list() == [1, 3, 1]


@pytest.mark.parametrize("traced", [False, True])
def test_products_of_bytes_in_int32(traced: bool) -> None:
    def product(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, transpose_b=True, output_type="int32")

    call = tf.function(product) if traced else product
    signed = tf.constant([[100, 100]], tf.int8)
    unsigned = tf.constant([[200, 1]], tf.uint8)
    for other, expected in ((signed, 20_000), (unsigned, 20_100)):
        result = call(signed, other)
        assert result.dtype is tf.int32
        assert result.numpy() == [[expected]]
    assert tf.matmul([[1.0]], [[2.0]], output_type=tf.float32).numpy() == [[2]]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="a factor of float32 gives no product of float16"
    ):
        tf.matmul([[1.0]], [[2.0]], output_type=tf.float16)


def test_hints_of_sparse_factors_have_no_effect() -> None:
    a = tf.constant([[1.0, 0.0]])
    assert tf.matmul(a, a, False, True, False, False, True, True, None).numpy() == [[1]]
    assert tf.matmul(a, a, transpose_b=True, a_is_sparse=True, grad_a=True).numpy() == [[1]]


def test_limits_of_pinv_are_as_many_as_matrices() -> None:
    a, limits = tf.ones([2, 3]), tf.constant([0.1, 0.2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"rcond of shape \(2,\) .* batch shape \(\)"):
        tf.linalg.pinv(a, limits)
    unknown = tf.function(tf.linalg.pinv, input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rcond of shape"):
        unknown(a, limits)
    assert tf.linalg.pinv(tf.ones([2, 2, 3]), limits).shape == (2, 3, 2)
    assert unknown(a, tf.constant(0.1)).shape == (3, 2)
