"""Iterators over tensors: `it = iter(t)`, then `next(it)`, then a loop over the remaining rows.

The position of an iterator is known at trace time. A block that the graph decides about cannot advance the iterator:
the next row would depend on the branch that the graph took.
"""

from __future__ import annotations

from typing import Any

from ..control_flow.builtin_errors import raise_unless
from ..control_flow.diagnostics import staging_error
from ..ir.builder import current
from ..ops.math import arithmetic, comparison
from .indexed_iterables import IndexedItems, rows_of

_NOTHING: Any = object()


class RowIterator(IndexedItems):
    """The rows from `position` on."""

    def __init__(self, rows: IndexedItems) -> None:
        self.rows = rows
        self.position = 0
        self.home = current()
        super().__init__(rows.count, rows.get, None, rows.functions)

    def __iter__(self) -> RowIterator:
        return self

    def __next__(self) -> Any:
        return advanced(self)

    def __rows__(self) -> IndexedItems:
        """Return the remaining rows, all of which a loop consumes."""
        self.require_home("a loop over the iterator")
        start, rows = self.position, self.rows
        self.position = -1
        count = (
            rows.count - start if isinstance(rows.count, int) else arithmetic.maximum(rows.count - start, 0)
        )
        return IndexedItems(count, lambda index: rows.get(index + start), None, rows.functions)

    def require_home(self, what: str) -> None:
        if self.position < 0:
            raise staging_error(
                "AGC272",
                f"{what}: a loop has consumed all or some of the remaining items",
                why="the number of consumed items is known only when the graph runs",
                fix="make another iterator, or index the tensor with a counter of your own",
            )
        if self.home is not current():
            raise staging_error(
                "AGC272",
                f"{what} in a staged block: the iterator was made outside of it",
                why="the position of the iterator would depend on the path that the graph takes",
                fix="index the tensor with a counter: `x = t[i]`, `i += 1`",
            )


def iterator(items: Any, /, *sentinel: Any) -> Any:
    """Return `iter(t)`."""
    if sentinel:
        return iter(items, *sentinel)
    if isinstance(items, RowIterator):
        return items
    return RowIterator(rows_of(items).counted("iter"))


def advanced(items: Any, default: Any = _NOTHING, /) -> Any:
    """Return `next(it)`."""
    if not isinstance(items, RowIterator):
        raise TypeError(f"'{type(items).__name__}' object is not an iterator")
    items.require_home("next()")
    count = items.rows.count
    if isinstance(count, int):
        if items.position >= count:
            if default is _NOTHING:
                raise StopIteration
            return default
    elif default is _NOTHING:
        raise_unless(comparison.less(items.position, count), StopIteration("the iterator has no more rows"))
    else:
        raise staging_error(
            "AGC272",
            "next() with a default needs a known number of rows",
            why="whether a row remains is known only when the graph runs",
            fix="test `len(t) > 0` in an `if`, and index the tensor",
        )
    items.position += 1
    return items.rows.get(items.position - 1)
