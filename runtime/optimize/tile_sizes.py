"""Choose the sizes of tiles.

float32[8, 4096, 4096], at most 2,097,152 elements      8 matrices of 8 tiles of 512 rows
float32[8, 4099, 4096]                                  8 matrices of 9 tiles of 455 rows, and of one of 4 rows
float32[800, 128, 128]                                  8 tiles of 100 matrices
"""

from __future__ import annotations

import math
from typing import NamedTuple

FEWEST_ROWS = 64
"""Tiles have at least so many rows of a matrix, but for the last one: products of fewer rows are slow."""


class Tiling(NamedTuple):
    """The number of matrices in a tile, of all matrices, of rows of each matrix in a tile, and of all rows.

    The rows begin at `start`.
    """

    matrices: int
    all_matrices: int
    rows: int
    all_rows: int
    start: int = 0

    @property
    def steps(self) -> int:
        return self.all_matrices // self.matrices

    @property
    def parts(self) -> int:
        return self.all_rows // self.rows


def tilings(shape: tuple[int, ...], most: int) -> list[Tiling]:
    """Return tiles of at most so many elements of a tensor, and of its last rows; none if they are not large enough."""
    *lead, size, width = shape
    count, fitting, fewest = math.prod(lead), max(most // width, 1), min(FEWEST_ROWS, size)
    if fitting >= size:
        found = Tiling(_divisor(count, fitting // size), count, size, size)
        return [found] if found.steps > 1 else []
    rows = _divisor(size, fitting)
    if rows < fewest:
        rows = size // -(-size // fitting)
    if rows < fewest:
        return []
    rest = size % rows
    last = [Tiling(1, count, rest, rest, size - rest)] if rest else []
    return [Tiling(1, count, rows, size - rest), *last]


def _divisor(number: int, most: int) -> int:
    return next(each for each in range(min(number, most), 0, -1) if number % each == 0)
