"""`tf.linalg.experimental.conjugate_gradient`, with states that TensorFlow 2.21 gives."""

import agc.runtime as tf
import numpy as np
import pytest

MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
KNOWN = {"is_self_adjoint": True, "is_positive_definite": True}
OPERATOR = tf.linalg.LinearOperatorFullMatrix(MATRIX, **KNOWN)
RHS = np.array([1.0, 2.0, 3.0])
solve = tf.linalg.experimental.conjugate_gradient


@pytest.mark.parametrize("run", [lambda f: f, tf.function])
@pytest.mark.parametrize("options, i, x, gamma", [
    ({"max_iter": 1}, 1, [0.28, 0.56, 0.84], 1.68),
    ({"max_iter": 2}, 2, [0.04923077, 0.32923077, 1.30153846], 0.34366864),
    ({"tol": 0.3}, 2, [0.04923077, 0.32923077, 1.30153846], 0.34366864),
    ({}, 3, [0.22222222, 0.11111111, 1.44444444], 0.0),
    ({"x": [1.0, 1.0, 1.0], "max_iter": 1}, 1, [0.13043478, 0.34782609, 1.0], 0.47258979),
])  # fmt: skip
def test_states(run, options, i, x, gamma):
    if "x" in options:
        options = {**options, "x": tf.constant(options["x"], tf.float64)}
    state = run(lambda rhs: solve(OPERATOR, rhs, **options))(tf.constant(RHS))
    assert int(state.i) == i
    np.testing.assert_allclose(state.x, x, 1e-6)
    np.testing.assert_allclose(state.gamma, gamma, 1e-6, 1e-12)
    np.testing.assert_allclose(state.r, RHS - MATRIX @ state.x.numpy(), 1e-6, 1e-12)


def test_preconditioners():
    approximate = tf.linalg.LinearOperatorDiag(tf.constant([0.25, 0.3, 0.5], tf.float64), **KNOWN)
    state = solve(OPERATOR, RHS, approximate, max_iter=1)
    np.testing.assert_allclose(state.x, [0.18757881, 0.45018916, 1.12547289], 1e-6)
    np.testing.assert_allclose(state.p, [-0.0422762, -0.18024597, 0.19653198], 1e-6)


def test_batches_and_complex_matrices():
    random = np.random.default_rng(1)
    root = random.standard_normal((2, 5, 5)) + 1j * random.standard_normal((2, 5, 5))
    matrix = root @ np.conj(np.swapaxes(root, -1, -2)) + np.eye(5)
    rhs = np.array([[1j, 2.0, 0.0, 1.0, 1.0]])
    solution = solve(tf.linalg.LinearOperatorFullMatrix(matrix, **KNOWN), rhs, tol=1e-12, max_iter=50).x
    np.testing.assert_allclose(
        solution, np.linalg.solve(matrix, np.broadcast_to(rhs, (2, 5))[..., None])[..., 0], 1e-6
    )


def test_a_batch_may_have_a_system_of_zeros():
    solution = solve(OPERATOR, np.stack([RHS, 0 * RHS])).x
    np.testing.assert_allclose(solution, [[2 / 9, 1 / 9, 13 / 9], [0, 0, 0]], 1e-6, 1e-12)


def test_other_operators_are_refused():
    plain = tf.linalg.LinearOperatorFullMatrix(MATRIX)
    with pytest.raises(ValueError, match="Expected a self-adjoint, positive definite operator"):
        solve(plain, RHS)
    with pytest.raises(ValueError, match="Expected a self-adjoint, positive definite preconditioner"):
        solve(OPERATOR, RHS, plain)
