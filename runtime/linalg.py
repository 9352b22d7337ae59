"""The module `tf.linalg`: operations on vectors and matrices, by TensorFlow's names."""

from __future__ import annotations

from .ops.clipping import global_norm
from .ops.creation import eye
from .ops.diagonals import adjoint, band_part, cross, diag, diag_part, matrix_transpose, set_diag, trace
from .ops.linalg import cholesky, det, eigh, eigvalsh, inv, logdet, qr, slogdet, solve, svd, triangular_solve
from .ops.norms import l2_normalize, norm
from .ops.products import einsum, matmul, matvec, tensordot

__all__ = [
    "adjoint", "band_part", "cholesky", "cross", "det", "diag", "diag_part", "eigh", "eigvalsh",
    "einsum", "eye", "global_norm", "inv", "l2_normalize", "logdet", "matmul", "matrix_transpose", "matvec",
    "norm", "qr", "set_diag", "slogdet", "solve", "svd", "tensordot", "trace", "triangular_solve",
]  # fmt: skip
