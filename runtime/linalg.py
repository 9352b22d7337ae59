"""The module `tf.linalg`: operations on vectors and matrices, with TensorFlow's names."""
# Namespace linalg: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain, places as _places
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

_LATE = _places({
    ".linear_operator.block_diag": "LinearOperatorBlockDiag",
    ".linear_operator.block_lower_triangular": "LinearOperatorBlockLowerTriangular",
    ".linear_operator.circulant":
        "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D",
    ".linear_operator.composition": "LinearOperatorComposition",
    ".linear_operator.dense": "LinearOperatorFullMatrix LinearOperatorLowerTriangular",
    ".linear_operator.diag": "LinearOperatorDiag",
    ".linear_operator.experimental": "experimental=",
    ".linear_operator.householder": "LinearOperatorHouseholder",
    ".linear_operator.identity": "LinearOperatorIdentity LinearOperatorScaledIdentity",
    ".linear_operator.kronecker": "LinearOperatorKronecker",
    ".linear_operator.low_rank_update": "LinearOperatorLowRankUpdate",
    ".linear_operator.operator": "LinearOperator",
    ".linear_operator.permutation": "LinearOperatorPermutation",
    ".linear_operator.toeplitz": "LinearOperatorToeplitz",
    ".linear_operator.tridiag": "LinearOperatorTridiag",
    ".linear_operator.wrappers": "LinearOperatorAdjoint LinearOperatorInversion",
    ".linear_operator.zeros": "LinearOperatorZeros",
})

__all__ = [
    *_LATE, "adjoint", "band_part", "banded_triangular_solve", "cholesky", "cholesky_solve", "cross", "det",
    "diag", "diag_part", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "einsum", "expm", "eye",
    "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize",
    "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part",
    "tensordot", "trace", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]

_explain(__name__, late=_LATE)
