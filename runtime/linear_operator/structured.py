"""Base classes of the operators of this package: their shapes, and what follows from known eigenvalues."""

from __future__ import annotations

import abc
from typing import Any

from ..core.conversion import convert_to_tensor, variable_of
from ..core.module import Module
from ..core.shapes import TensorShape
from ..core.variable import Variable
from ..ops.arrays.creation import zeros_like
from ..ops.assertions.value_assertions import assert_equal, assert_less, assert_positive
from ..ops.math.cast import cast
from ..ops.math.elementwise import abs as magnitude
from ..ops.math.elementwise import imag, log, real
from ..ops.reduce.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from .extents import DYNAMIC, STATIC
from .operator import LinearOperator


class StructuredOperator(LinearOperator):
    """Base class of operators that compute static and dynamic shapes by one method."""

    @abc.abstractmethod
    def _extent(self, sizes: Any) -> Any:
        """Return the shape, computed by `sizes`: STATIC or DYNAMIC."""

    def _shape(self) -> TensorShape:
        return self._extent(STATIC)  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        return self._extent(DYNAMIC)


class KnownEigenvalues(StructuredOperator):
    """Base class of operators whose eigenvalues are known, such as those of triangular matrices."""

    _singular = "Singular operator:  Diagonal contained zero values."

    @abc.abstractmethod
    def _values(self) -> Any:
        """Return the eigenvalues `[..., N]`."""

    def _trace(self) -> Any:
        return cast(reduce_sum(self._values(), -1), self.dtype)

    def _determinant(self) -> Any:
        return cast(reduce_prod(self._values(), -1), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(magnitude(self._values())), -1), self.dtype)

    def _eigvals(self) -> Any:
        return self._values()

    def _assert_non_singular(self) -> Any:
        sizes = magnitude(self._values())
        return assert_less(zeros_like(sizes), sizes, message=self._singular)


class NormalOperator(KnownEigenvalues):
    """Base class of operators with orthogonal eigenvectors, whose singular values are those of the eigenvalues."""

    _not_positive: str
    _not_real = "Not self-adjoint"

    def _cond(self) -> Any:
        sizes = magnitude(self._values())
        return reduce_max(sizes, -1) / reduce_min(sizes, -1)

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self._values()), message=self._not_positive)

    def _assert_self_adjoint(self) -> Any:
        part = imag(self._values())
        return assert_equal(zeros_like(part), part, message=self._not_real)


def as_reference(value: Any, name: str, ndims: int = 0, **conversion: Any) -> Any:
    """Return an argument as a tensor; variables, and modules that convert to a tensor, stay as they are.

    Such a module has a dtype and a shape, the operators of tensors, and a registered conversion, which is called at
    each use. Raises ValueError for a lower rank than `ndims`.
    """
    given = variable_of(value)
    is_read_later = isinstance(given, Variable) or (
        isinstance(given, Module) and hasattr(given, "dtype") and hasattr(given, "shape")
    )
    x = given if is_read_later else convert_to_tensor(given, **conversion)
    if x.shape.rank is not None and x.shape.rank < ndims:
        plural = "" if ndims == 1 else "s"
        raise ValueError(f"Argument {name} must have at least {ndims} dimension{plural}.  Found: {value}")
    return x
