"""Strips of the second matrix, as wide as a tile: they are packed, one row behind the other.

    b  · · ▒ ▒ ▒ · · ·                         b, turned   · · · ·
       · · ▒ ▒ ▒ · · ·                                     ▒ ▒ ▒ ▒
       · · ▒ ▒ ▒ · · ·                                     ▒ ▒ ▒ ▒
       · · ▒ ▒ ▒ · · ·   ==>  ▒ ▒ ▒ ▒ ▒ ▒ …   <==          ▒ ▒ ▒ ▒

In a large matrix the rows of a strip are so far from each other that a cache has room for few of them, for their
addresses share what decides about their place in it. Packed, they fill it evenly, for all tiles that read the strip.
At the right edge a strip has columns that the matrix has not: anything may stand there.

The functions take b, its sizes k and n, the first of the rows and how many they are, the first column, the strip, and
how wide it is: some vectors.
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from .gemm_vectors import Vectors

TAKES = "awwwwwaw"

_BLOCK = 8
"""The most elements of a row that are turned at once."""


def pack(module: Any, name: str, dtype: dtypes.DType) -> Any:
    """The function that packs a strip."""
    v = Vectors(module, name, dtype, TAKES)
    b, k, n, start, count, column, strip, width = v.arguments
    first = v.on(b, v.index(start, n, column))
    # At the right edge, what is read goes on in the next row; but not behind the last one.
    behind = v.b.sub(v.b.mul(k, n), v.b.add(column, width))
    inside = v.b.sub(v.b.add(v.b.sdiv(behind, n), v.word(1)), start)
    whole = v.larger(v.smaller(inside, count), v.word(0))
    with v.counting(v.word(0), whole) as row:
        source, target = v.on(first, v.b.mul(row, n)), v.on(strip, v.b.mul(row, width))
        with v.counting(v.word(0), width, v.width) as place:
            v.put(v.vector(v.on(source, place), v.width), v.on(target, place))
    left = v.smaller(v.b.sub(n, column), width)
    with v.counting(whole, count) as row:
        source, target = v.on(first, v.b.mul(row, n)), v.on(strip, v.b.mul(row, width))
        v.copy(target, source, v.element, dtype.size, left)
    return v.finish()


def pack_turned(module: Any, name: str, dtype: dtypes.DType) -> Any:
    """The function that packs a strip of a transpose, of which the last row stands for those behind it."""
    v = Vectors(module, name, dtype, TAKES)
    b, k, n, start, count, column, strip, width = v.arguments
    last, size = v.b.sub(n, v.word(1)), min(v.width, _BLOCK)
    whole = v.b.and_(count, v.word(-size))
    with v.counting(v.word(0), width, v.width) as place:
        numbers = [v.b.add(column, v.b.add(place, v.word(i))) for i in range(v.width)]
        sources = [v.on(b, v.index(v.smaller(number, last), k, start)) for number in numbers]
        for begin, end, step in ((v.word(0), whole, size), (whole, count, 1)):
            with v.counting(begin, end, step) as row:
                block = [v.vector(v.on(source, row), step) for source in sources]
                for i, vector in enumerate(v.turned(block)):
                    v.put(vector, v.on(strip, v.index(v.b.add(row, v.word(i)), width, place)))
    return v.finish()
