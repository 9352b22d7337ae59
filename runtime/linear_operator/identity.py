"""`LinearOperatorIdentity` and `LinearOperatorScaledIdentity`: multiples of the identity matrix.

Both have a `multiplier` [B1, ..., Bb], which is 1 for the identity.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ops.arrays.creation import eye, ones, zeros_like
from ..ops.framework.static_values import of_tensor
from ..ops.linalg.matrix_diag import diag_part, set_diag
from ..ops.math.elementwise import conj, sqrt
from . import hints
from .composition import LinearOperatorComposition
from .hints import Hints, with_hints
from .operator import LinearOperator
from .rules import apply, rule
from .structured import NormalOperator, as_reference


class BaseLinearOperatorIdentity(NormalOperator):
    """Base class of multiples of the identity matrix."""

    _singular = "LinearOperator was singular."
    _not_positive = "LinearOperator was not positive definite."
    _not_real = "LinearOperator was not self-adjoint"
    _num_rows: Any
    multiplier: Any

    def _extent(self, sizes: Any) -> Any:
        rows = sizes.number(self._num_rows)
        return sizes.join(sizes.shape(self.multiplier), rows, rows)

    def _scale(self, ndims: int, adjoint: bool = False) -> Any:
        """Return the multiplier with more axes, with which it broadcasts to vectors or matrices."""
        scale = self.multiplier[(..., *[None] * ndims)]
        return conj(scale) if adjoint else scale

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self._scale(2, adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return rhs / self._scale(2, adjoint)

    def _to_dense(self) -> Any:
        return self._scale(2) * eye(self._num_rows, dtype=self.dtype)

    def _add_to_tensor(self, x: Any) -> Any:
        whole = x + zeros_like(self._scale(2))
        return set_diag(whole, diag_part(whole) + self._scale(1))

    def _values(self) -> Any:
        return self._scale(1) * ones([self._num_rows], self.dtype)

    def _diag_part(self) -> Any:
        return self._values()


@export("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(BaseLinearOperatorIdentity):
    """The identity matrix.

    Args:
        num_rows: the number of rows, an integer or a scalar tensor; ValueError if it is negative.
        batch_shape: the shape of the batch, a vector of integers.
        dtype: float32 by default.

    >>> LinearOperatorIdentity(2).matvec([1., 2.]).numpy().tolist()
    [1.0, 2.0]
    """

    @with_hints(**dict.fromkeys(hints.HINTS, True), assert_proper_shapes=False)
    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, *, given: Hints) -> None:
        for name in ("is_self_adjoint", "is_non_singular", "is_positive_definite", "is_square"):
            if not given[name]:
                word = {"is_self_adjoint": "self adjoint"}.get(name, name[3:].replace("_", "-"))
                raise ValueError(f"An identity operator is always {word}.")
        self._num_rows, batch = checked_size(num_rows, "num_rows"), checked_batch(batch_shape)
        kind = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        self.multiplier = ones(batch, kind)
        super().__init__(kind, **given)
        self._parameters.update(num_rows=self._num_rows, batch_shape=batch, dtype=kind)


@export("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(BaseLinearOperatorIdentity):
    """A multiple of the identity matrix.

    Args:
        num_rows: the number of rows, an integer or a scalar tensor; ValueError if it is negative.
        multiplier: a tensor `[B1, ..., Bb]`, the elements of the diagonals. Real ones make it self-adjoint.

    >>> LinearOperatorScaledIdentity(2, multiplier=[3., 4.]).determinant().numpy().tolist()
    [9.0, 16.0]
    """

    _matrix_ndims = {"multiplier": 0}

    @with_hints(is_square=True, assert_proper_shapes=False)
    def __init__(self, num_rows: Any, multiplier: Any, *, given: Hints) -> None:
        self._num_rows = checked_size(num_rows, "num_rows")
        self.multiplier = as_reference(multiplier, "multiplier")
        kind = self.multiplier.dtype
        why = "A real diagonal operator is always self adjoint."
        hints.inherit(given, "is_self_adjoint", not kind.is_complex, why)
        if not given["is_square"]:
            raise ValueError("A ScaledIdentity operator is always square.")
        super().__init__(kind, **given)
        self._parameters["num_rows"] = self._num_rows


rule("inverse", LinearOperatorIdentity)(lambda identity: identity)
rule("cholesky", LinearOperatorIdentity)(lambda identity: identity)


@rule("matmul", LinearOperatorIdentity, LinearOperator)
@rule("solve", LinearOperatorIdentity, LinearOperator)
def _(left: Any, right: Any) -> Any:
    return right if _keeps_batch(left, right) else LinearOperatorComposition([left, right])


@rule("matmul", LinearOperator, LinearOperatorIdentity)
def _(left: Any, right: Any) -> Any:
    return left if _keeps_batch(right, left) else LinearOperatorComposition([left, right])


@rule("solve", LinearOperator, LinearOperatorIdentity)
def _(left: Any, right: Any) -> Any:
    return apply("matmul", left.inverse(), right)


def _keeps_batch(identity: Any, other: Any) -> bool:
    """Return whether a product with the identity has the batch of the other operator."""
    batch = identity.batch_shape
    return batch.rank == 0 or (batch.is_fully_defined() and bool(batch == other.batch_shape))


def _scaled(like: Any, multiplier: Any, given: Hints) -> Any:
    return LinearOperatorScaledIdentity(like._num_rows, multiplier, **{**given, "is_square": True})


_SCALED = LinearOperatorScaledIdentity
rule("adjoint", _SCALED)(lambda one: _scaled(one, conj(one.multiplier), hints.of(one)))
rule("inverse", _SCALED)(lambda one: _scaled(one, 1 / one.multiplier, hints.of(one)))
rule("cholesky", _SCALED)(lambda one: _scaled(one, sqrt(one.multiplier), hints.of(one)))


@rule("matmul", _SCALED, _SCALED)
def _(left: Any, right: Any) -> Any:
    return _scaled(left, left.multiplier * right.multiplier, hints.of_commuting_product(left, right))


@rule("solve", _SCALED, _SCALED)
def _(left: Any, right: Any) -> Any:
    return _scaled(left, right.multiplier / left.multiplier, hints.of_commuting_product(left, right))


def checked_size(size: Any, name: str) -> Any:
    """Return a size as an int if it is known, else as a scalar tensor; ValueError or TypeError for others."""
    x = convert_to_tensor(size)
    if not x.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {size}")
    if x.shape.rank not in (0, None):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {size}")
    (known,) = of_tensor(x) or (None,)
    if known is not None and known < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {size}")
    return x if known is None else known


def checked_batch(shape: Any) -> Any:
    """Return the shape of a batch as a tuple of ints if it is known, else as a vector; None is the empty shape."""
    x = convert_to_tensor(() if shape is None else shape, dtype_hint=dtypes.int32)
    if shape is not None and not x.dtype.is_integer:
        raise TypeError(f"Argument batch_shape must be integer type.  Found: {shape}")
    if x.shape.rank not in (1, None):
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {shape}")
    known = of_tensor(x)
    if known is None or None in known:
        return x
    if any(size is not None and size < 0 for size in known):
        raise ValueError(f"Argument batch_shape must be non-negative.  Found:{shape}")
    return tuple(known)
