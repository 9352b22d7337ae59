"""Assertions that run with the graph: `Assert`, on which `debugging.assert_*` are based.

>>> Assert(convert_to_tensor(True), ["never seen"])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.builder import current
from ..arrays.reshape import reshape
from ..framework.effects_as_operations import returns_operation
from ..state import print_and_assert


@export("debugging.Assert", "Assert")
@returns_operation
def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> None:
    """Raise InvalidArgumentError with `data` unless `condition` is true; in a graph at each run.

    Args:
        condition: a scalar bool.
        data: a list of tensors and Python values for the message.
        summarize: the number of elements of each that the message shows, 3 by default; -1 for all.

    Raises TypeError if `data` is not a list, or (in a graph) if `condition` is not bool; ValueError if it is
    not a scalar.

    >>> Assert(False, ["loss", [1, 2, 3, 4]])
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: Expected 'False' to be true. Summarized data: b'loss'
    1, 2, 3, ...
    """
    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    tensor = convert_to_tensor(condition)
    if current() is None:
        if not tensor:
            raise errors.InvalidArgumentError(
                f"Expected '{condition!s}' to be true. Summarized data: {_summary(data, summarize)}"
            )
        return
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"a condition must be a scalar, but its shape is {tensor.shape}: reduce it first")
    require(reshape(tensor, ()), "assertion failed:", data, summarize=3 if summarize is None else summarize)


def _summary(data: Any, summarize: int | None) -> str:
    """Format the values, one per line, as TensorFlow does in eager mode."""
    limit = 3 if summarize is None else summarize
    lines = []
    for item in data:
        flat = np.asarray(convert_to_tensor(item)).ravel()
        shown = flat if limit < 0 else flat[:limit]
        lines.append(", ".join(map(str, shown)) + (", ..." if len(shown) < len(flat) else ""))
    return "\n".join(lines)


def require(
    condition: Any, message: str, data: Any = (), error: str = "InvalidArgumentError", summarize: int = 3
) -> None:
    """Raise the exception class named `error` when the graph runs, unless `condition` is true."""
    tensors = [convert_to_tensor(item) for item in (data if isinstance(data, (list, tuple)) else [data])]
    print_and_assert.assert_true(convert_to_tensor(condition), tensors, message, error, summarize)


def name_of(tensor: Any) -> str:
    """Return the name of a tensor of a graph; "" for an eager tensor, which has none."""
    return getattr(tensor, "name", None) or ""


def called(tensor: Tensor) -> str:
    """Return the name of a tensor for a message; of an eager one its shape and dtype."""
    return name_of(tensor) or f"shape={tensor.shape} dtype={tensor.dtype.name}"
