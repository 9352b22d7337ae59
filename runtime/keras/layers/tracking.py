"""What belongs to a layer: the weights, layers and metrics in its attributes.

>>> held(type("Owner", (), {"__init__": lambda self: vars(self).update(a=[1, {"b": 2}], c="x")})(), int)
[1, 2]
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


class Kept:
    """A list that is not looked through for layers and weights."""

    def __init__(self) -> None:
        self.items: list[Any] = []


def held(owner: Any, kind: type[T]) -> list[T]:
    """The objects of a kind in attributes, and in lists, tuples and dicts of these, in the order of assignment."""
    found: list[T] = []
    pending = [value for name, value in vars(owner).items() if name not in ("_weights", "_given")]
    while pending:
        value = pending.pop(0)
        if isinstance(value, kind):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            pending = [*value, *pending]
        elif isinstance(value, dict):
            pending = [*value.values(), *pending]
    return found


def each_once(items: list[T]) -> list[T]:
    """The items without repetitions, by identity."""
    return list({id(item): item for item in items}.values())


def is_shape(value: Any) -> bool:
    """Whether this is one shape, and no nest of shapes."""
    return isinstance(value, (list, tuple)) and all(item is None or isinstance(item, int) for item in value)
