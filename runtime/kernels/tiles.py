"""`in_tiles`: compute an elementwise kernel tile by tile, so that its temporary arrays fit the cache.

kernel(x[0:1000000])     ==>     kernel(x[0:32768]), kernel(x[32768:65536]), …     on several threads
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .thread_pool import run_all

Array = Any

_TILE = 1 << 16


def is_one_tile(*arrays: Array) -> bool:
    """Return whether arrays are so small that their result is computed at once."""
    for array in arrays:  # noqa: SIM110  (`all` takes twice as long)
        if array.size > _TILE:
            return False
    return True


def in_tiles(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return `kernel`, a function of arrays that broadcast, such that threads share the tiles of large ones.

    >>> in_tiles(lambda x, y: x + y)(np.arange(100000.0), np.array(1.0))[-1].item()
    100000.0
    """

    @functools.wraps(kernel)
    def tiled(*arguments: Array) -> Array:
        if is_one_tile(*arguments):
            return kernel(*arguments)
        shape = np.broadcast_shapes(*map(np.shape, arguments))
        flat = [x if np.ndim(x) == 0 else np.broadcast_to(x, shape).reshape(-1) for x in arguments]

        def of(tile: slice) -> Array:
            return kernel(*(x if np.ndim(x) == 0 else x[tile] for x in flat))

        first = of(slice(_TILE))
        result = np.empty(math.prod(shape), first.dtype)
        result[:_TILE] = first

        def compute(start: int) -> None:
            tile = slice(start, start + _TILE)
            result[tile] = of(tile)

        run_all(*(functools.partial(compute, start) for start in range(_TILE, result.size, _TILE)))
        return result.reshape(shape)

    return tiled


_SHORT, _LEAST, _LEAST_OF_LONG = 32, 1 << 13, 1 << 18


def are_many_rows(x: Array, axis: int) -> bool:
    """Return whether `axis` is the last one, and tiles of rows are faster than all at once."""
    is_last = x.ndim > 0 and x.shape[-1] > 1 and axis in (-1, x.ndim - 1)
    return is_last and x.size > (_LEAST if x.shape[-1] < _SHORT else _LEAST_OF_LONG)


def in_rows(kernel: Callable[[Array, int], Array], x: Array) -> Array:
    """Return `kernel(x, -1)` of a kernel that treats rows alike; short rows become columns, `kernel(x.T, 0).T`.

    NumPy's loops over short rows take as long as those over rows of 30 elements.

    >>> in_rows(lambda rows, axis: np.flip(rows, axis), np.array([[1, 3], [5, 2]])).tolist()
    [[3, 1], [2, 5]]
    """
    rows = x.reshape(-1, x.shape[-1])
    result, step = np.empty_like(rows), max(1, _TILE // x.shape[-1])

    def compute(start: int) -> None:
        tile = rows[start : start + step]
        is_short = x.shape[-1] < _SHORT
        found = kernel(np.ascontiguousarray(tile.T), 0).T if is_short else kernel(tile, 1)
        result[start : start + step] = found

    run_all(*(functools.partial(compute, start) for start in range(0, len(rows), step)))
    return result.reshape(x.shape)
