"""Errors for nests that contain themselves, whose flattening would never end.

items = [x]
items.append(items)
tf.nest.flatten(items)      raises StagingError, a ValueError, instead of RecursionError"""

from __future__ import annotations

from typing import Any

from .. import nest
from .diagnostics import staging_error


def told(error: RecursionError, *values: Any) -> Exception:
    """Return the error to raise instead of `error`, which came from flattening these values."""
    found = next((one for value in values for one in _rings(value, ())), None)
    if found is None:
        return error
    return staging_error(
        "AGC291",
        f"a {type(found).__name__} contains itself, so it cannot be flattened into tensors",
        why="arguments and results of a function with a graph, and values that become tensors, are finite nests",
        fix="pass its tensors, or use an object that is not a list, dict or dataclass",
    )


def _rings(value: Any, inside: tuple[Any, ...]) -> Any:
    """Yield the nests that contain themselves, the outermost first."""
    if any(value is outer for outer in inside):
        yield value
    elif nest.is_nested(value):
        for _, child in nest.children(value):
            yield from _rings(child, (*inside, value))
