"""Dispatch of TensorFlow's operations on ragged tensors.

Elementwise operations are applied to the flat values, once all arguments have common rows. Other operations have
their own implementation in one of the tables.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..ops.framework.composite_dispatch import element_operands
from . import shaped
from .broadcasting import with_common_rows
from .tensor import RaggedTensor

_MODULES = ("concat_stack", "misc_ops", "gather_and_mask", "products", "reductions")
"""Modules with a table `OPERATIONS`."""


def operation_for(operation: Any) -> Callable[..., Any] | None:
    """Return the implementation of an operation for ragged tensors; None when it does not support them."""
    own = own_functions().get(operation)
    if own is not None:
        return own
    count = element_operands(operation)
    return elementwise(operation, count) if count else None


def operation_for_shape(operation: Any) -> Callable[..., Any] | None:
    """Return the implementation of an operation for the ragged shape of its result; None if it takes no such shape."""
    return shaped.OPERATIONS.get(operation)


def elementwise(operation: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return an elementwise operation whose first `count` arguments may be ragged."""

    def applied(*arguments: Any) -> Any:
        flat, rows = with_common_rows(list(arguments[:count]))
        return rows(operation(*flat, *arguments[count:]))

    return applied


@functools.cache
def own_functions() -> Mapping[Any, Callable[..., Any]]:
    """Return the implementations of all tables by operation."""
    found: dict[Any, Callable[..., Any]] = {}
    for module in _MODULES:
        found.update(importlib.import_module(f"{__package__}.{module}").OPERATIONS)
    return found


__all__ = ["RaggedTensor", "elementwise", "operation_for", "operation_for_shape", "own_functions"]
