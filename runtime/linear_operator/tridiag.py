"""`LinearOperatorTridiag`: matrices that are zero but for the main diagonal and the diagonals next to it."""

from __future__ import annotations

from typing import Any

from .. import nest
from ..core.export import export
from ..ops.arrays.concat_split import stack
from ..ops.arrays.reverse_and_roll import roll
from ..ops.linalg.matrix_diag import diag
from ..ops.linalg.tridiagonal import compact_diagonals, tridiagonal_matmul, tridiagonal_solution
from ..ops.math.elementwise import conj
from .batches import with_equal_batches
from .hints import Hints, with_hints
from .structured import StructuredOperator, as_reference

_FORMATS = {"compact": 2, "matrix": 2, "sequence": 1}


@export("linalg.LinearOperatorTridiag")
class LinearOperatorTridiag(StructuredOperator):
    """A tridiagonal matrix.

    Args:
        diagonals: "compact": rows `[..., 3, N]` with the diagonals above (its last element is ignored), on and below
            (its first is ignored) the main one; "sequence": a list of three diagonals `[..., N]`, likewise; "matrix":
            the whole matrices.
        diagonals_format: one of these; ValueError for others.

    >>> LinearOperatorTridiag([[1., 0.], [2., 2.], [0., 3.]]).to_dense().numpy().tolist()
    [[2.0, 1.0], [3.0, 2.0]]
    """

    @with_hints()
    def __init__(self, diagonals: Any, diagonals_format: str = "compact", *, given: Hints) -> None:
        if diagonals_format not in _FORMATS:
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. "
                f"Received : {diagonals_format}."
            )
        self.diagonals_format = diagonals_format
        if diagonals_format == "sequence":
            self.diagonals: Any = [as_reference(part, "diagonals", 1) for part in diagonals]
        else:
            self.diagonals = as_reference(diagonals, "diagonals", 2)
        super().__init__(nest.flatten(self.diagonals)[0].dtype, **given)

    @property
    def _matrix_ndims(self) -> dict[str, int]:  # type: ignore[override]
        return {"diagonals": _FORMATS[self.diagonals_format]}

    def _extent(self, sizes: Any) -> Any:
        if self.diagonals_format == "sequence":
            n = sizes.size(self.diagonals[1], -1)
            batch = sizes.broadcast(*(sizes.batch(part, 1) for part in self.diagonals))
        else:
            n, batch = sizes.size(self.diagonals, -1), sizes.batch(self.diagonals, 2)
        return sizes.join(batch, n, n)

    def _rows(self, adjoint: bool = False) -> Any:
        """Return the diagonals above, on and below the main one, `[..., 3, N]`, or those of the adjoint."""
        given = self.diagonals
        if self.diagonals_format == "sequence":
            given = with_equal_batches(given, 1)
        rows = compact_diagonals(given, self.diagonals_format)
        if not adjoint:
            return rows
        above, main, below = (rows[..., i, :] for i in range(3))
        return conj(stack([roll(below, [-1], [-1]), main, roll(above, [1], [-1])], -2))

    def _matmul(self, x: Any, adjoint: bool = False) -> Any:
        return tridiagonal_matmul(self._rows(adjoint), x)

    def _solve(self, rhs: Any, adjoint: bool = False) -> Any:
        return tridiagonal_solution(*with_equal_batches([self._rows(adjoint), rhs], 2))

    def _to_dense(self) -> Any:
        rows = self._rows()
        ends = [rows[..., 0, :-1], rows[..., 1, :], rows[..., 2, 1:]]
        return sum(diag(part, k=k) for part, k in zip(ends, (1, 0, -1), strict=True))

    def _diag_part(self) -> Any:
        return self._rows()[..., 1, :]
