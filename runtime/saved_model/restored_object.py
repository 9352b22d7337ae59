"""The objects of loaded models, and the limits of lists and dicts inside of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.module import Module

_DEEPEST, _MOST_VALUES = 100, 1_000_000  # limits of nested lists and dicts


class RestoredObject(Module):
    """A loaded object, with its children and functions as attributes."""

    def __init__(self, class_name: str) -> None:
        super().__init__()
        self._class_name = class_name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of a {self._class_name}>"


class CallableObject(RestoredObject):
    """A loaded object that was callable."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


def check_nesting(items: Mapping[int, Sequence[int]]) -> None:
    """Check the lists and dicts of a file, by their numbers and those of their items.

    Raises ValueError above the limits, as for a list that contains itself, whose traversal would never end.
    """
    sizes: dict[int, tuple[int, int]] = {}

    def measured(number: int, depth: int) -> tuple[int, int]:
        """Return how many values a list holds, and how deeply they are nested."""
        if number not in items:
            return 1, 0
        if number not in sizes:
            if depth > _DEEPEST:
                raise ValueError(
                    f"lists and dicts are nested more than {_DEEPEST} deep, or contain themselves"
                )
            inner = [measured(child, depth + 1) for child in items[number]]
            size = 1 + sum(count for count, _ in inner)
            height = 1 + max((deep for _, deep in inner), default=0)
            if size > _MOST_VALUES or height > _DEEPEST:
                raise ValueError(f"lists and dicts hold {size} values, {height} deep")
            sizes[number] = size, height
        return sizes[number]

    for number in items:
        measured(number, 0)
