"""What TensorFlow code says about graphs and order, where agc keeps the order of the program by itself.

>>> executing_eagerly()
True
>>> with control_dependencies([]):
...     group(no_op())
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .ir.builder import current


def executing_eagerly() -> bool:
    """Whether operations compute at once: false while a graph is being built."""
    return current() is None


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Nothing to do: operations with effects run in the order of the program."""
    yield


def group(*inputs: Any, name: str | None = None) -> None:
    """Nothing to do: effects of the inputs happen without being asked for."""


def no_op(name: str | None = None) -> None:
    """Do nothing."""


__all__ = ["control_dependencies", "executing_eagerly", "group", "no_op"]
