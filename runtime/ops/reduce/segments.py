"""Segment reductions: combine the rows of each segment; `segment_ids` holds each row's segment.

    data          1  2  3  4          segment_ids sorted: `segment_sum`;
    segment_ids   0  0  2  2          in any order: `unsorted_segment_sum`, with the number of segments
    segment_sum   3  0  7

>>> segment_sum([1, 2, 3, 4], [0, 0, 2, 2]).numpy().tolist()
[3, 0, 7]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ...kernels.extremes import highest, lowest
from ...kernels.rows import are_within, combine_rows
from ..arrays.creation import ones_like, zeros_like
from ..arrays.gather_ops import gather
from ..arrays.where_ops import where
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, Op
from ..framework.op_families import NUMERIC, REAL, Array, DTypes, require_dtype
from ..framework.static_values import integer
from ..math.arithmetic import divide, maximum, multiply, truncatediv
from ..math.cast import cast
from ..math.comparison import equal, greater, greater_equal
from ..math.elementwise import conj, sqrt

Start = Callable[[Any], Any]


def _combined(ufunc: np.ufunc, rows: Array, ids: Array, count: int, empty: Any) -> Array:
    """Combine the rows of each segment with `ufunc`; empty segments get `empty`."""
    neutral = ufunc.identity
    if neutral is None:
        neutral = (lowest if ufunc is np.maximum else highest)(rows.dtype)
    result = np.empty((count, *rows.shape[1:]), rows.dtype)
    result.fill(neutral)  # np.full takes four times as long for few rows
    combine_rows(ufunc, result, ids, rows)
    if neutral != empty:
        result[np.bincount(ids, minlength=count) == 0] = empty
    return result


def _sorted_spec(data: Operand, segment_ids: Operand, allowed: DTypes, what: str) -> TensorType:
    require_dtype(data, allowed, what)
    if data.shape == ():
        raise ValueError(f"{what}: input must be at least rank 1")
    if segment_ids.shape is not None and len(segment_ids.shape) != 1:
        raise ValueError(
            f"{what}: segment_ids should be a vector, not of shape {shapes.show(segment_ids.shape)}"
        )
    if data.shape is None:
        return TensorType(data.dtype, None)
    if segment_ids.shape is not None and not shapes.compatible(data.shape[:1], segment_ids.shape):
        raise ValueError(f"{what}: segment_ids should be the same size as dimension 0 of input")
    known = segment_ids.value
    return TensorType(data.dtype, (None if known is None else _groups(known), *data.shape[1:]))


def _groups(ids: Array) -> int:
    return int(ids[-1]) + 1 if len(ids) else 0


def _check_order(ids: Array) -> None:
    if np.count_nonzero(ids[1:] < ids[:-1]):  # `any` takes longer for few ids
        raise errors.InvalidArgumentError("segment ids are not increasing")
    if len(ids) and ids[0] < 0:
        raise errors.InvalidArgumentError(f"Segment id {ids[0]} out of range [0, {_groups(ids)})")


def _sorted(name: str, combine: np.ufunc, start: int, allowed: DTypes, manual: str) -> Op:
    """Declare one of the operations on sorted segments."""

    def rule(data: Input, segment_ids: Ints, name: Name = None) -> TensorType:
        return _sorted_spec(data, segment_ids, allowed, operation.name)

    def kernel(data: Array, segment_ids: Array) -> Array:
        if len(data) != len(segment_ids):
            raise errors.InvalidArgumentError("segment_ids should be the same size as dimension 0 of input")
        _check_order(segment_ids)
        if combine is np.multiply and data.dtype.kind == "c":
            return _complex_products(data, segment_ids)
        return _combined(combine, data, segment_ids, _groups(segment_ids), start)

    rule.__name__, rule.__qualname__, rule.__doc__ = name, name, manual
    operation = Op(rule, export=(f"math.{name}",))
    operation.kernel(kernel)
    return operation


def _complex_products(rows: Array, ids: Array) -> Array:
    """Multiply the rows of each segment. The first row is not multiplied by 1, as `1 * (inf + 1j)` is `inf + nanj`."""
    result = np.ones((_groups(ids), *rows.shape[1:]), rows.dtype)
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    result[ids[starts]] = np.multiply.reduceat(rows, starts)
    return result


segment_sum = _sorted("segment_sum", np.add, 0, NUMERIC,
    """The sum of the rows of each group; `segment_ids` must be sorted.

    >>> segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1]).numpy().tolist()
    [[4, 6], [5, 6]]
    """)  # fmt: skip
segment_prod = _sorted("segment_prod", np.multiply, 1, NUMERIC,
    """The product of the rows of each group, 1 for an empty one; `segment_ids` must be sorted.

    >>> segment_prod([2, 3, 4], [0, 0, 2]).numpy().tolist()
    [6, 1, 4]
    """)  # fmt: skip
segment_max = _sorted("segment_max", np.maximum, 0, REAL,
    """The largest elements of the rows of each group, 0 for an empty one; `segment_ids` must be sorted.

    >>> segment_max([2, 3, -4], [0, 0, 2]).numpy().tolist()
    [3, 0, -4]
    """)  # fmt: skip
segment_min = _sorted("segment_min", np.minimum, 0, REAL,
    """The smallest elements of the rows of each group, 0 for an empty one; `segment_ids` must be sorted.

    >>> segment_min([2, 3, -4], [0, 0, 2]).numpy().tolist()
    [2, 0, -4]
    """)  # fmt: skip


@export("math.segment_mean")
@cached_dispatch
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: Name = None) -> Tensor:
    """Return the mean of the rows of each segment, 0 for an empty one; means of integers round towards zero.

    >>> segment_mean([1., 2., 4.], [0, 0, 2]).numpy().tolist()
    [1.5, 0.0, 4.0]
    """
    data = convert_to_tensor(data)
    total = segment_sum(data, segment_ids)
    count = _count(data, segment_ids, total, lambda ones: segment_sum(ones, segment_ids))
    return (truncatediv if data.dtype.is_integer else divide)(total, count, name)


def _count(data: Tensor, ids: TensorLike, total: Tensor, add_up: Callable[[Any], Any]) -> Tensor:
    """Return the number of rows of each segment, at least 1, in a shape that broadcasts with the sums `total`."""
    rank = total.shape.rank
    ones = ones_like(data if rank is None else convert_to_tensor(ids))
    count = maximum(add_up(cast(ones, dtypes.float64 if data.dtype.is_complex else data.dtype)), 1)
    for _ in range((rank or 1) - 1):
        count = count[..., None]
    return cast(count, data.dtype)


def _unsorted(name: str, combine: np.ufunc, start: Start, allowed: DTypes, manual: str) -> Op:
    """Declare one of the operations on segments in any order."""

    def rule(data: Input, segment_ids: Ints, num_segments: Ints, name: Name = None) -> TensorType:
        require_dtype(data, allowed, operation.name)
        count = integer(num_segments)
        if count is not None and count < 0:
            raise ValueError(f"Input num_segments == {count} must not be negative.")
        _check_prefix(data.shape, segment_ids.shape)
        if data.shape is None or segment_ids.shape is None:
            return TensorType(data.dtype, None)
        return TensorType(data.dtype, (count, *data.shape[len(segment_ids.shape) :]))

    def kernel(data: Array, segment_ids: Array, num_segments: Array) -> Array:
        count = int(num_segments)
        if count < 0:
            raise errors.InvalidArgumentError(f"Input num_segments == {count} must not be negative.")
        if data.shape[: segment_ids.ndim] != segment_ids.shape:
            _check_prefix(data.shape, segment_ids.shape)
        ids, rows = segment_ids, data
        if ids.ndim != 1:
            ids, rows = ids.reshape(-1), data.reshape(ids.size, *data.shape[ids.ndim :])
        if not are_within(ids, count):
            if ids.max() >= count:
                _refuse(ids, count)
            rows, ids = rows[ids >= 0], ids[ids >= 0]
        return _combined(combine, rows, ids, count, start(dtypes.of_array(data)))

    rule.__name__, rule.__qualname__, rule.__doc__ = name, name, manual
    operation = Op(rule, export=(f"math.{name}",))
    operation.kernel(kernel)
    return operation


def _refuse(ids: Array, count: int) -> NoReturn:
    at = np.flatnonzero(ids >= count)[0]
    raise errors.InvalidArgumentError(f"segment_ids[{at}] = {ids[at]} is out of range [0, {count})")


def _check_prefix(data: shapes.Dims, ids: shapes.Dims) -> None:
    if data is None or ids is None or (len(ids) <= len(data) and shapes.compatible(data[: len(ids)], ids)):
        return
    raise ValueError(
        f"data.shape = {shapes.show(data)} does not start with segment_ids.shape = {shapes.show(ids)}"
    )


unsorted_segment_sum = _unsorted("unsorted_segment_sum", np.add, lambda dtype: 0, NUMERIC,
    """The sum of the rows of each of `num_segments` groups; rows with a negative number are left out.

    >>> unsorted_segment_sum([1, 2, 3, 4], [2, 0, -1, 2], 4).numpy().tolist()
    [2, 0, 5, 0]
    """)  # fmt: skip
unsorted_segment_prod = _unsorted("unsorted_segment_prod", np.multiply, lambda dtype: 1, NUMERIC,
    """The product of the rows of each of `num_segments` groups, 1 for an empty one.

    >>> unsorted_segment_prod([2, 3, 4], [2, 0, 2], 4).numpy().tolist()
    [3, 1, 8, 1]
    """)  # fmt: skip
unsorted_segment_max = _unsorted("unsorted_segment_max", np.maximum, lambda dtype: dtype.min, REAL,
    """The largest elements of the rows of each group, the lowest number of the dtype for an empty one.

    >>> unsorted_segment_max([2, 3, 4], [1, 0, 1], 2).numpy().tolist()
    [3, 4]
    """)  # fmt: skip
unsorted_segment_min = _unsorted("unsorted_segment_min", np.minimum, lambda dtype: dtype.max, REAL,
    """The smallest elements of the rows of each group, the highest number of the dtype for an empty one.

    >>> unsorted_segment_min([2, 3, 4], [1, 0, 1], 2).numpy().tolist()
    [3, 2]
    """)  # fmt: skip


@export("math.unsorted_segment_mean")
@cached_dispatch
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: Name = None
) -> Tensor:
    """Return the mean of the rows of each of `num_segments` segments, 0 for an empty one.

    >>> unsorted_segment_mean([1., 2., 3.], [2, 2, 0], 4).numpy().tolist()
    [3.0, 0.0, 1.5, 0.0]
    """
    total, count = _total_and_count(data, segment_ids, num_segments)
    return divide(total, count, name)


@export("math.unsorted_segment_sqrt_n")
@cached_dispatch
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: Any, name: Name = None
) -> Tensor:
    """Return the sum of the rows of each of `num_segments` segments, divided by the square root of their number.

    >>> unsorted_segment_sqrt_n([1., 2., 3., 1., 5.], [2, 2, 2, 2, 0], 3).numpy().tolist()
    [5.0, 0.0, 3.5]
    """
    total, count = _total_and_count(data, segment_ids, num_segments)
    return divide(total, sqrt(count), name)


def _total_and_count(data: TensorLike, ids: TensorLike, num_segments: Any) -> tuple[Tensor, Tensor]:
    data = convert_to_tensor(data)
    total = unsorted_segment_sum(data, ids, num_segments)
    return total, _count(data, ids, total, lambda ones: unsorted_segment_sum(ones, ids, num_segments))


def _spread(x: Any, ids: Any) -> Any:
    """Return the row of `x` for each element's segment; zeros for elements with negative ids."""
    rows = gather(x, maximum(ids, 0))
    inside = greater_equal(ids, 0)
    for _ in range(len(rows.shape) - len(inside.shape)):
        inside = inside[..., None]
    return where(inside, rows, zeros_like(rows))


def _added_up(x: Any, ids: Any, *count: Any) -> Any:
    return unsorted_segment_sum(x, ids, *count) if count else segment_sum(x, ids)


def _of_extreme(dy: Any, y: Any, data: Any, segment_ids: Any, *count: Any) -> Any:
    """Return the cotangents for a maximum or minimum: an equal share for each extreme element."""
    chosen = equal(data, _spread(y, segment_ids))
    shares = divide(dy, maximum(_added_up(cast(chosen, dy.dtype), segment_ids, *count), 1))
    return where(chosen, _spread(shares, segment_ids), zeros_like(data)), None, *(None for _ in count)


def _of_product(dy: Any, y: Any, data: Any, segment_ids: Any, *count: Any) -> Any:
    """Return the cotangents for a product: the product of the others, which is not `y / data` if a factor is zero."""
    zero = equal(data, zeros_like(data))
    zeros = _added_up(cast(zero, dtypes.int32), segment_ids, *count)
    multiplied = unsorted_segment_prod if count else segment_prod
    others = multiplied(where(zero, ones_like(data), data), segment_ids, *count)
    several = greater(_spread(zeros, segment_ids), cast(zero, dtypes.int32))
    quotient = divide(_spread(others, segment_ids), where(zero, ones_like(data), data))
    to_data = where(several, zeros_like(data), multiply(conj(quotient), _spread(dy, segment_ids)))
    return to_data, None, *(None for _ in count)


segment_sum.gradient(lambda dy, y, data, segment_ids: (gather(dy, segment_ids), None))
unsorted_segment_sum.gradient(
    lambda dy, y, data, segment_ids, num_segments: (_spread(dy, segment_ids), None, None)
)
segment_max.gradient(_of_extreme)
segment_min.gradient(_of_extreme)
segment_prod.gradient(_of_product)
unsorted_segment_max.gradient(_of_extreme)
unsorted_segment_min.gradient(_of_extreme)
unsorted_segment_prod.gradient(_of_product)
