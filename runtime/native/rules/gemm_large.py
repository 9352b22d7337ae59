"""Products of matrices of any sizes: one function for each dtype, which all programs share.

                24 columns, or 16
            b   ┌──┬──┬──┐
                │▒▒│▒▒│▒▒│    a strip of b, packed (gemm_strips.py)
                └──┴──┴──┘
    a  ┌─────┐  ┌──┬──┬──┐
       │░░░░░│  │██│██│██│    tiles of c, below each other: they have 4 rows,
       │░░░░░│  │██│██│██│    and read the strip and 4 rows of a
       └─────┘  └──┴──┴──┘

A tile keeps its sums in registers, as in gemm_tiles.py. Strips that would be too long for the cache are cut: then the
tiles go on with the sums that stand in c. A tile of which c has only a part, at the right edge or at the bottom, is
computed beside it.

The function takes a, b, c, their sizes m, n, k, whether a and b stand in memory as their transposes, and the first and
the last of the rows of tiles that are wanted, so that threads can share them.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from ... import dtypes
from .. import engine, levels
from ..emit.types import Register, ir
from .gemm_strips import pack, pack_turned
from .gemm_vectors import Vectors

TAKES = "aaawwwwwww"

DOWN = 4
"""Rows of a tile."""

_WIDE, _NARROW = 3, 2
"""Vectors of a row of a tile."""

_LONGEST = 512
"""Rows of a strip."""

_LONGEST_IF_TURNED = 256
"""The same where each needs another line of the cache for the numbers of a, which stand below each other."""

_FEW = 12
"""In a matrix of fewer rows strips are read where they stand: few tiles read each."""

_loading = threading.Lock()


def symbol(dtype: dtypes.DType) -> str:
    """What compiled code calls the function for a dtype, which is there from now on."""
    with _loading:
        _code(dtype)
    return _name(dtype)


def _name(dtype: dtypes.DType) -> str:
    return f"agc_product_{dtype.name}"


@functools.cache
def _code(dtype: dtypes.DType) -> engine.Code:
    module, name = ir().Module(f"agc products of {dtype.name}"), _name(dtype)
    _Product(module, name, dtype).written().linkage = "external"
    code = engine.Code(engine.assembled(str(module), levels.FEW))
    engine.known_as(name, code.function(name))
    return code


class _Product(Vectors):
    """Writes the function."""

    def __init__(self, module: Any, name: str, dtype: dtypes.DType) -> None:
        super().__init__(module, name, dtype, TAKES)
        self.a, self.second, self.c, self.m, self.n, self.k, *ways, self.first, self.last = self.arguments
        self.is_first_turned, self.is_second_turned = (
            self.b.icmp_signed("!=", way, self.word(0)) for way in ways
        )
        # How far the next row of a is, and the next number of one.
        self.down = self.b.select(self.is_first_turned, self.word(1), self.k)
        self.along = self.b.select(self.is_first_turned, self.m, self.word(1))
        self.wide, self.narrow = (self.word(each * self.width) for each in (_WIDE, _NARROW))
        self.packed = self.memory(_LONGEST * _WIDE * self.width)
        self.beside = self.memory(DOWN * _WIDE * self.width)
        self._pack = pack(module, f"{name}_pack", dtype)
        self._pack_turned = pack_turned(module, f"{name}_pack_turned", dtype)
        self._wide_tile = _tile(module, f"{name}_wide", dtype, _WIDE)
        self._narrow_tile = _tile(module, f"{name}_narrow", dtype, _NARROW)

    def written(self) -> Any:
        """Cut strips to parts of about the same length."""
        longest = self.b.select(self.is_first_turned, self.word(_LONGEST_IF_TURNED), self.word(_LONGEST))
        length = self._shared(self.k, self._shared(self.k, longest))
        with self.counting(self.word(0), self.k, length) as start:
            self._strips(start, self.smaller(length, self.b.sub(self.k, start)))
        return self.finish()

    def _shared(self, x: Register, y: Register) -> Register:
        """`x / y`, rounded up."""
        return self.b.sdiv(self.b.add(x, self.b.sub(y, self.word(1))), y)

    def _strips(self, start: Register, count: Register) -> None:
        """All strips of so many rows from this one on, from left to right."""
        column = self.cell(self.word(0))
        with self.loop(lambda: self.is_less(column.get(), self.n)):
            now = column.get()
            width = self._width(self.b.sub(self.n, now))
            self._strip(start, count, now, width)
            column.set(self.b.add(now, width))

    def _width(self, left: Register) -> Register:
        """A wide strip, unless all that is left fits into a narrow one or into two."""
        is_one = self.b.not_(self.is_less(self.narrow, left))
        is_two = self.b.not_(self.is_less(self.word(2 * _NARROW * self.width), left))
        is_more = self.is_less(self.wide, left)
        return self.b.select(self.b.or_(is_one, self.b.and_(is_two, is_more)), self.narrow, self.wide)

    def _strip(self, start: Register, count: Register, column: Register, width: Register) -> None:
        """A strip: pack it where that is worth it, and compute its tiles."""
        columns = self.smaller(width, self.b.sub(self.n, column))
        is_cut = self.is_less(columns, width)
        is_few = self.is_less(self.m, self.word(_FEW))
        straight = self.b.not_(self.is_second_turned)
        stays = self.b.and_(straight, self.b.and_(is_few, self.b.not_(is_cut)))
        part = [self.second, self.k, self.n, start, count, column, self.packed, width]
        with self.where(self.is_second_turned):
            self.b.call(self._pack_turned, part)
        with self.where(self.b.and_(straight, self.b.not_(stays))):
            self.b.call(self._pack, part)
        there = self.on(self.second, self.index(start, self.n, column))
        strip = self.b.select(stays, there, self.packed)
        apart = self.b.select(stays, self.n, width)
        with self.counting(self.first, self.last) as number:
            row = self.times(number, DOWN)
            rows = self.smaller(self.word(DOWN), self.b.sub(self.m, row))
            place = self.on(self.c, self.index(row, self.n, column))
            is_part = self.b.or_(is_cut, self.is_less(rows, self.word(DOWN)))
            with self.where(is_part):
                self._copy(self.beside, width, place, self.n, rows, columns)
            first = self.on(self.a, self.b.add(self.b.mul(row, self.down), self.b.mul(start, self.along)))
            target = [self.b.select(is_part, *each) for each in ((self.beside, place), (width, self.n))]
            given = [first, self.down, self.along, rows, strip, apart, count, *target, start]
            is_wide = self.b.icmp_signed("==", width, self.wide)
            with self.where(is_wide):
                self.b.call(self._wide_tile, given)
            with self.where(self.b.not_(is_wide)):
                self.b.call(self._narrow_tile, given)
            with self.where(is_part):
                self._copy(place, self.n, self.beside, width, rows, columns)

    def _copy(
        self,
        target: Register,
        apart: Register,
        source: Register,
        far: Register,
        rows: Register,
        columns: Register,
    ) -> None:
        """Copy so many rows, which stand so far from each other there and here."""
        with self.counting(self.word(0), rows) as row:
            there, here = self.on(target, self.b.mul(row, apart)), self.on(source, self.b.mul(row, far))
            self.copy(there, here, self.element, self.dtype.size, columns)


def _tile(module: Any, name: str, dtype: dtypes.DType, across: int) -> Any:
    """The function that computes a tile of so many vectors beside each other.

    It takes where a begins, how far it is down and along, and how many rows there are, of which the last one stands for
    those behind it; the strip, how far its rows are from each other, and how many they are; the same of c; and whether
    there are sums in c.
    """
    v = Vectors(module, name, dtype, "awwwawwaww")
    a, down, along, rows, strip, apart, count, c, far, goes_on = v.arguments
    last = v.b.sub(rows, v.word(1))
    lines = [v.on(a, v.b.mul(v.smaller(v.word(i), last), down)) for i in range(DOWN)]
    starts = [j * v.width for j in range(across)]
    places = [v.on(v.on(c, v.b.mul(far, v.word(i))), start) for i in range(DOWN) for start in starts]
    is_first = v.b.icmp_signed("==", goes_on, v.word(0))
    begun = [v.b.select(is_first, v.nothing(v.width), v.vector(place, v.width)) for place in places]
    with v.summing(count, begun) as (number, sums, following):
        row = v.on(strip, v.b.mul(number, apart))
        vectors = [v.vector(v.on(row, start), v.width) for start in starts]
        for i, line in enumerate(lines):
            factor = v.number(v.on(line, v.b.mul(number, along)), v.width)
            for vector, total in zip(vectors, sums[i * across :], strict=False):
                following.append(v.added(total, factor, vector))
    for total, place in zip(following, places, strict=True):
        v.put(total, place)
    return v.finish()
