"""`in_tiles`: compute an elementwise kernel tile by tile, so that its temporary arrays fit the cache.

kernel(x[0:1000000])     ==>     kernel(x[0:32768]), kernel(x[32768:65536]), …     on several threads
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .thread_pool import run_all

Array = Any

_TILE = 1 << 16


def in_tiles(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Return `kernel`, a function of arrays that broadcast, such that threads share the tiles of large ones.

    >>> in_tiles(lambda x, y: x + y)(np.arange(100000.0), np.array(1.0))[-1].item()
    100000.0
    """

    @functools.wraps(kernel)
    def tiled(*arguments: Array) -> Array:
        if max(map(np.size, arguments)) <= _TILE:
            return kernel(*arguments)
        shape = np.broadcast_shapes(*map(np.shape, arguments))
        flat = [np.broadcast_to(argument, shape).reshape(-1) for argument in arguments]
        first = kernel(*(argument[:_TILE] for argument in flat))
        result = np.empty(flat[0].size, first.dtype)
        result[:_TILE] = first

        def compute(start: int) -> None:
            tile = slice(start, start + _TILE)
            result[tile] = kernel(*(argument[tile] for argument in flat))

        run_all(*(functools.partial(compute, start) for start in range(_TILE, result.size, _TILE)))
        return result.reshape(shape)

    return tiled
