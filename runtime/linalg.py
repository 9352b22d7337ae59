"""The module `tf.linalg`: operations on vectors and matrices, with TensorFlow's names."""
# Namespace linalg: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain, places as _places


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
    ".ops.arrays.creation": "eye",
    ".ops.linalg.banded_solve": "banded_triangular_solve",
    ".ops.linalg.decompositions": "cholesky eigh eigvalsh logdet qr svd",
    ".ops.linalg.diagonals": "adjoint band_part cross matrix_transpose trace",
    ".ops.linalg.einsum": "einsum",
    ".ops.linalg.inverse_and_det": "det inv slogdet solve triangular_solve",
    ".ops.linalg.lu_and_lstsq":
        "cholesky_solve lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matrix_rank normalize pinv",
    ".ops.linalg.matmul": "matmul matvec",
    ".ops.linalg.matrix_diag": "diag diag_part set_diag",
    ".ops.linalg.matrix_functions": "eig eigvals expm logm sqrtm tensor_diag tensor_diag_part",
    ".ops.linalg.tensordot": "tensordot",
    ".ops.linalg.tridiagonal": "eigh_tridiagonal tridiagonal_matmul tridiagonal_solve",
    ".ops.math.clip": "global_norm",
    ".ops.reduce.norms": "l2_normalize norm",
})

__all__ = [
    *_LATE,
]

_explain(__name__, late=_LATE)
