"""The module `tf.linalg`: operations on vectors and matrices, with TensorFlow's names."""
# Namespace linalg: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.arrays.creation import eye
from .ops.linalg.banded_solve import banded_triangular_solve
from .ops.linalg.decompositions import cholesky, eigh, eigvalsh, logdet, qr, svd
from .ops.linalg.diagonals import adjoint, band_part, cross, matrix_transpose, trace
from .ops.linalg.einsum import einsum
from .ops.linalg.inverse_and_det import det, inv, slogdet, solve, triangular_solve
from .ops.linalg.lu_and_lstsq import (
    cholesky_solve, lstsq, lu, lu_matrix_inverse, lu_reconstruct, lu_solve, matrix_rank, normalize, pinv,
)
from .ops.linalg.matmul import matmul, matvec
from .ops.linalg.matrix_diag import diag, diag_part, set_diag
from .ops.linalg.matrix_functions import eig, eigvals, expm, logm, sqrtm, tensor_diag, tensor_diag_part
from .ops.linalg.tensordot import tensordot
from .ops.linalg.tridiagonal import eigh_tridiagonal, tridiagonal_matmul, tridiagonal_solve
from .ops.math.clip import global_norm
from .ops.reduce.norms import l2_normalize, norm

_LATE = {
    "LinearOperator": ".linear_operator.operator",
    "LinearOperatorAdjoint": ".linear_operator.wrappers",
    "LinearOperatorBlockDiag": ".linear_operator.block_diag",
    "LinearOperatorBlockLowerTriangular": ".linear_operator.block_lower_triangular",
    "LinearOperatorCirculant": ".linear_operator.circulant",
    "LinearOperatorCirculant2D": ".linear_operator.circulant",
    "LinearOperatorCirculant3D": ".linear_operator.circulant",
    "LinearOperatorComposition": ".linear_operator.composition",
    "LinearOperatorDiag": ".linear_operator.diag",
    "LinearOperatorFullMatrix": ".linear_operator.dense",
    "LinearOperatorHouseholder": ".linear_operator.householder",
    "LinearOperatorIdentity": ".linear_operator.identity",
    "LinearOperatorInversion": ".linear_operator.wrappers",
    "LinearOperatorKronecker": ".linear_operator.kronecker",
    "LinearOperatorLowRankUpdate": ".linear_operator.low_rank_update",
    "LinearOperatorLowerTriangular": ".linear_operator.dense",
    "LinearOperatorPermutation": ".linear_operator.permutation",
    "LinearOperatorScaledIdentity": ".linear_operator.identity",
    "LinearOperatorToeplitz": ".linear_operator.toeplitz",
    "LinearOperatorTridiag": ".linear_operator.tridiag",
    "LinearOperatorZeros": ".linear_operator.zeros",
    "experimental": ".linear_operator.experimental:",
}

__all__ = [
    *_LATE, "adjoint", "band_part", "banded_triangular_solve", "cholesky", "cholesky_solve", "cross", "det",
    "diag", "diag_part", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "einsum", "expm", "eye",
    "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize",
    "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part",
    "tensordot", "trace", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]

_explain(__name__, late=_LATE)
