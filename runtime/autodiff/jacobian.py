"""Jacobians: one backward sweep for each element of the target.

jacobian(y, x)[i, j] = dy[i] / dx[j]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core import late_binding
from ..core.tensor_spec import TensorSpec
from ..ops.arrays.concat_split import join
from ..ops.arrays.creation import zeros
from ..ops.arrays.ranges import one_hot
from ..ops.arrays.ranges import range as numbers
from ..ops.arrays.reshape import reshape, transpose
from ..ops.arrays.shape_ops import shape, size
from ..ops.math.arithmetic import maximum
from ..ops.reduce.reductions import reduce_prod
from .backprop import gradients
from .sparse_gradients import dense
from .tape_records import Key, Record

Gradient = Callable[[Any, Any], list[Any]]
"""A function from a target and its cotangent to the gradients of the sources."""


def jacobian(gradient: Gradient, target: Any, sources: Sequence[Any]) -> list[Any]:
    """Return the derivatives of each element of the target; the shape is the target's followed by the source's."""
    count = size(target)

    def row(i: Any) -> list[Any]:
        seed = reshape(one_hot(i, count, dtype=target.dtype), shape(target))
        return list(map(dense, gradient(target, seed)))

    return [
        None if rows is None else reshape(rows, join([shape(target), shape(rows)[1:]], 0))
        for rows in _stacked(row, count, sources)
    ]


def jacobian_of_records(
    records: Sequence[Record], targets: Sequence[Any], sources: Sequence[Any], since: Mapping[Key, int]
) -> list[Any]:
    """Return what `jacobian` does, for the records of a tape and one target."""
    return jacobian(lambda y, dy: gradients(records, [(y, dy)], sources, since), targets[0][0], sources)


def batch_jacobian_of_records(
    records: Sequence[Record], targets: Sequence[Any], sources: Sequence[Any], since: Mapping[Key, int]
) -> list[Any]:
    """Return what `batch_jacobian` does, for the records of a tape and one target, in a list."""
    return [
        batch_jacobian(lambda y, dy: gradients(records, [(y, dy)], sources, since), targets[0][0], *sources)
    ]


def batch_jacobian(gradient: Gradient, target: Any, source: Any) -> Any:
    """Return the Jacobian of each row of the target by the row of `source` with the same index."""
    count = target.shape[1:].num_elements()
    if count is None:
        count = reduce_prod(shape(target)[1:])
    rows = reshape(target, join([shape(target)[:1], [count]], 0))

    def column(j: Any) -> list[Any]:
        seed = zeros(shape(rows), target.dtype) + one_hot(j, count, dtype=target.dtype)
        return list(map(dense, gradient(target, reshape(seed, shape(target)))))

    (found,) = _stacked(column, count, [source])
    if found is None:
        return None
    order = [1, 0, *range(2, 1 + source.shape.rank)]
    return reshape(transpose(found, order), join([shape(target), shape(found)[2:]], 0))


def _stacked(row: Callable[[Any], list[Any]], count: Any, sources: Sequence[Any]) -> list[Any]:
    """Return the rows 0, 1, … of all sources, each stacked; None for a source that has no gradient."""
    first = row(0)  # only finds the sources that have a gradient
    connected = [i for i, grad in enumerate(first) if grad is not None]
    if not connected:
        return [None] * len(sources)
    specs = [TensorSpec(sources[i].shape, sources[i].dtype) for i in connected]
    is_known = all(spec.shape.is_fully_defined() for spec in specs)
    # If a shape is known at run time only, one row is computed even for no elements, to get the shape of rows.
    indices = numbers(count if is_known else maximum(count, 1))
    found = late_binding.map_fn(lambda i: [row(i)[k] for k in connected], indices, fn_output_signature=specs)
    stacked: list[Any] = [None] * len(sources)
    for i, rows in zip(connected, found, strict=True):
        stacked[i] = rows if is_known else rows[:count]
    return stacked
