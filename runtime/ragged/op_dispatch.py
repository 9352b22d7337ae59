"""What TensorFlow's operations are for ragged tensors.

Operations on single elements are applied to the flat values, once all arguments have common rows. Others have a
function of their own in one of the tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ..composite.composites import name_of
from ..ops.framework.op_families import Elementwise
from . import op_table
from .broadcasting import with_common_rows
from .tensor import RaggedTensor


def operation_for(operation: Any) -> Callable[..., Any] | None:
    """The function that one of TensorFlow's operations is for ragged tensors; None when it does not take them."""
    name = name_of(operation)
    own = own_functions().get(name)
    if own is not None:
        return own
    if isinstance(operation, Elementwise):
        return elementwise(operation, len(operation._inputs))
    if name in op_table.ON_ELEMENTS:
        return elementwise(operation, op_table.ON_ELEMENTS[name])
    return None


def elementwise(operation: Callable[..., Any], count: int) -> Callable[..., Any]:
    """An operation on elements, whose first `count` arguments may be ragged."""

    def applied(*arguments: Any) -> Any:
        flat, rows = with_common_rows(list(arguments[:count]))
        return rows(operation(*flat, *arguments[count:]))

    return applied


@functools.cache
def own_functions() -> Mapping[str, Callable[..., Any]]:
    """The functions of all tables, by the name of the operation that they stand for."""
    found: dict[str, Callable[..., Any]] = {}
    for table in op_table.every():
        found.update(table)
    return found


__all__ = ["RaggedTensor", "elementwise", "operation_for", "own_functions"]
