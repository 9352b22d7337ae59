"""Python's built-in functions on traced tensors."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from agc.arrays import ITERATION, is_array, truth

import torch

from .programs import HIGHER_ORDER


def _printed(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    if file is not None or end not in (None, "\n"):
        raise TypeError("print() of a traced tensor: PyTorch prints lines to the standard output")
    texts = [
        "{}" if is_array(value) else str(value).replace("{", "{{").replace("}", "}}") for value in values
    ]
    HIGHER_ORDER.print((" " if sep is None else sep).join(texts), *filter(is_array, values))


def _extreme(whole: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    def of(*values: Any, **options: Any) -> Any:
        if options:
            raise TypeError(f"{', '.join(options)}: not supported for traced tensors")
        items: Any = values[0] if len(values) == 1 else values
        if is_array(items):
            if items.ndim != 1:
                raise TypeError(
                    f"items of shape {tuple(items.shape[1:])} have no order: use torch.a{whole.__name__[1:]}"
                )
            return whole(items)
        return reduce(pair, items)

    return of


def _in_common(pair: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of two operands that takes Python numbers, too."""

    def of(one: Any, other: Any) -> Any:
        dtype = torch.result_type(one, other)
        return pair(torch.as_tensor(one).to(dtype), torch.as_tensor(other).to(dtype))

    return of


def _sum(values: Any, start: Any = 0) -> Any:
    return start + torch.sum(values, 0) if is_array(values) else builtins.sum(values, start)


def _sorted(values: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    items = values if is_array(values) else torch.stack([*values])
    keys = items if key is None else torch.stack([key(item) for item in items])
    return [*items[torch.sort(keys, stable=True, descending=reverse).indices]]


def _rounded(value: Any, digits: int | None = None) -> Any:
    if digits is not None:
        return torch.round(value, decimals=digits)
    return torch.round(value).to(torch.int64) if value.dtype.is_floating_point else value


def _contains(container: Any, item: Any) -> Any:
    if is_array(container):
        return (container == item).any()
    return reduce(torch.logical_or, [torch.eq(item, each) for each in container], torch.full((), False))


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    **ITERATION,
    builtins.abs: torch.abs,
    builtins.all: lambda values: torch.all(values) if is_array(values) else builtins.all(values),
    builtins.any: lambda values: torch.any(values) if is_array(values) else builtins.any(values),
    builtins.bool: lambda value: truth(value, "bool()"),
    builtins.divmod: lambda one, other: (one // other, one % other),
    builtins.float: lambda value: value.to(torch.get_default_dtype()),
    builtins.int: lambda value: value.to(torch.int64),
    builtins.max: _extreme(torch.max, _in_common(torch.maximum)),
    builtins.min: _extreme(torch.min, _in_common(torch.minimum)),
    builtins.print: _printed,
    builtins.round: _rounded,
    builtins.sorted: _sorted,
    builtins.sum: _sum,
    operator.contains: _contains,
}
