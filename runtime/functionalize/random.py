"""Random streams as variables: graphs that draw from streams become graphs with inputs that are variables.

Most graphs draw nothing, so the operations that draw and their stateless equivalents (stateless_drawings.py) are
imported for graphs that do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Graph
from ..kernels.random import seeds

_HALF = (1 << 64) - 1


class StreamVariable:
    """A random stream as a variable of a graph. It is looked up each time, since `tf.random.set_seed` restarts it."""

    def __init__(self, key: seeds.Key) -> None:
        self._key = key

    @property
    def _array(self) -> np.ndarray[Any, Any]:
        stream = seeds.stream(*self._key)
        parts = stream.counter & _HALF, stream.counter >> 64, stream.key
        return np.array(parts, np.uint64).view(np.int64)

    @_array.setter
    def _array(self, state: np.ndarray[Any, Any]) -> None:
        low, high, _ = state.view(np.uint64).tolist()
        seeds.stream(*self._key).counter = high << 64 | low


def with_streams(graph: Graph) -> tuple[Graph, list[StreamVariable]]:
    """Return the graph with an additional variable input for each stream that it draws from, and these variables."""
    if not (graph.stateful and any("stream" in operation.attrs for operation in graph.walk())):
        return graph, []
    from . import stateless_drawings

    functional, keys = stateless_drawings.with_streams(graph)
    return functional, [StreamVariable(key) for key in keys]
