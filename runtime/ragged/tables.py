"""Which operations take ragged tensors, and the functions that they are."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

ON_ELEMENTS: Mapping[str, int] = {
    "as_string": 1, "bitcast": 1, "cast": 1, "check_numerics": 1, "clip_by_value": 3, "complex": 2, "divide": 2,
    "dropout": 1, "identity": 1, "leaky_relu": 1, "ones_like": 1, "saturate_cast": 1, "stop_gradient": 1,
    "where": 3, "zeros_like": 1,
}  # fmt: skip
"""Operations on single elements that are no `Elementwise`, and how many of their first arguments are elements."""

_ROOMS: tuple[str, ...] = ()
"""Modules with a table `OPERATIONS`."""


def every() -> Iterator[Mapping[str, Callable[..., Any]]]:
    """The tables of all modules."""
    for room in _ROOMS:
        yield importlib.import_module(f"{__package__}.{room}").OPERATIONS
