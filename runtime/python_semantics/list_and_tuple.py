"""`list` and `tuple` of the iterables of a graph.

list(xs)                of a list in the graph: a copy
list(range(n))          a list with a length that the graph decides, as `[i for i in range(n)]`
list(t)                 of a known number of rows: a Python list of them
tuple(xs)               an error if the graph decides the length: a tuple has a fixed length while tracing
"""

from __future__ import annotations

from typing import Any

from agc.autograph.api import for_loop

from ..control_flow.diagnostics import staging_error
from ..control_flow.tensor_list import TensorList
from ..core.conversion import is_tensor_like
from .indexed_iterables import IndexedItems, rows_of


def as_list(items: Any = (), /) -> Any:
    if isinstance(items, TensorList):
        return items.copy()
    if not _is_counted(items):
        return list(items)
    rows = rows_of(items)
    if isinstance(rows.count, int) and rows.test is None:
        return list(rows)
    return for_loop(rows, _with, ([],))[0]


def _with(item: Any, list: Any) -> tuple[Any]:  # errors name the list so
    return (list + [item],)  # noqa: RUF005  # `list` may be a list that the graph holds


def as_tuple(items: Any = (), /) -> Any:
    found = items if isinstance(items, TensorList) else as_list(items)
    if isinstance(found, TensorList):
        what = f"the list `{found.name}`" if found is items else "items whose number the graph decides"
        raise staging_error(
            "AGC275",
            f"a tuple of {what} is not possible",
            why="the graph decides how long the list is, and a tuple has its length while the function is traced",
            fix="keep the list, or use the tensor that tf.stack gives",
        )
    return tuple(found)


def _is_counted(items: Any) -> bool:
    """Return whether a staged loop can iterate over the items."""
    return isinstance(items, IndexedItems) or hasattr(items, "__rows__") or is_tensor_like(items)
