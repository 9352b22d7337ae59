"""Room for recursion over the regions of deeply nested graphs.

cond ─ cond ─ … 400 levels …        1000 → 9000 frames, while the graph is optimized and compiled
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agc.autograph.api import raised_recursion_limit

from .graph import Graph

_SHALLOW = 50
"""The depth from which Python's limit of frames is raised."""

_MOST = 500
"""The number of levels for which there is room: Python's stack has an end."""

_FRAMES = 20
"""The largest number of frames that a compiler pass needs for a level."""


def depth(graph: Graph) -> int:
    """Return how deep the regions of a graph are nested."""
    found, level = 0, [graph]
    while level := [region for each in level for region in each.regions()]:
        found += 1
    return found


@contextmanager
def room_for(graph: Graph) -> Iterator[None]:
    """Raise Python's limit of frames, as far as the regions of a graph are nested."""
    levels = depth(graph)
    if levels < _SHALLOW:
        yield
        return
    with raised_recursion_limit(lambda limit: limit + _FRAMES * min(levels, _MOST)):
        yield
