"""GEMM of small matrices, with register tiles.

        24 columns
      b  ▒▒▒▒▒▒     three vectors of a row of b,
    a  ░ ██████     four elements of a column of a:
    4  ░ ██████     twelve accumulators, which stay in registers
       ░ ██████     during the loop over k
       ░ ██████

The remainders at the right and the bottom use smaller tiles. Sizes are static, and each kind of product is one
function of the module. Larger matrices use gemm_blocked.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from .... import dtypes
from ..codegen.llvm_types import Register
from .gemm_micro_kernel import Vectors

_ACROSS = 3  # vectors per row of a tile
_DOWN = 4  # rows per tile


class ProductShape(NamedTuple):
    """A product of an `m` by `k` and a `k` by `n` matrix. If `turned`, the first matrix is stored as its transpose."""

    dtype: dtypes.DType
    m: int
    n: int
    k: int
    turned: bool = False

    @property
    def name(self) -> str:
        return f"product_{self.dtype.name}_{'t' if self.turned else 'n'}_{self.m}_{self.n}_{self.k}"


def product(module: Any, kind: ProductShape) -> Any:
    """Return the function `(a, b, c)` of a kind of products, defined in the module on first use."""
    return module.globals.get(kind.name) or _Product(module, kind).written()


class _Product(Vectors):
    """Emits the function of one kind of products."""

    def __init__(self, module: Any, kind: ProductShape) -> None:
        super().__init__(module, kind.name, kind.dtype, "aaa")
        self.kind = kind
        self.first, self.second, self.result = self.arguments
        self.result.add_attribute("noalias")

    def written(self) -> Any:
        full = self.width * _ACROSS
        tiles, left = divmod(self.kind.n, full)
        if tiles:
            with self.counting(self.word(0), self.word(tiles * full), full) as column:
                self._rows(column, [self.width] * _ACROSS)
        if left:
            self._rows(self.word(tiles * full), _parts(left, self.width))
        return self.finish()

    def _rows(self, column: Register, widths: Sequence[int]) -> None:
        """Emit all tiles of these vector widths from `column` on, from top to bottom."""
        tiles, left = divmod(self.kind.m, _DOWN)
        if tiles:
            with self.counting(self.word(0), self.word(tiles * _DOWN), _DOWN) as row:
                self._tile(row, _DOWN, column, widths)
        if left:
            self._tile(self.word(tiles * _DOWN), left, column, widths)

    def _tile(self, row: Register, rows: int, column: Register, widths: Sequence[int]) -> None:
        _, m, n, k, is_turned = self.kind
        starts = list(accumulate(widths, initial=0))[:-1]
        down, along = (1, m) if is_turned else (k, 1)
        first = self.on(self.first, self.times(row, down))
        begun = [self.nothing(width) for _ in range(rows) for width in widths]
        with self.summing(self.word(k), begun) as (number, sums, following):
            source = self.on(self.second, self.index(number, self.word(n), column))
            places = zip(starts, widths, strict=True)
            vectors = [self.vector(self.on(source, start), width) for start, width in places]
            for i in range(rows):
                position = self.on(first, self.b.add(self.times(number, along), self.word(i * down)))
                for vector, total in zip(vectors, sums[i * len(widths) :], strict=False):
                    factor = self.number(position, vector.type.count)
                    following.append(self.added(total, factor, vector))
        target = self.on(self.result, self.index(row, self.word(n), column))
        positions = [i * n + start for i in range(rows) for start in starts]
        for total, position in zip(following, positions, strict=True):
            self.put(total, self.on(target, position))


def _parts(count: int, width: int) -> list[int]:
    """Split a count into whole vectors and then smaller powers of two.

    >>> _parts(19, 8)
    [8, 8, 2, 1]
    """
    parts = [width] * (count // width)
    left = count % width
    while left:
        width //= 2
        if left >= width:
            parts.append(width)
            left -= width
    return parts
