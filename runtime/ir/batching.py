"""Batching rules (vmap): each runs an operation on all rows of a batch at once.

    add x, y          of rows of x, one y           the rows get axes of size 1 where they have fewer than y
    reduce_sum x      of rows                       the same along the next axes
    gather x, i       of one x, rows of i           one gather

A rule takes a `Batch`. It returns the result for all rows, or None if it does not support the arguments. The
operation is then computed row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..core import shapes


class BatchedArgument(NamedTuple):
    """A tensor; with `has_rows` its first axis is the batch axis."""

    tensor: Any
    has_rows: bool

    @property
    def rank(self) -> int | None:
        """The rank of one row."""
        rank: int | None = self.tensor.shape.rank
        return None if rank is None else rank - self.has_rows


class Batch(Protocol):
    """One operation on all rows of its arguments, of which there are `count`; the result of one has `result_shape`."""

    arguments: Sequence[BatchedArgument]
    attrs: Mapping[str, Any]
    count: Any

    @property
    def result_shape(self) -> shapes.Dims: ...

    def call(self, *tensors: Any, **changed: Any) -> Any:
        """Call the operation on these tensors, with some attributes changed."""

    def with_rows(self, argument: BatchedArgument) -> Any:
        """Return the tensor of `argument` with a batch axis, broadcast if all rows share it."""

    def aligned(self, argument: BatchedArgument, rank: int) -> Any:
        """Return the tensor of `argument`, whose rows get axes of size 1 until they have `rank`."""

    def prepend(self, first: Any, rest: Any) -> Any:
        """Return a vector, such as a shape of all rows: the entry `first` of the batch axis, then `rest`."""


BatchingRule: TypeAlias = Callable[[Batch], Any]


def next_axis(axis: int) -> int:
    """Return the axis of the batch that an axis of a row becomes."""
    return axis + 1 if axis >= 0 else axis


def elementwise(batch: Batch) -> Any:
    """Broadcast rows of different ranks."""
    ranks = [argument.rank for argument in batch.arguments]
    if len(ranks) == 1:
        return unchanged(batch)
    known = [rank for rank in ranks if rank is not None]
    if len(known) < len(ranks):
        return None
    return batch.call(*(batch.aligned(argument, max(known)) for argument in batch.arguments))


def unchanged(batch: Batch) -> Any:
    """Call an operation that treats leading axes as batch axes itself."""
    return batch.call(batch.arguments[0].tensor)


def all_with_rows(batch: Batch) -> Any:
    """Call an operation whose operands must all have the same batch axes."""
    return batch.call(*map(batch.with_rows, batch.arguments))


def along_axes(batch: Batch) -> Any:
    """Call a reduction along the next axes."""
    (argument,) = batch.arguments
    axes = batch.attrs["axis"]
    if axes is None:
        if argument.rank is None:
            return None
        axes = range(argument.rank)
    return batch.call(argument.tensor, axis=tuple(map(next_axis, axes))) if axes else argument.tensor


def along_axis(batch: Batch) -> Any:
    """Call an operation along the next axis; an axis of None means the first one."""
    return batch.call(batch.arguments[0].tensor, axis=next_axis(batch.attrs["axis"] or 0))


def joined_along_axis(batch: Batch) -> Any:
    """Call an operation that joins all operands along the next axis."""
    tensors = map(batch.with_rows, batch.arguments)
    return batch.call(*tensors, axis=next_axis(batch.attrs["axis"]))
