"""One operator of each class and shape, for the tests of `tf.linalg.LinearOperator`."""

import agc.runtime as tf
import numpy as np

linalg = tf.linalg
FULL = linalg.LinearOperatorFullMatrix


class Numbers:
    """Random arrays of one dtype, the same at each use."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype).type
        self.random = np.random.default_rng(7)

    def __call__(self, *shape):
        numbers = self.random.standard_normal(shape)
        if self.is_complex:
            numbers = numbers + 1j * self.random.standard_normal(shape)
        return numbers.astype(self.dtype)

    @property
    def is_complex(self):
        return issubclass(self.dtype, np.complexfloating)

    def full(self, *shape):
        return FULL(self(*shape))

    def spectrum(self, *shape):
        """The Fourier transform of numbers of the dtype, so that they are the elements of the matrix."""
        wide = np.complex64 if self.dtype in (np.float32, np.complex64) else np.complex128
        return np.fft.fftn(self(*shape), axes=range(1, len(shape))).astype(wide)


def diag(of, *shape):
    return linalg.LinearOperatorDiag(of(*shape))


# name → a function of Numbers. The last letter tells of square matrices, rectangles, and singular squares.
OPERATORS = {
    "identity": lambda of: linalg.LinearOperatorIdentity(4, batch_shape=[2], dtype=of.dtype),
    "scaled": lambda of: linalg.LinearOperatorScaledIdentity(4, of(2)),
    "zeros": lambda of: linalg.LinearOperatorZeros(4, batch_shape=[2], dtype=of.dtype),
    "zeros, wide": lambda of: linalg.LinearOperatorZeros(
        3, 4, dtype=of.dtype, is_square=False, is_self_adjoint=False
    ),
    "diag": lambda of: diag(of, 2, 4),
    "lower": lambda of: linalg.LinearOperatorLowerTriangular(of(2, 4, 4)),
    "full": lambda of: of.full(2, 4, 4),
    "full, wide": lambda of: of.full(3, 4),
    "update": lambda of: linalg.LinearOperatorLowRankUpdate(of.full(4, 4), of(2, 4, 2), of(2), of(1, 4, 2)),
    "update, symmetric": lambda of: linalg.LinearOperatorLowRankUpdate(diag(of, 4), of(4, 1)),
    "update, wide": lambda of: linalg.LinearOperatorLowRankUpdate(of.full(3, 4), of(3, 1), v=of(4, 1)),
    "composition": lambda of: linalg.LinearOperatorComposition(
        [of.full(2, 4, 4), diag(of, 4), of.full(1, 4, 4)]
    ),
    "composition, wide": lambda of: linalg.LinearOperatorComposition([of.full(3, 5), of.full(2, 5, 4)]),
    "composition, square": lambda of: linalg.LinearOperatorComposition([of.full(4, 5), of.full(5, 4)]),
    "blocks": lambda of: linalg.LinearOperatorBlockDiag([of.full(2, 2, 2), diag(of, 1, 2)]),
    "blocks, wide": lambda of: linalg.LinearOperatorBlockDiag([of.full(1, 2), of.full(2, 2, 2)]),
    "block rows": lambda of: linalg.LinearOperatorBlockLowerTriangular(
        [[of.full(2, 2)], [of.full(2, 1, 2), of.full(1, 1)], [of.full(1, 2), of.full(1, 1), diag(of, 1)]]
    ),
    "kronecker": lambda of: linalg.LinearOperatorKronecker([of.full(2, 2, 2), of.full(2, 2)]),
    "kronecker of three": lambda of: linalg.LinearOperatorKronecker(
        [of.full(2, 1, 1), diag(of, 2), of.full(2, 2)]
    ),
    "kronecker, wide": lambda of: linalg.LinearOperatorKronecker([of.full(1, 2), of.full(3, 2)]),
    "adjoint": lambda of: linalg.LinearOperatorAdjoint(of.full(2, 4, 4)),
    "adjoint, wide": lambda of: linalg.LinearOperatorAdjoint(of.full(4, 3)),
    "inversion": lambda of: linalg.LinearOperatorInversion(of.full(2, 4, 4)),
    "adjoint of inversion": lambda of: linalg.LinearOperatorAdjoint(
        linalg.LinearOperatorInversion(linalg.LinearOperatorLowerTriangular(of(4, 4)))
    ),
    "householder": lambda of: linalg.LinearOperatorHouseholder(of(2, 4)),
    "permutation": lambda of: linalg.LinearOperatorPermutation([2, 0, 3, 1], dtype=of.dtype),
    "permutations": lambda of: linalg.LinearOperatorPermutation([[2, 0, 3, 1], [1, 0, 2, 3]], dtype=of.dtype),
    "toeplitz": lambda of: linalg.LinearOperatorToeplitz(of(2, 4), of(4)),
    "tridiagonal": lambda of: linalg.LinearOperatorTridiag(of(2, 3, 4)),
    "tridiagonal, sequence": lambda of: linalg.LinearOperatorTridiag([of(4), of(2, 4), of(1, 4)], "sequence"),
    "tridiagonal, matrix": lambda of: linalg.LinearOperatorTridiag(of(4, 4), "matrix"),
    "circulant": lambda of: linalg.LinearOperatorCirculant(of.spectrum(2, 4), of.dtype),
    "circulant 2d": lambda of: linalg.LinearOperatorCirculant2D(of.spectrum(2, 2, 2), of.dtype),
    "circulant 3d": lambda of: linalg.LinearOperatorCirculant3D(of.spectrum(2, 1, 2, 2), of.dtype),
    "circulant, real": lambda of: linalg.LinearOperatorCirculant(
        np.array([3, 1, 2, 1], np.abs(of()).dtype), of.dtype
    ),
}
SINGULAR = {"zeros"}


def is_invertible(name, operator):
    return operator.shape[-1] == operator.shape[-2] and name not in SINGULAR


def adjoint(array):
    return np.conj(np.swapaxes(array, -1, -2))
