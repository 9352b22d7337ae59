"""Row partitions: the grouping of a ragged tensor's values along one axis.

    row_splits 0 2 2 3        rows of lengths 2, 0, 1        values 0 and 1, none, value 2

The splits define the partition; everything else is derived from them. Rows of one known length are marked by
`uniform_row_length`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..ir.builder import current
from ..ops.arrays.concat_split import concat
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.shape_ops import size as size_of
from ..ops.assertions.assert_op import require
from ..ops.framework.static_values import of_tensor
from ..ops.math.arithmetic import maximum, multiply
from ..ops.ragged.row_splits import checked_row_splits, rowids_of_splits, splits_of_lengths, splits_of_rowids
from ..ops.reduce.reductions import reduce_max
from .static_values import in_dtype

INTEGERS = (dtypes.int32, dtypes.int64)


@export("experimental.RowPartition")
class RowPartition:
    """The rows of a ragged tensor along one axis; made by `from_row_splits` and the other factories.

    >>> RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
    [0, 2, 2, 3]
    """

    __slots__ = ("_rowids", "_splits", "_uniform")

    def __init__(self, row_splits: Tensor, uniform_row_length: Tensor | None = None) -> None:
        self._splits = row_splits
        self._uniform = uniform_row_length
        self._rowids: tuple[Any, Tensor] | None = None

    @classmethod
    def from_row_splits(
        cls,
        row_splits: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
        nvals: Any = None,
    ) -> RowPartition:
        """Return rows with these splits; `nvals` is checked against the last of them."""
        splits = as_splits(row_splits, "row_splits", dtype, dtype_hint)
        if splits.shape.rank == 1 and splits.shape[0] == 0:
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            count = splits[-1] if nvals is None else in_dtype(nvals, splits.dtype)
            splits = checked_row_splits(splits, count)
        return cls(splits)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return consecutive rows of these lengths."""
        return cls(splits_of_lengths(as_splits(row_lengths, "row_lengths", dtype, dtype_hint)))

    @classmethod
    def from_row_starts(
        cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return consecutive rows that start at these of `nvals` values."""
        starts = as_splits(row_starts, "row_starts", dtype, dtype_hint)
        return cls.from_row_splits(concat([starts, [in_dtype(nvals, starts.dtype)]], 0), validate)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return consecutive rows that end before these values."""
        limits = as_splits(row_limits, "row_limits", dtype, dtype_hint)
        return cls.from_row_splits(concat([in_dtype([0], limits.dtype), limits], 0), validate)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Return rows from the row id of each value; `nrows` is the number of rows."""
        ids = as_splits(value_rowids, "value_rowids", dtype, dtype_hint)
        if nrows is None:
            known = of_tensor(ids)
            if known is not None and None not in known:
                nrows = known[-1] + 1 if known else 0  # type: ignore[operator]
            else:
                nrows = reduce_max(concat([ids, in_dtype([-1], ids.dtype)], 0)) + 1
        count = in_dtype(nrows, ids.dtype)
        if isinstance(count, EagerTensor):
            number, last = int(count._array), of_tensor(ids)
            if number < 0:
                raise ValueError(f"Expected nrows >= 0; got {number}")
            if last and last[-1] is not None and last[-1] >= number and sorted(last) == list(last):  # type: ignore[type-var]
                raise ValueError(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={number}, value_rowids[-1]={last[-1]}"
                )
        return cls(splits_of_rowids(ids, count))

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Return rows of one length; `nvals` or `nrows` determines their number."""
        length = as_scalar(uniform_row_length, "uniform_row_length", dtype, dtype_hint)
        count = None if nvals is None else in_dtype(nvals, length.dtype)
        rows = None if nrows is None else in_dtype(nrows, length.dtype)
        static = [_number(one) for one in (length, count, rows)]
        _check_uniform(*static)
        if rows is None:
            if count is None:
                raise ValueError("from_uniform_row_length needs nvals or nrows")
            if static[0] is not None:
                rows = count // max(static[0], 1) if static[0] else count * 0
            else:
                rows = count // maximum(length, 1)
        if validate and count is not None and None in static[: 3 if nrows is not None else 2]:
            require(count == rows * length, "values do not fill rows of the given length:", [count, length])
        splits = multiply(counted(in_dtype(rows + 1, length.dtype)), length)
        return cls(splits, length)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the splits, int32 or int64."""
        return self._splits.dtype

    def row_splits(self) -> Tensor:
        """Return the starts of the rows, and the end of the last one."""
        return self._splits

    def value_rowids(self) -> Tensor:
        """Return the row id of each value."""
        return self._kept(lambda: rowids_of_splits(self._splits))

    def _kept(self, make: Callable[[], Tensor]) -> Tensor:
        """Return a derived tensor, computed once for each graph."""
        home = current()
        if self._rowids is None or self._rowids[0] is not home:
            self._rowids = (home, make())
        return self._rowids[1]

    def nrows(self) -> Tensor:
        """Return the number of rows."""
        known = self.static_nrows
        if known is not None:
            return in_dtype(known, self.dtype)
        return in_dtype(size_of(self._splits, self.dtype) - 1, self.dtype)

    def nvals(self) -> Tensor:
        """Return the number of values."""
        return self._splits[-1]

    def row_lengths(self) -> Tensor:
        """Return the number of values in each row."""
        return self._splits[1:] - self._splits[:-1]

    def row_starts(self) -> Tensor:
        """Return the start of each row."""
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """Return the end of each row."""
        return self._splits[1:]

    def offsets_in_rows(self) -> Tensor:
        """Return the position of each value in its row.

        >>> RowPartition.from_row_lengths([2, 0, 3]).offsets_in_rows()
        <tf.Tensor: shape=(5,), dtype=int64, numpy=array([0, 1, 0, 1, 2])>
        """
        return counted(self.nvals()) - gather(self.row_starts(), self.value_rowids())  # type: ignore[no-any-return]

    def uniform_row_length(self) -> Tensor | None:
        """Return the length of all rows, if they are known to have one length."""
        return self._uniform

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, if it is known statically."""
        size = self._splits.shape[0] if self._splits.shape.rank == 1 else None
        return None if size is None else int(size) - 1

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows, if it is known statically."""
        return None if self._uniform is None else _number(self._uniform)

    @property
    def static_nvals(self) -> int | None:
        """The number of values, if it is known statically."""
        rows, length = self.static_nrows, self.static_uniform_row_length
        if isinstance(self._splits, EagerTensor):
            return int(self._splits._array[-1])
        return None if rows is None or length is None else rows * length

    def is_uniform(self) -> bool:
        """Return whether all rows have one known length."""
        return self._uniform is not None

    def with_dtype(self, dtype: Any) -> RowPartition:
        """Return the same rows with splits of another dtype; ValueError unless that is int32 or int64."""
        wanted = dtypes.as_dtype(dtype)
        if wanted not in INTEGERS:
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {wanted}.")
        if wanted is self.dtype:
            return self
        uniform = None if self._uniform is None else in_dtype(self._uniform, wanted)
        return RowPartition(in_dtype(self._splits, wanted), uniform)

    def __repr__(self) -> str:
        values = self._splits._array if isinstance(self._splits, EagerTensor) else self._splits
        return f"tf.RowPartition(row_splits={values})"


def as_splits(value: Any, name: str, dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """Return a vector of int64, or int32 if it is already int32; ValueError for other ranks and dtypes."""
    tensor = as_integers(value, name, dtype, dtype_hint)
    if tensor.shape.rank not in (1, None):
        raise ValueError(f"Shape {tensor.shape} of {name} must have rank 1")
    return tensor


def as_scalar(value: Any, name: str, dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """Return a scalar int64, or int32 if it is already int32."""
    tensor = as_integers(value, name, dtype, dtype_hint)
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"Shape {tensor.shape} of {name} must have rank 0")
    return tensor


def as_integers(value: Any, name: str, dtype: Any, dtype_hint: Any) -> Tensor:
    """Return integers of `dtype`, else of their own dtype, else of `dtype_hint`, else of int64."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    try:
        hint = wanted or dtypes.as_dtype(dtype_hint or dtypes.int64)
        has_dtype = hasattr(value, "dtype")
        tensor = convert_to_tensor(value) if has_dtype else convert_to_tensor(value, hint)
    except TypeError as error:
        raise ValueError(f"{name} must have dtype int32 or int64: {error}") from None
    if tensor.dtype not in INTEGERS:
        if not tensor.dtype.is_integer:
            raise ValueError(f"{name} must have dtype int32 or int64. Received {tensor.dtype}.")
        tensor = in_dtype(tensor, dtypes.int64)
    return tensor if wanted is None else in_dtype(tensor, wanted)


def _number(tensor: Tensor | None) -> int | None:
    """Return the value of a scalar, if it is known statically."""
    if tensor is None:
        return None
    known = of_tensor(tensor)
    return known[0] if known else None


def _check_uniform(length: int | None, count: int | None, rows: int | None) -> None:
    """Raise ValueError for an inconsistent length, number of values and number of rows."""
    if length is not None and length < 0:
        raise ValueError(f"uniform_row_length must be >= 0; got {length}")
    if length is None or count is None:
        return
    if rows is not None and rows * length != count:
        raise ValueError(f"{count} values are not {rows} rows of length {length}")
    if rows is None and (count % length if length else count):
        raise ValueError(f"{count} values cannot be divided into rows of length {length}")
