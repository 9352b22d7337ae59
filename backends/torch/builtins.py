"""Python's built-in functions on traced tensors."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agc.arrays import builtins_of, is_array

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


def _rounded(value: Any, digits: int | None = None) -> Any:
    if digits is not None:
        return torch.round(value, decimals=digits)
    return torch.round(value).to(torch.int64) if value.dtype.is_floating_point else value


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    **builtins_of(torch),
    builtins.divmod: lambda one, other: (one // other, one % other),
    builtins.float: lambda value: value.to(torch.get_default_dtype()),
    builtins.int: lambda value: value.to(torch.int64),
    builtins.print: _printed,
    builtins.round: _rounded,
}
