"""Python's built-in functions on arrays, and on `range` and others with a traced length."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from .conditionals import truth
from .failures import library
from .items import backwards, enumerated, in_range, length, zipped
from .leaves import is_array

Function = Callable[..., Any]

ITERATION: dict[Function, Function] = {
    builtins.enumerate: enumerated,
    builtins.len: length,
    builtins.range: in_range,
    builtins.reversed: backwards,
    builtins.zip: zipped,
}


def builtins_of(numpy: Any) -> dict[Function, Function]:
    """Return the built-in functions that a module with the functions of NumPy has under NumPy's names."""
    return {
        **ITERATION,
        builtins.abs: numpy.abs,
        builtins.all: lambda values: numpy.all(values) if is_array(values) else builtins.all(values),
        builtins.any: lambda values: numpy.any(values) if is_array(values) else builtins.any(values),
        builtins.bool: lambda value: truth(value, "bool()"),
        builtins.max: _extreme(numpy.amax, lambda one, other: library().maximum(one, other)),
        builtins.min: _extreme(numpy.amin, lambda one, other: library().minimum(one, other)),
        builtins.sorted: _sorting(numpy),
        builtins.sum: lambda values, start=0: (
            start + numpy.sum(values, 0) if is_array(values) else builtins.sum(values, start)
        ),
        operator.contains: _contains,
    }


def _extreme(whole: Function, pair: Function) -> Function:
    def of(*values: Any, **options: Any) -> Any:
        if options:
            raise TypeError(f"{', '.join(options)}: not supported for traced {library().value}s")
        items: Any = values[0] if len(values) == 1 else values
        if not is_array(items):
            return reduce(pair, items)
        if items.ndim != 1:
            raise TypeError(f"items of shape {tuple(items.shape[1:])} have no order: use .{whole.__name__}()")
        return whole(items)

    return of


def _sorting(numpy: Any) -> Function:
    def of(values: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
        items = values if is_array(values) else numpy.stack([*map(library().as_array, values)])
        keys = items if key is None else numpy.stack([library().as_array(key(item)) for item in items])
        if keys.ndim != 1:
            raise TypeError(
                f"items of shape {tuple(keys.shape[1:])} have no order: give a key that returns scalars"
            )
        return list(items[numpy.argsort(keys, stable=True, descending=bool(reverse))])

    return of


def _contains(container: Any, item: Any) -> Any:
    if is_array(container):
        return (container == item).any()
    found = [library().as_array(each == item) for each in container]
    return reduce(library().logical_or, found, library().truth(False))
