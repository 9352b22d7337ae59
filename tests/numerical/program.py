"""What a numerical program is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Calls = Sequence[tuple[Any, ...]]


class Program(NamedTuple):
    """A function, made anew for each way of running it, and what it is called with, one after the other."""

    make: Callable[[], Callable[..., Any]]
    calls: Calls
    tolerance: float = 1e-5
    """Of floats, relative to the largest of their tensor. Integers and booleans are equal."""
    is_python: bool = True
    """Whether it runs without being converted."""


def plain(function: Callable[..., Any], *calls: tuple[Any, ...], **more: Any) -> Program:
    """A program without state."""
    return Program(lambda: function, calls, **more)


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def integers(low: int, high: int, *shape: int, seed: int = 0, dtype: Any = np.int32) -> Any:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)
