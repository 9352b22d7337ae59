"""Indexing of ragged tensors: `x[0]`, `x[1:]`, `x[:, :2]`, `x[..., tf.newaxis]`.

Each item of the index applies to one axis. An integer on the first axis selects a row. It is refused on a ragged
axis, since some rows may be too short, while slices are clipped to each row.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..errors import InvalidArgumentError
from ..ir.builder import current
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.where_ops import where
from ..ops.framework.static_values import of_tensor
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.comparison import less
from ..ops.ragged.row_splits import ranges
from ..sparse.checks import expect
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


def item(ragged: RaggedTensor, key: Any) -> Any:
    """Return `ragged[key]`."""
    pieces = list(key) if isinstance(key, (list, tuple)) else [key]
    return _picked(ragged, _spread(ragged, pieces))


def _spread(ragged: RaggedTensor, pieces: list[Any]) -> list[Any]:
    """Return the items with the first ellipsis replaced by full slices of the remaining axes."""
    at = next((i for i, piece in enumerate(pieces) if piece is Ellipsis), None)
    if at is None:
        return pieces
    others = [piece for piece in pieces if piece is not Ellipsis]
    rank = ragged.shape.rank
    if rank is None:
        raise ValueError("Rank must be known to use ellipsis.")
    used = sum(piece is not None for piece in others)
    before = [piece for piece in pieces[:at] if piece is not Ellipsis]
    return [*before, *[slice(None)] * max(rank - used, 0), *others[len(before) :]]


def _picked(ragged: Any, pieces: list[Any]) -> Any:
    """Apply the first item to the first axis, and the others to the result."""
    if not pieces:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(pieces)]
    first, *others = pieces
    if first is None:
        rest = _picked(ragged, others)
        if not isinstance(rest, RaggedTensor):
            return rest[None]
        rows = RowPartition.from_uniform_row_length(rest.nrows(), None, 1)
        return RaggedTensor(rest, rows, internal=True)
    if isinstance(first, slice):
        return _inner(_sliced_rows(ragged, first), others)
    return _picked(_row(ragged, first), others)


def _row(ragged: RaggedTensor, index: Any) -> Any:
    """Return one row."""
    number = _as_index(index)
    rows, known = ragged._row_partition, ragged._row_partition.static_nrows
    splits = rows.row_splits()
    static = of_tensor(number)
    if static and static[0] is not None and known is not None:
        row_number = static[0]
        if row_number >= known:
            raise IndexError(f"Row index {row_number} is out of bounds: the tensor has {known} rows")
        if row_number < -known:
            if current() is None:
                raise InvalidArgumentError(f"slice index {row_number} of dimension 0 out of bounds.")
            raise ValueError(f"slice index {row_number} of dimension 0 out of bounds.")
        row_number += known if row_number < 0 else 0
        return ragged.values[splits[row_number] : splits[row_number + 1]]
    at = in_dtype(number, splits.dtype)
    at = where(less(at, 0), at + rows.nrows(), at)
    return ragged.values[gather(splits, at) : gather(splits, at + 1)]


def _as_index(index: Any) -> Tensor:
    """Return an integer scalar as a tensor; TypeError for anything else."""
    if isinstance(index, (str, bytes, float)) or index is Ellipsis:
        raise TypeError(f"Slice indices must be integers or None, not {index!r}")
    number = convert_to_tensor(index)
    if not number.dtype.is_integer:
        raise TypeError(f"Slice indices must be integers or None, not {number.dtype.name}")
    if number.shape.rank not in (0, None):
        raise ValueError(f"an index must be a scalar, but has shape {number.shape}")
    return number


def _sliced_rows(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    """Return some of the rows."""
    if key.start is None and key.stop is None and key.step is None:
        return ragged
    rows = ragged._row_partition
    starts, limits = rows.row_starts()[key], rows.row_limits()[key]
    return rows_between(ragged.values, starts, limits, rows.uniform_row_length())


def rows_between(values: Any, starts: Any, limits: Any, uniform: Any = None) -> RaggedTensor:
    """Return the values from each start to its limit as rows."""
    positions, splits = ranges(starts, limits, in_dtype([1], starts.dtype))
    made = RowPartition(in_dtype(splits, starts.dtype), uniform)
    return RaggedTensor(picked_values(values, positions), made, internal=True)


def picked_values(values: Any, positions: Any) -> Any:
    """Return the values at these positions, which may be rows themselves."""
    if not isinstance(values, RaggedTensor):
        return gather(values, positions)
    splits = values.row_splits
    return rows_between(
        values.values, gather(splits, positions), gather(splits, positions + 1), values.uniform_row_length
    )


def _step(key: slice) -> Any:
    return 1 if key.step is None else key.step


def _inner(ragged: RaggedTensor, pieces: list[Any]) -> Any:
    """Apply items to the axes after the first one."""
    if not pieces:
        return ragged
    first, *others = pieces
    if first is None:
        rest = _inner(ragged, others)
        if not isinstance(rest, RaggedTensor):
            raise ValueError("a new axis in front of an axis that an index removes is not supported")
        outer = RowPartition.from_uniform_row_length(1, None, rest.nrows(), dtype=rest.row_splits.dtype)
        return RaggedTensor(rest, outer, internal=True)
    if not isinstance(first, slice):
        return _column(ragged, first, others)
    if first.start is None and first.stop is None and first.step is None:
        cut = ragged
    else:
        cut = _sliced_columns(ragged, first)
    if not others:
        return cut
    inner = cut.values
    new = _inner(inner, others) if isinstance(inner, RaggedTensor) else inner[(slice(None), *others)]
    return cut.with_values(new)


def _column(ragged: RaggedTensor, index: Any, others: list[Any]) -> Any:
    """Return the item with one index of every row; only for rows of one length."""
    number, uniform = _as_index(index), ragged.uniform_row_length
    if uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    at = in_dtype(number, uniform.dtype)
    at = where(less(at, 0), at + uniform, at)
    positions = ragged.row_starts() + at
    expect(less(at, uniform), "index is out of bounds of rows of the given length:", [number, uniform])
    picked = picked_values(ragged.values, positions)
    if not others:
        return picked
    return _inner(picked, others) if isinstance(picked, RaggedTensor) else picked[(slice(None), *others)]


def _sliced_columns(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    """Return a slice of every row; its bounds are relative to each row."""
    rows = ragged._row_partition
    kind, lengths = rows.dtype, rows.row_lengths()
    step = in_dtype(_as_index(_step(key)), kind)
    known = of_tensor(step)
    if known is None or known[0] is None:
        raise ValueError("the step of a slice along a ragged axis must be known before the graph runs")
    forward = known[0] > 0
    if known[0] == 0:
        raise ValueError("slice step cannot be zero")
    lowest, highest = (0, lengths) if forward else (-1, lengths - 1)
    first = lowest if forward else highest
    last = highest if forward else lowest
    begin = first if key.start is None else _bounded(key.start, lengths, lowest, highest, kind)
    end = last if key.stop is None else _bounded(key.stop, lengths, lowest, highest, kind)
    starts = rows.row_starts() + begin
    positions, splits = ranges(starts, rows.row_starts() + end, in_dtype([known[0]], kind))
    uniform = None
    if rows.static_uniform_row_length is not None:
        bounds = [None if one is None else _constant(one) for one in (key.start, key.stop)]
        if _UNKNOWN not in bounds:
            count = len(range(*slice(bounds[0], bounds[1], known[0]).indices(rows.static_uniform_row_length)))
            uniform = in_dtype(count, kind)
    made = RowPartition(in_dtype(splits, kind), uniform)
    return RaggedTensor(picked_values(ragged.values, positions), made, internal=True)


_UNKNOWN = object()


def _constant(bound: Any) -> Any:
    """Return a bound as a number; `_UNKNOWN` when the graph computes it."""
    known = of_tensor(_as_index(bound))
    return _UNKNOWN if known is None or known[0] is None else known[0]


def _bounded(bound: Any, lengths: Any, lowest: Any, highest: Any, kind: dtypes.DType) -> Any:
    """Return a bound clipped to each row as in Python; negative bounds count from the end."""
    number = in_dtype(_as_index(bound), kind)
    row_number = where(less(number, 0), number + lengths, number)
    return minimum(maximum(row_number, lowest), highest)
