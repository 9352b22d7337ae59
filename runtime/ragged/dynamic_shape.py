"""`DynamicRaggedShape`: the shape of a ragged tensor, as `tf.shape` gives it.

[[1, 2], [3]]       rows 0 2 3 around 3 values      lengths [2, (2, 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..core import late_binding
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..core.type_spec import MeetsCompositeError
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.static_values import of_tensor
from .row_partition import RowPartition
from .static_values import in_dtype
from .tensor import RaggedTensor


@export("experimental.DynamicRaggedShape")
class DynamicRaggedShape:
    """Row partitions, the outermost first, of values with the shape `inner_shape`.

    `tf.zeros`, `ones`, `fill`, `reshape` and `broadcast_to` take it as the shape of their result.

    Attributes: `row_partitions`, `inner_shape` (a vector), `dtype` (int32 or int64), `rank`, `num_row_partitions`.

    >>> from agc.runtime import ragged, shape
    >>> shape(ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
    ) -> None:
        inner = convert_to_tensor(inner_shape)
        self._dtype = dtypes.as_dtype(dtype or (row_partitions[0].dtype if row_partitions else inner.dtype))
        self._partitions = tuple(rows.with_dtype(self._dtype) for rows in row_partitions)
        self._inner = in_dtype(inner, self._dtype)
        if self._partitions and self._inner.shape.rank == 1 and self._inner.shape[0] == 0:
            raise ValueError("If row_partitions are provided, must have inner_rank > 0. inner_shape is []")

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """Return the shape of a ragged or dense tensor."""
        if isinstance(t, RaggedTensor):
            kind = t.row_splits.dtype if dtype is None else dtype
            return cls(t._partitions, shape_of(t.flat_values, kind), kind)
        return cls([], shape_of(t, dtypes.int32 if dtype is None else dtype), dtype)

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: Any = None
    ) -> DynamicRaggedShape:
        """Return the shape of scalars in these rows; ValueError without rows."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, [in_dtype(row_partitions[-1].nvals(), dtypes.int64)], dtype)

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[Any], num_row_partitions: int | None = None, dtype: Any = dtypes.int64
    ) -> DynamicRaggedShape:
        """Return the shape with these sizes of the axes: an int, or a tuple with the length of each row.

        Args:
            lengths: the sizes, the outermost first.
            num_row_partitions: the number of axes with a row partition; by default those up to the last ragged axis.
            dtype: int32 or int64.

        Raises ValueError for a ragged first axis, rows that do not fit their number, or too few partitions.

        >>> DynamicRaggedShape.from_lengths([2, (2, 1), 3])
        <DynamicRaggedShape lengths=[2, (2, 1), 3] num_row_partitions=1>
        """
        ragged = max((axis for axis, length in enumerate(lengths) if not isinstance(length, int)), default=0)
        partitioned = ragged if num_row_partitions is None else num_row_partitions
        if lengths and not isinstance(lengths[0], int):
            raise ValueError(f"the first axis has one size, not {lengths[0]!r}")
        if not ragged <= partitioned <= max(len(lengths) - 1, 0):
            raise ValueError(f"num_row_partitions={partitioned} does not fit the lengths {list(lengths)}")
        partitions, count = [], lengths[0] if lengths else 1
        for length in lengths[1 : partitioned + 1]:
            if isinstance(length, int):
                partitions.append(RowPartition.from_uniform_row_length(length, nrows=count, dtype=dtype))
                count *= length
                continue
            if len(length) != count:
                raise ValueError(f"{count} rows cannot have the lengths {length}")
            partitions.append(RowPartition.from_row_lengths(length, dtype=dtype))
            count = sum(length)
        inner = [count, *lengths[partitioned + 1 :]] if lengths else []
        return cls(partitions, convert_to_tensor(inner, dtype), dtype)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        """Raise MeetsCompositeError, so that operations dispatch on the shape."""
        raise MeetsCompositeError(self)

    @staticmethod
    def _operation(operation: Any) -> Any:
        return late_binding.ragged_dispatch.operation_for_shape(operation)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of the ragged axes, outer ones first."""
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        """The number of ragged axes."""
        return len(self._partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The sizes of the flat values, an integer vector."""
        return self._inner

    @property
    def inner_rank(self) -> int | None:
        """The number of axes of the flat values; None if it is unknown."""
        return self._inner.shape[0]  # type: ignore[no-any-return]

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of sizes: int32 or int64."""
        return self._dtype

    @property
    def rank(self) -> int | None:
        """The number of axes."""
        inner = self.inner_rank
        return None if inner is None else len(self._partitions) + inner

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        """Return the same shape with sizes of another dtype."""
        return DynamicRaggedShape(self._partitions, self._inner, dtype)

    def is_uniform(self, axis: int) -> bool:
        """Return whether all rows of an axis have one size."""
        dim = self._normalized_axis(axis)
        if dim == 0 or dim > len(self._partitions):
            return True
        return self._partitions[dim - 1].is_uniform()

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the size of each axis: a number, a tuple of row lengths for a ragged axis, None if it is unknown."""
        known = of_tensor(self._inner) or ()
        if not self._partitions:
            return list(known)
        sizes: list[Any] = [self._partitions[0].static_nrows]
        for rows in self._partitions:
            if rows.is_uniform():
                sizes.append(rows.static_uniform_row_length)
            else:
                sizes.append(_lengths(rows) if ragged_lengths else None)
        return [*sizes, *known[1:]]

    def _normalized_axis(self, axis: int) -> int:
        rank = self.rank
        if rank is not None and not -rank <= axis < rank:
            raise IndexError(f"axis {axis} is out of range for a shape of rank {rank}")
        return axis + (rank or 0) if axis < 0 else axis

    def __getitem__(self, index: Any) -> Any:
        """Return the size of a uniform axis, as a scalar; ValueError for a ragged axis."""
        if not isinstance(index, int):
            raise TypeError(f"the index of a DynamicRaggedShape must be an int, not {index!r}")
        dim = self._normalized_axis(index)
        if dim > len(self._partitions) or not self._partitions:
            return self._inner[dim - len(self._partitions)]
        if dim == 0:
            return in_dtype(self._partitions[0].nrows(), self._dtype)
        length = self._partitions[dim - 1].uniform_row_length()
        if length is None:
            raise ValueError(f"Index {index} is not uniform")
        return length

    def __repr__(self) -> str:
        lengths = str(self.static_lengths()).replace("Ellipsis", "...")
        return f"<DynamicRaggedShape lengths={lengths} num_row_partitions={len(self._partitions)}>"


def _lengths(rows: RowPartition) -> Any:
    lengths = rows.row_lengths()
    return tuple(lengths._array.tolist()) if isinstance(lengths, EagerTensor) else None
