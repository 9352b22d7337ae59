"""`LinearOperatorCirculant` and its forms with blocks: matrices that Fourier transforms diagonalize.

matmul(x)   ==>   ifft(spectrum * fft(x))
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like
from ..ops.arrays.reshape import reshape
from ..ops.assertions.value_assertions import assert_less
from ..ops.linalg.diagonals import matrix_transpose
from ..ops.math.cast import cast
from ..ops.math.elementwise import abs as magnitude
from ..ops.math.elementwise import conj, imag
from ..ops.reduce.reductions import reduce_max
from ..ops.signal.fft_api import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from . import hints
from .extents import DYNAMIC
from .hints import Hints, with_hints
from .rules import rule
from .structured import NormalOperator, as_reference

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


class _BaseLinearOperatorCirculant(NormalOperator):
    """Base class of circulant matrices, with blocks nested `block_depth - 1` times.

    Args:
        spectrum: a tensor `[..., N1, ..., Nd]`, or a variable, which is read at each use: the Fourier transform of the
            first column, whose elements are the eigenvalues. A real one makes the operator self-adjoint.
        input_output_dtype: the dtype of the matrix, complex64 by default.
    """

    _depth: int
    _singular = "Singular operator:  Spectrum contained zero values."
    _not_positive = "Not positive definite:  Real part of spectrum was not all positive."
    _not_real = "Not self-adjoint:  The spectrum contained non-zero imaginary part."

    @with_hints(is_square=True)
    def __init__(self, spectrum: Any, input_output_dtype: Any = dtypes.complex64, *, given: Hints) -> None:
        self.spectrum = as_reference(spectrum, "`spectrum`", self._depth)
        why = (
            "A real spectrum always corresponds to a self-adjoint operator. Expected argument `is_self_adjoint` to be "
            f"True when `spectrum.dtype.is_complex` = True. Received: {given['is_self_adjoint']}."
        )
        hints.inherit(given, "is_self_adjoint", not self.spectrum.dtype.is_complex, why)
        why = (
            "A [[nested] block] circulant operator is always square. Expected argument `is_square` to be True. "
            f"Received: {given['is_square']}."
        )
        hints.require(given, "is_square", True, why)
        super().__init__(input_output_dtype, **given)
        self._parameters["input_output_dtype"] = self.dtype

    @property
    def block_depth(self) -> int:
        """The number of axes of the spectrum of one matrix."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        """The static shape `[N1, ..., Nd]`."""
        return self.spectrum.shape[-self._depth :]  # type: ignore[no-any-return]

    def block_shape_tensor(self, name: str = "block_shape_tensor") -> Tensor:
        """Return the shape `[N1, ..., Nd]` as a vector of int32."""
        return DYNAMIC.shape(self.spectrum)[-self._depth :]  # type: ignore[no-any-return]

    @property
    def _matrix_ndims(self) -> dict[str, int]:  # type: ignore[override]
        return {"spectrum": self._depth}

    def _extent(self, sizes: Any) -> Any:
        n = sizes.product(*(sizes.size(self.spectrum, -1 - axis) for axis in range(self._depth)))
        return sizes.join(sizes.batch(self.spectrum, self._depth), n, n)

    def _complex_spectrum(self, adjoint: bool = False) -> Any:
        wide = self.spectrum.dtype.size > 8 or self.spectrum.dtype is dtypes.float64
        values = cast(self.spectrum, dtypes.complex128 if wide else dtypes.complex64)
        return conj(values) if adjoint else values

    def _transformed(self, x: Any, spectrum: Any) -> Any:
        """Return the inverse transform of `spectrum` times the transform of `x`, for each column of `x`."""
        forward, backward = _TRANSFORMS[self._depth]
        lines = cast(matrix_transpose(x), spectrum.dtype)
        blocks = reshape(lines, concat([DYNAMIC.batch(lines, 1), self.block_shape_tensor()], 0))
        columns = spectrum[(..., None, *[slice(None)] * self._depth)]
        product = backward(columns * forward(blocks))
        flat = reshape(product, concat([DYNAMIC.batch(product, self._depth), [-1]], 0))
        return matrix_transpose(cast(flat, self.dtype))

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return self._transformed(x, self._complex_spectrum(adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._transformed(rhs, 1 / self._complex_spectrum(adjoint))

    def _values(self) -> Any:
        """Return the eigenvalues, `[..., N]`."""
        return reshape(self.spectrum, concat([DYNAMIC.batch(self.spectrum, self._depth), [-1]], 0))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """Return the inverse Fourier transform of the spectrum: the first column, `[..., N1, ..., Nd]`."""
        _, backward = _TRANSFORMS[self._depth]
        return cast(backward(self._complex_spectrum()), self.dtype)

    def _diag_part(self) -> Any:
        values = cast(self._values(), self.dtype)
        mean = self.trace() / cast(self.domain_dimension_tensor(), self.dtype)
        return mean[..., None] * ones_like(values)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Raise InvalidArgumentError unless the matrix is real: at once, or when the graph runs."""
        _, backward = _TRANSFORMS[self._depth]
        part = imag(backward(self._complex_spectrum()))
        limit = 4e-6 if part.dtype is dtypes.float32 else 1e-14
        most = limit * (1 + reduce_max(magnitude(self._complex_spectrum())))
        return assert_less(magnitude(part), most, message="Spectrum was not Hermitian")


@export("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_BaseLinearOperatorCirculant):
    """A circulant matrix: each column is the one before, moved down by one and around.

    >>> LinearOperatorCirculant([6., 0., 0.], "float32").to_dense().numpy().round(3).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """

    _depth = 1


@export("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_BaseLinearOperatorCirculant):
    """A circulant matrix of blocks that are circulant matrices: a convolution in two dimensions, around the edges.

    >>> LinearOperatorCirculant2D([[4., 0.], [0., 0.]], "float32").matvec([1., 0., 0., 0.]).numpy().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    _depth = 2


@export("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_BaseLinearOperatorCirculant):
    """A circulant matrix of blocks that are circulant in two dimensions: a convolution in three dimensions.

    >>> LinearOperatorCirculant3D([[[2., 0.]]], "float32").matvec([1., 0.]).numpy().tolist()
    [1.0, 1.0]
    """

    _depth = 3


def _declare(owner: Any) -> None:
    """Declare the rules: the results for circulant operators of one depth are circulant."""

    def like(operator: Any, spectrum: Any, given: Hints) -> Any:
        return owner(spectrum, operator.dtype, **{**given, "is_square": True})

    def both(one: Any, other: Any, spectrum: Any) -> Any:
        return like(one, spectrum, hints.of_commuting_product(one, other))

    rule("adjoint", owner)(lambda one: like(one, conj(one.spectrum), hints.of(one)))
    rule("inverse", owner)(lambda one: like(one, 1 / one.spectrum, hints.of(one)))
    rule("matmul", owner, owner)(lambda one, other: both(one, other, one.spectrum * other.spectrum))
    rule("solve", owner, owner)(lambda one, other: both(one, other, other.spectrum / one.spectrum))


for _owner in (LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D):
    _declare(_owner)
