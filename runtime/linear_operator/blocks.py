"""Operators made of blocks: they also take a list with one tensor for each block, and return one.

block.matmul([x, y])   ==>   split(block.matmul(concat([x, y], -2)), sizes, -2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.conversion import convert_to_tensor
from ..ops.arrays.concat_split import concat, split
from . import hints
from .batches import with_equal_batches
from .composition import OperatorSequence
from .extents import DYNAMIC


class BlockOperator(OperatorSequence):
    """Base class of operators made of blocks; `_factors` are those on the diagonal."""

    def _split(self, x: Any, own_axis: int, axis: int = -2) -> list[Any]:
        """Return the parts of a tensor, one for each block."""
        return split(x, self._sizes(own_axis), axis)  # type: ignore[no-any-return]

    def _sizes(self, axis: int) -> list[Any]:
        """Return the number of rows or columns of each block, as integers where they are known."""
        pairs = ((block, block.shape[axis]) for block in self._factors())
        return [DYNAMIC.size(block, axis) if size is None else size for block, size in pairs]

    def _by_blocks(
        self, call: Callable[..., Any], x: Any, axis: int, axes: tuple[int, int], *flags: bool
    ) -> Any:
        """Call a method with a tensor, or with a list of tensors as if it were one.

        Args:
            axis: the axis of the argument that is split; -1 in vectors.
            axes: the axes of this operator that split the argument and the result; swapped for the adjoint.
            flags: whether to take the conjugate transposes of the operator, and of the argument.
        """
        own, result = reversed(axes) if flags[0] else axes
        cut = -1 if flags[1:] == (True,) else axis
        parts = self._parts(x, own, cut, -axis)
        if parts is None:
            return call(x, *flags)
        return self._split(call(concatenated(parts, cut, -axis), *flags), result, axis)

    def _parts(self, x: Any, own_axis: int, axis: int, ndims: int) -> list[Any] | None:
        """Return a list of tensors that fit the blocks; None for an argument that is one tensor."""
        if not isinstance(x, (list, tuple)) or len(x) != len(self._factors()):
            return None
        sizes = self._sizes(own_axis)
        parts = [convert_to_tensor(part) for part in x]
        if any(part.shape.rank is not None and part.shape.rank < ndims for part in parts):
            return None
        for size, part in zip(sizes, parts, strict=True):
            found = part.shape[axis]
            if isinstance(size, int) and found is not None and size != found:
                if all(each.shape.is_compatible_with(part.shape) for each in parts):
                    return None  # one tensor, in a list of its rows
                raise ValueError(f"Dimensions {size} and {found} are not compatible")
        return parts

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        return self._by_blocks(super().matmul, x, -2, (-1, -2), adjoint, adjoint_arg)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        return self._by_blocks(super().solve, rhs, -2, (-2, -1), adjoint, adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        return self._by_blocks(super().matvec, x, -1, (-1, -2), adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        return self._by_blocks(super().solvevec, rhs, -1, (-2, -1), adjoint)

    def _diag_part(self) -> Any:
        if not self._has_squares():
            return super()._diag_part()
        return concatenated([block.diag_part() for block in self._factors()], -1, 1)

    def _eigvals(self) -> Any:
        if not hints.all_have(self._factors(), "is_self_adjoint"):
            return super()._eigvals()
        return concatenated([block.eigvals() for block in self._factors()], -1, 1)


def concatenated(parts: list[Any], axis: int, ndims: int) -> Any:
    """Return tensors joined along one of their last `ndims` axes; the others broadcast."""
    return concat(with_equal_batches(parts, ndims), axis)
