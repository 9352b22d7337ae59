"""Products of batches of matrices with different numbers of rows or columns.

    a [3, (m), k]   b [3, k, n]     ⇒     [3, (m), n]

Both factors are padded with zeros, which add nothing to the products, and the padding of the product is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..ops.arrays import shape_ops
from ..ops.arrays.creation import fill
from ..ops.arrays.tile_and_repeat import repeat
from ..ops.linalg.matmul import matmul_op
from ..ops.math.cast import cast
from ..ops.math.comparison import equal
from ..ops.reduce.reductions import reduce_all
from ..ops.reduce.segments import unsorted_segment_max
from ..sparse.checks import expect
from .mapping import check_equal_splits
from .tensor import RaggedTensor


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the products of matrices, one or both of which are ragged."""
    a, b = (one if isinstance(one, RaggedTensor) else convert_to_tensor(one) for one in (a, b))
    if a.dtype is not b.dtype:
        raise ValueError(f"`a` and `b` must have the same dtype, not {a.dtype.name} and {b.dtype.name}")
    if a.shape.rank is None or a.shape.rank != b.shape.rank:
        raise ValueError(f"`a` and `b` must have the same rank, not the shapes {a.shape} and {b.shape}")
    flags = transpose_a, transpose_b, adjoint_a, adjoint_b
    if a.shape.rank == 2:
        return matmul_op(_matrix(a, "a"), _matrix(b, "b"), *flags)
    if a.shape.rank > 3:
        a, b = _with_rows_of(a, b), _with_rows_of(b, a)
        check_equal_splits(a.row_splits, b.row_splits)
        return a.with_values(matmul_op(a.values, b.values, *flags))
    return _of_batches(a, b, flags)


def _with_rows_of(a: Any, b: Any) -> Any:
    """Return `a` with rows on its first axis, of the dtype that those of `b` have."""
    if isinstance(a, RaggedTensor):
        return a
    return RaggedTensor.from_tensor(a, ragged_rank=1, row_splits_dtype=b.row_splits.dtype)


def _matrix(a: Any, which: str) -> Any:
    """Return a ragged matrix whose rows have the same length as a tensor."""
    if not isinstance(a, RaggedTensor):
        return a
    lengths = a.row_lengths()
    expect(reduce_all(equal(lengths, lengths[:1])), f"the rows of `{which}` must have one length:", [lengths])
    return a.to_tensor()


def _of_batches(a: Any, b: Any, flags: tuple[bool, ...]) -> RaggedTensor:
    kind = (a if isinstance(a, RaggedTensor) else b).row_splits.dtype
    turned_a, turned_b = flags[0] or flags[2], flags[1] or flags[3]
    rows, inner_a = _sizes(a, "a", kind)[:: -1 if turned_a else 1]
    inner_b, columns = _sizes(b, "b", kind)[:: -1 if turned_b else 1]
    expect(
        reduce_all(equal(*(_lengths(size, one, kind) for size, one in ((inner_a, a), (inner_b, b))))),
        "the matrices of `a` must have as many columns as those of `b` have rows:",
        [inner_a, inner_b],
    )
    product = matmul_op(
        *(one.to_tensor() if isinstance(one, RaggedTensor) else one for one in (a, b)), *flags
    )
    if columns.shape.rank == 0:
        lengths = rows if rows.shape.rank else None
        return RaggedTensor.from_tensor(product, lengths, row_splits_dtype=kind)
    rows = _lengths(rows, a, kind)
    return RaggedTensor.from_tensor(product, (rows, repeat(columns, rows)), row_splits_dtype=kind)


def _sizes(a: Any, which: str, kind: dtypes.DType) -> tuple[Any, Any]:
    """Return the numbers of rows and columns of matrices: scalars, or vectors where they differ."""
    if not isinstance(a, RaggedTensor):
        sizes = shape_ops.shape(a, kind)
        return sizes[1], sizes[2]
    rows = a.row_lengths() if a.uniform_row_length is None else a.uniform_row_length
    if not isinstance(a.values, RaggedTensor):
        return rows, shape_ops.shape(a.values, kind)[1]
    if a.values.uniform_row_length is not None:
        return rows, a.values.uniform_row_length
    widths = a.values.row_lengths()
    matrices = a.value_rowids()
    columns = unsorted_segment_max(widths, matrices, a.nrows())
    columns = cast(columns * cast(a.row_lengths() > 0, kind), kind)
    expect(
        reduce_all(equal(widths, repeat(columns, a.row_lengths()))),
        f"the rows of a matrix of `{which}` must have one length:",
        [widths],
    )
    return rows, columns


def _lengths(size: Any, a: Any, kind: dtypes.DType) -> Any:
    """Return a vector with a size for each matrix of `a`."""
    if size.shape.rank:
        return size
    return fill([a.nrows() if isinstance(a, RaggedTensor) else shape_ops.shape(a, kind)[0]], size)


OPERATIONS: Mapping[Any, Callable[..., Any]] = {matmul_op: matmul}
