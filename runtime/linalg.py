"""The module `tf.linalg`: operations on vectors and matrices, by TensorFlow's names."""

from __future__ import annotations

from .missing_names import explain as _explain
from .ops.banded import banded_triangular_solve
from .ops.bands import eigh_tridiagonal, tridiagonal_matmul, tridiagonal_solve
from .ops.clipping import global_norm
from .ops.creation import eye
from .ops.decomposing import cholesky, eigh, eigvalsh, logdet, qr, svd
from .ops.diagonals import adjoint, band_part, cross, matrix_transpose, trace
from .ops.factoring import (
    cholesky_solve,
    lstsq,
    lu,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_rank,
    normalize,
    pinv,
)  # fmt: skip
from .ops.linalg import det, inv, slogdet, solve, triangular_solve
from .ops.many_diagonals import diag, diag_part, set_diag
from .ops.matrix_functions import eig, eigvals, expm, logm, sqrtm, tensor_diag, tensor_diag_part
from .ops.norms import l2_normalize, norm
from .ops.products import einsum, matmul, matvec, tensordot

__all__ = [
    "adjoint", "band_part", "banded_triangular_solve", "cholesky", "cholesky_solve", "cross", "det", "diag",
    "diag_part", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "einsum", "expm", "eye",
    "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize",
    "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part",
    "tensordot", "trace", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]  # fmt: skip

_explain(__name__)
