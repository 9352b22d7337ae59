"""Lists where control flow meets: in the state of loops, and as results of branches.

s.1 = while i, s: body makes list_append s, x      the memory of `s` is that of `s.1`, if nobody reads `s` again
s.2 = cond p, s:  then list_append s, x            the same memory, unless a branch leaves another one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.graph import Operation
from ..ir.specs import Spec
from .cells import Cells, List, copied, made
from .emitter import Emitter
from .lengths import SizedSpec
from .nodes import Node
from .regions import Region
from .registry import RefusedError


class Kept:
    """Where a list of a loop's state, or one that branches give, stands."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def read(self, e: Emitter) -> List:
        return List(self.cells)

    def write(self, e: Emitter, node: Node, others: Sequence[Any] = ()) -> None:
        """The list becomes another one, unless it is that already."""
        found = made(e, node, Spec(self.cells.dtype, self.cells.shape))
        if found.cells is self.cells:
            return
        if any(isinstance(other, Kept) and other.cells is found.cells for other in others):
            raise RefusedError("lists that change places are not compiled")
        self.cells.take(e, found.cells)


class Meeting:
    """Where a list that branches give arrives: where it was, if all branches leave it there."""

    def __init__(self, e: Emitter, spec: Any, outcomes: Sequence[Node]) -> None:
        places = [node.cells if isinstance(node, List) else node for node in outcomes]
        self._common = outcomes[0] if all(place is places[0] for place in places) else None
        size = spec.size if isinstance(spec, SizedSpec) else None
        self._kept = None if self._common else Kept(Cells(e, spec.element, size, False))

    def arrive(self, region: Region, node: Node) -> None:
        if self._kept is not None:
            self._kept.write(region.e, node)

    def read(self, e: Emitter) -> Node:
        return self._common or self._kept.read(e)  # type: ignore[union-attr]


def entered(region: Region, operation: Operation, node: Node, spec: Any) -> Kept:
    """The place of a list in a loop's state, with its first elements in it."""
    e = region.e
    found = made(e, node, spec.element)
    size = spec.size if isinstance(spec, SizedSpec) else None
    is_free = found is not node or (not found.is_shared and region.is_last_read(operation, node))
    return Kept(found.cells if is_free and size == found.cells.size else copied(e, found.cells, size))


def shared(node: Node) -> Node:
    """A list that others read, too; any other node as it is."""
    return List(node.cells, is_shared=True) if isinstance(node, List) else node
