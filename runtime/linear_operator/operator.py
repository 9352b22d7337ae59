"""`LinearOperator`: (batches of) matrices that are given by what they do, with the linear algebra that follows from it.

    _shape, _matmul     ==>     to_dense, solve, determinant, trace, eigvals, cond, inverse, … of the dense matrix

A class gives these two methods, and those others for which it has something better than the dense matrix.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.module import Module
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..ops.arrays.creation import eye
from ..ops.arrays.shape_ops import size
from ..ops.assertions.value_assertions import assert_equal, assert_less, assert_positive
from ..ops.linalg.decompositions import cholesky, eigvalsh, svd
from ..ops.linalg.diagonals import adjoint as conjugate_transpose
from ..ops.linalg.inverse_and_det import det, slogdet
from ..ops.linalg.lu_and_lstsq import cholesky_solve
from ..ops.linalg.matrix_diag import diag_part as diagonal_of
from ..ops.math.elementwise import exp, log, real
from ..ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from . import hints, rules
from .batches import solve_with_broadcast
from .components import OperatorComponents
from .hints import Hint


def _property(attribute: str, doc: str) -> Any:
    return property(lambda self: getattr(self, attribute), doc=doc)


def _method(own: str, doc: str) -> Callable[..., Any]:
    """Return a method that calls another one, which subclasses may replace."""

    def method(self: LinearOperator, name: str = own[1:]) -> Any:
        return getattr(self, own)()

    method.__name__, method.__qualname__, method.__doc__ = own[1:], f"LinearOperator.{own[1:]}", doc
    return method


def _size(axis: int, doc: str) -> tuple[Any, Callable[..., Tensor]]:
    """Return a property and a method: the static size of an axis, and the size as a tensor."""

    def tensor(self: LinearOperator, name: str = "dimension_tensor") -> Tensor:
        return self.shape_tensor()[axis]

    tensor.__doc__ = f"Return {doc} as a scalar of int32."
    return property(lambda self: self.shape[axis], doc=f"{doc.capitalize()}; None if unknown."), tensor


@export("linalg.LinearOperator")
class LinearOperator(OperatorComponents, Module, metaclass=abc.ABCMeta):
    """Base class of matrices `[B1, ..., Bb, M, N]` that need not be stored as such.

    Args:
        dtype: the dtype of the elements, and of the tensors that the matrices are multiplied with.
        graph_parents: ignored.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints: True, False, or None if unknown.
            They are trusted, and choose faster algorithms. ValueError for hints that contradict each other.
        name: a name, by default that of the class.
        parameters: the arguments of the subclass's constructor, by default those that it was called with.

    A subclass has the methods `_shape` and `_matmul`; `_shape_tensor` if shapes may be unknown during tracing; and
    any of `_solve`, `_to_dense`, `_diag_part`, `_determinant`, … to replace what follows from the dense matrix.

    A function, branch or loop of `tf.function` carries an operator by the tensors among its arguments.

    >>> from agc.runtime import constant, reverse
    >>> class Flip(LinearOperator):
    ...     def __init__(self, size):
    ...         super().__init__("float32", is_self_adjoint=True)
    ...         self.size = size
    ...     def _shape(self):
    ...         return TensorShape([self.size, self.size])
    ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
    ...         return reverse(x, [-2])
    >>> flip = Flip(2)
    >>> flip.matvec([1., 2.]).numpy().tolist(), float(flip.determinant()), flip.is_square
    ([2.0, 1.0], -1.0, True)
    """

    def __init__(
        self, dtype: Any, graph_parents: Any = None,
        is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None,
        name: str | None = None, parameters: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        known = {"is_non_singular": is_non_singular, "is_square": is_square}
        why = "A {} matrix is always {}.".format
        hints.inherit(
            known, "is_non_singular", is_positive_definite, why("positive definite", "non-singular")
        )
        hints.inherit(known, "is_square", known["is_non_singular"], why("non-singular", "square"))
        hints.inherit(known, "is_square", is_self_adjoint, why("self-adjoint", "square"))
        self._dtype = dtypes.as_dtype(dtype)
        self._is_non_singular, self._given_is_square = known.values()
        self._is_self_adjoint, self._is_positive_definite = is_self_adjoint, is_positive_definite
        self._name = type(self).__name__ if name is None else name
        if parameters is not None:
            self._parameters = dict(parameters)

    dtype = _property("_dtype", "The dtype of the elements.")
    parameters = _property("_parameters", "The arguments of the constructor.")
    is_non_singular = _property(
        "_is_non_singular", "The hint whether the matrix is invertible; None if unknown."
    )
    is_self_adjoint = _property(
        "_is_self_adjoint", "The hint whether the matrix equals its conjugate transpose; None if unknown."
    )
    is_positive_definite = _property(
        "_is_positive_definite",
        "The hint whether the real part of `x^H A x` is positive for all nonzero `x`; None if unknown.",
    )

    @property
    def is_square(self) -> Hint:
        """The hint whether the matrix is square: given, or by the static shape; None if unknown."""
        rows, columns = self.range_dimension, self.domain_dimension
        known = None if rows is None or columns is None else rows == columns
        if known and self._given_is_square is False:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return known if self._given_is_square is None else self._given_is_square

    @property
    def graph_parents(self) -> list[Any]:
        """An empty list: an operator does not depend on a graph."""
        return []

    # The shape.

    @abc.abstractmethod
    def _shape(self) -> TensorShape: ...

    def _shape_tensor(self) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: define _shape_tensor for shapes that are unknown while tracing"
        )

    @property
    def shape(self) -> TensorShape:
        """The static shape `[B1, ..., Bb, M, N]`."""
        return TensorShape(self._shape())

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """Return the shape as a vector of int32."""
        shape = self.shape
        known = shape.as_list() if shape.is_fully_defined() else self._shape_tensor()
        return convert_to_tensor(known, dtype_hint=dtypes.int32)

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape `[B1, ..., Bb]`."""
        return self.shape[:-2]  # type: ignore[no-any-return]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Return the shape of the batch as a vector of int32."""
        return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank `b + 2`; None if unknown."""
        return self.shape.rank

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """Return the rank as a scalar of int32."""
        return size(self.shape_tensor())  # type: ignore[no-any-return]

    range_dimension, range_dimension_tensor = _size(-2, "the number of rows")
    domain_dimension, domain_dimension_tensor = _size(-1, "the number of columns")

    # Products and solutions.

    @abc.abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False) -> Any: ...

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Return the product with matrices, or with another operator as an operator.

        Args:
            x: a tensor `[..., N, R]` of this dtype (TypeError for others), whose batch broadcasts; or an operator.
            adjoint, adjoint_arg: whether to take the conjugate transposes of the operator, and of `x`.

        Raises ValueError for sizes that do not fit.
        """
        if isinstance(x, LinearOperator):
            return self._combined("matmul", "x", x, adjoint, adjoint_arg)
        x = self._operand(x, -2 if adjoint else -1, -1 if adjoint_arg else -2)
        return self._matmul(conjugate_transpose(x) if adjoint_arg else x, adjoint=adjoint)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Return the product with vectors `[..., N]`, or that of the conjugate transpose if `adjoint`."""
        return self._matvec(self._operand(x, -2 if adjoint else -1, -1), adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._matmul(x[..., None], adjoint=adjoint)[..., 0]

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Return `x` with `self @ x == rhs`, for matrices `[..., M, R]`, or for an operator as an operator.

        Args:
            rhs: a tensor of this dtype, whose batch broadcasts; or an operator.
            adjoint, adjoint_arg: whether to take the conjugate transposes of the operator, and of `rhs`.

        Raises NotImplementedError if the hints say that the operator is singular or not square.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._combined("solve", "rhs", rhs, adjoint, adjoint_arg)
        rhs = self._operand(rhs, -1 if adjoint else -2, -1 if adjoint_arg else -2)
        return self._solve(conjugate_transpose(rhs) if adjoint_arg else rhs, adjoint=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(self.to_dense()), rhs)
        return solve_with_broadcast(self.to_dense(), rhs, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Return `x` with `self @ x == rhs`, for vectors `[..., M]`; see `solve`."""
        self._check_solvable()
        return self._solvevec(self._operand(rhs, -1 if adjoint else -2, -1), adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._solve(rhs[..., None], adjoint=adjoint)[..., 0]

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _check_solvable(self) -> None:
        for hint, what in ((self.is_non_singular, "be singular"), (self.is_square, "not be square")):
            if hint is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {what}."
                )

    def _operand(self, x: Any, own_axis: int, axis: int) -> Tensor:
        """Return an argument as a tensor whose axis has the size of the operator's own axis."""
        x = convert_to_tensor(x)
        if x.dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}")
        expected, found = self.shape[own_axis], x.shape[axis]
        if expected is not None and found is not None and expected != found:
            raise ValueError(f"Dimensions {expected} and {found} are not compatible")
        return x  # type: ignore[no-any-return]

    def _combined(self, operation: str, what: str, other: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        """Return the product or quotient of two operators."""
        left, right = self.adjoint() if adjoint else self, other.adjoint() if adjoint_arg else other
        expected, found = left.domain_dimension, right.range_dimension
        if expected is not None and found is not None and expected != found:
            raise ValueError(
                f"Operators are incompatible. Expected `{what}` to have dimension {expected} but got {found}."
            )
        return rules.apply(operation, left, right)

    # Operators that follow from this one.

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the conjugate transpose as an operator: this one, if it is known to be self-adjoint."""
        return self if self.is_self_adjoint else rules.apply("adjoint", self)

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose, as `adjoint()`."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the inverse as an operator; ValueError if the hints say that there is none."""
        for hint, what in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if hint is False:
                raise ValueError(f"Cannot take the Inverse: This operator represents a {what} matrix.")
        return rules.apply("inverse", self)  # type: ignore[no-any-return]

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the Cholesky factor as an operator.

        Raises ValueError unless the hints say that the operator is self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        return rules.apply("cholesky", self)  # type: ignore[no-any-return]

    # Properties of the matrix.

    to_dense = _method("_to_dense", "Return the matrices as a tensor.")
    diag_part = _method("_diag_part", "Return the main diagonals `[B1, ..., Bb, min(M, N)]`.")
    trace = _method("_trace", "Return the sums of the main diagonals.")
    cond = _method(
        "_cond", "Return the condition numbers: the ratio of the largest and the smallest singular value."
    )

    def _to_dense(self) -> Any:
        columns = self.domain_dimension_tensor() if self.domain_dimension is None else self.domain_dimension
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return self._matmul(eye(columns, None, batch, self.dtype))

    def _diag_part(self) -> Any:
        return diagonal_of(self.to_dense())

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), -1)

    def _cond(self) -> Any:
        values = svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, -1) / reduce_min(values, -1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """Return the sum of the matrices and a tensor of this dtype."""
        return self._add_to_tensor(self._operand(x, -1, -1))  # type: ignore[no-any-return]

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def determinant(self, name: str = "det") -> Tensor:
        """Return the determinants; NotImplementedError if the operator is not square."""
        self._check_determinant()
        return self._determinant()  # type: ignore[no-any-return]

    def _determinant(self) -> Any:
        return exp(self.log_abs_determinant()) if self._can_use_cholesky() else det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """Return the logarithms of the absolute values of the determinants, in the operator's dtype."""
        self._check_determinant()
        return self._log_abs_determinant()  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            return 2 * reduce_sum(log(diagonal_of(cholesky(self.to_dense()))), -1)
        return slogdet(self.to_dense())[1]

    def _check_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """Return the eigenvalues; NotImplementedError unless the operator is known to be self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()  # type: ignore[no-any-return]

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    # Assertions.

    assert_non_singular = _method(
        "_assert_non_singular",
        "Raise InvalidArgumentError for a singular matrix: at once, or when the graph runs.",
    )
    assert_positive_definite = _method(
        "_assert_positive_definite",
        "Raise InvalidArgumentError for a matrix that is not positive definite: at once, or when the graph runs.",
    )
    assert_self_adjoint = _method(
        "_assert_self_adjoint",
        "Raise InvalidArgumentError for a matrix that is not self-adjoint: at once, or when the graph runs.",
    )

    def _assert_non_singular(self) -> Any:
        kind = self.dtype.real_dtype
        limit = convert_to_tensor(0.01 / np.finfo(kind.as_numpy_dtype).eps, kind)
        return assert_less(real(self.cond()), limit, message="Singular matrix up to precision epsilon.")

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        return assert_positive(real(self.eigvals()), message="Matrix was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        return assert_equal(dense, conjugate_transpose(dense), message=message)
