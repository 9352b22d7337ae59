"""Slices of the batch of an operator.

operator[0]   ==>   an operator of the same class, with diag[0, :], matrix[0, :, :], operators[i][0], …

A tensor whose batch broadcasts keeps its axes of size 1, and gets only those slices that its axes meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nest


def sliced(operator: Any, slices: Any) -> Any:
    """Return the operator whose batch is that of `operator[slices]`; TypeError if the class does not support this."""
    ndims, arguments = operator._matrix_ndims, {**operator._arguments(), "name": operator.name}
    if not (ndims or "batch_shape" in arguments) or not ndims.keys() <= arguments.keys():
        raise TypeError(f"{type(operator).__name__} does not support slices of its batch")
    batch = operator.batch_shape
    if batch.rank is None:
        raise ValueError("An operator of unknown rank cannot be sliced.")
    wanted = _for_each_axis(slices if isinstance(slices, tuple) else (slices,), batch.rank)
    if "batch_shape" in arguments:
        arguments["batch_shape"] = np.empty(batch, np.bool_)[tuple(wanted)].shape
    for name, count in ndims.items():
        if arguments.get(name) is not None:
            arguments[name] = nest.map_structure(
                lambda part, count=count: _part(part, count, wanted, batch), arguments[name]
            )
    return type(operator)(**arguments)


def _for_each_axis(slices: tuple[Any, ...], rank: int) -> list[Any]:
    """Return slices without an ellipsis, one for each axis besides those that are None."""
    count = sum(item is not None and item is not Ellipsis for item in slices)
    if count > rank:
        raise IndexError(f"{count} slices for a batch of rank {rank}")
    where = next((i for i, item in enumerate(slices) if item is Ellipsis), len(slices))
    return [*slices[:where], *[slice(None)] * (rank - count), *slices[where + 1 :]]


def _part(part: Any, ndims: int, slices: list[Any], batch: Any) -> Any:
    """Return the slices of a tensor with `ndims` axes after those of its batch, or of an operator."""
    is_operator = hasattr(part, "batch_shape")
    own = part.batch_shape if is_operator else part.shape[: part.shape.rank - ndims]
    axis, outer = own.rank, batch.rank
    found: list[Any] = []
    for item in reversed(slices):
        if item is None:
            found.append(None)
        elif axis:
            axis, outer = axis - 1, outer - 1
            repeated = own[axis] == 1 and batch[outer] != 1
            found.append((0 if isinstance(item, int) else slice(None)) if repeated else item)
    chosen = tuple(reversed(found))
    return part[chosen] if is_operator else part[(*chosen, *[slice(None)] * ndims)]
