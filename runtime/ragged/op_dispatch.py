"""Dispatch of TensorFlow's operations on ragged tensors.

Elementwise operations are applied to the flat values, once all arguments have common rows. Other operations have
their own implementation in one of the tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ..ops.framework.composite_dispatch import name_of
from ..ops.framework.op_families import Elementwise
from . import op_table
from .broadcasting import with_common_rows
from .tensor import RaggedTensor


def operation_for(operation: Any) -> Callable[..., Any] | None:
    """Return the implementation of an operation for ragged tensors; None when it does not support them."""
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
    """Return an elementwise operation whose first `count` arguments may be ragged."""

    def applied(*arguments: Any) -> Any:
        flat, rows = with_common_rows(list(arguments[:count]))
        return rows(operation(*flat, *arguments[count:]))

    return applied


@functools.cache
def own_functions() -> Mapping[str, Callable[..., Any]]:
    """Return the implementations of all tables by operation name."""
    found: dict[str, Callable[..., Any]] = {}
    for table in op_table.every():
        found.update(table)
    return found


__all__ = ["RaggedTensor", "elementwise", "operation_for", "own_functions"]
