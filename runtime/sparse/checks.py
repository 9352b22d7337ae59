"""Checks of the arguments of sparse operations."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..core.tensor import EagerTensor
from ..ir.builder import current
from ..ops.assertions.assert_op import require
from .tensor import SparseTensor


def sparse_only(value: Any) -> SparseTensor:
    """Return `value`; TypeError unless it is a sparse tensor."""
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def expect(condition: Any, message: str, data: Any = ()) -> None:
    """Raise InvalidArgumentError unless the condition holds at each run; ValueError in a graph if it never holds."""
    known = condition if isinstance(condition, bool) else None
    if isinstance(condition, EagerTensor):
        known = bool(condition._array.all())
    if known is None:
        require(condition, message, list(data))
    elif not known:
        text = " ".join([message, *(str(getattr(item, "_array", item)) for item in data)])
        raise ValueError(text) if current() is not None else errors.InvalidArgumentError(text)
