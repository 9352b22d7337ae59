"""`FuncGraph`: a scratch graph, in which Keras traces a layer to learn the shapes of its results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...ir.builder import Builder, current


class FuncGraph:
    """A graph that records operations in `as_default()`, and that nothing executes."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        self.name = name

    @contextlib.contextmanager
    def as_default(self) -> Iterator[FuncGraph]:
        """Record the operations of the block in this graph."""
        with Builder(self.name, current(), is_function=True):
            yield self
