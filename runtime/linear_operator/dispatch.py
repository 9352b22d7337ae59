"""Functions of tensors that take operators: `tf.matmul(operator, x)`, `tf.linalg.inv(operator)`, ….

The keys of `FUNCTIONS` are the names of the operations; the values get the same arguments.
"""

from __future__ import annotations

from typing import Any

from ..ops.linalg.diagonals import adjoint as conjugate_transpose


def _is_operator(x: Any) -> bool:
    return hasattr(x, "solvevec")


def _matmul(
    a: Any, b: Any, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool, name: Any
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if _is_operator(a):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return conjugate_transpose(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def _matvec(a: Any, b: Any, transpose_a: bool, adjoint_a: bool, name: Any) -> Any:
    if transpose_a:
        raise ValueError("Transposing not supported at this time.")
    if not _is_operator(a):
        raise ValueError("Passing in `a` as a Tensor and `b` as a LinearOperator is not supported.")
    return a.matvec(b, adjoint=adjoint_a)


def _solve(matrix: Any, rhs: Any, adjoint: bool, name: Any) -> Any:
    if not _is_operator(matrix):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint)


def _matrix_transpose(a: Any, name: Any, conjugate: bool) -> Any:
    if not conjugate:
        raise ValueError("Transposing not supported at this time.")
    return a.adjoint()


FUNCTIONS = {
    "matmul": _matmul,
    "matvec": _matvec,
    "solve": _solve,
    "matrix_transpose": _matrix_transpose,
    "cholesky": lambda input, name: input.cholesky(),
    "det": lambda input, name: input.determinant(),
    "diag_part": lambda input, *others: input.diag_part(),
    "identity": lambda input, name: input,
    "inv": lambda input, adjoint, name: (input.adjoint() if adjoint else input).inverse(),
}
