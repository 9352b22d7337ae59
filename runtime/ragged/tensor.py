"""`RaggedTensor`: a tensor with rows of different lengths.

    values 1 2 3      rows 0 2 2 3      <tf.RaggedTensor [[1, 2], [], [3]]>

The values may be a dense tensor, whose inner axes are uniform, or a ragged tensor, for several ragged axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from agc.autograph.staging import register

from .. import dtypes
from ..autograph_backend import BACKEND
from ..core import late_binding
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import EagerTensor, Tensor
from ..core.type_spec import CompositeTensor
from ..errors import InvalidArgumentError
from ..ops.arrays.creation import fill
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.operator_overloads import install
from ..ops.math.comparison import equal, not_equal
from ..ops.ragged.ragged_to_string import ragged_text
from .factories import RaggedFactories
from .row_partition import RowPartition
from .static_values import in_dtype


@export("RaggedTensor")
class RaggedTensor(RaggedFactories, CompositeTensor):
    """A tensor with one or more ragged axes; made by `from_row_splits` and the other factories.

    `values` are the concatenated rows of the first ragged axis, `flat_values` those of the last one: a dense
    tensor.

    >>> from agc.runtime import ragged
    >>> rows = ragged.constant([[1, 2], [], [3]])
    >>> rows.row_splits.numpy().tolist(), rows.values.numpy().tolist()
    ([0, 2, 2, 3], [1, 2, 3])
    """

    __slots__ = ("__weakref__", "_row_partition", "_values")
    _is_native = True
    _how_to_densify = " Its method `to_tensor` gives one."
    __array_priority__ = 100.0

    def __init__(self, values: Any, row_partition: RowPartition, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        self._values = values
        self._row_partition = row_partition

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape; the size of a ragged axis is None."""
        rows = self._row_partition
        inner = self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        return TensorShape([rows.static_nrows, rows.static_uniform_row_length, *inner[1:]])

    def get_shape(self) -> TensorShape:
        """Return `shape`."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of row partitions."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, ragged or dense."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The values of the innermost ragged axis."""
        inner = self._values
        while isinstance(inner, RaggedTensor):
            inner = inner._values
        return inner  # type: ignore[no-any-return]

    @property
    def row_splits(self) -> Tensor:
        """The offsets of the rows in the values, and the end of the last row."""
        return self._row_partition.row_splits()

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if they are known to have one length."""
        return self._row_partition.uniform_row_length()

    @property
    def _partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of all ragged axes, the outermost first."""
        found, inner = [], self
        while isinstance(inner, RaggedTensor):
            found.append(inner._row_partition)
            inner = inner._values
        return tuple(found)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, the outermost first."""
        return tuple(rows.row_splits() for rows in self._partitions)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row lengths of all ragged axes, the outermost first."""
        return tuple(rows.row_lengths() for rows in self._partitions)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row ids of the values of all ragged axes, the outermost first."""
        return tuple(rows.value_rowids() for rows in self._partitions)

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return the row id of each value."""
        return self._row_partition.value_rowids()

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return the number of rows."""
        return _in(self._row_partition.nrows(), out_type)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return the start of each row in the values."""
        return self._row_partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return the end of each row in the values."""
        return self._row_partition.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the number of items in each row; with `axis`, of the rows of another axis, as a ragged tensor."""
        dim = self._axis(axis)
        if dim == 0:
            return self.nrows()
        if dim == 1:
            return self._row_partition.row_lengths()
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(dim - 1))
        sizes = in_dtype(shape_of(inner), self.row_splits.dtype)
        return self.with_values(fill(sizes[: dim - 1], sizes[dim - 1]))

    def _axis(self, axis: int) -> int:
        """Return an axis counted from the front; ValueError when it is out of range."""
        rank = self.shape.rank
        if rank is None and axis < 0:
            raise ValueError("a negative axis needs a known rank")
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        return axis + (rank or 0) if axis < 0 else axis

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """Return the shape of the smallest dense tensor that contains this one; with `axis`, some of its sizes."""
        return late_binding.ragged_conversion.bounding_shape(self, axis, out_type)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows with as many other values. ValueError when the numbers are known to differ."""
        values = self._values_of(new_values)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not self.row_splits.dtype:
            raise ValueError(
                "self and values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype()"
            )
        _check_count(self._values.shape, values.shape)
        return RaggedTensor(values, self._row_partition, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return the same nested rows with other flat values."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same tensor with row splits of another dtype, int32 or int64."""
        rows, inner = self._row_partition.with_dtype(dtype), self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        return RaggedTensor(inner, rows, internal=True)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge the axes from `outer_axis` to `inner_axis` into one.

        >>> from agc.runtime import ragged
        >>> ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
        """
        return late_binding.ragged_conversion.merge_dims(self, self._axis(outer_axis), self._axis(inner_axis))

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Tensor:
        """Return a dense tensor, with `default_value` after the ends of shorter rows.

        With `shape`, the tensor is padded or truncated to that shape.

        >>> from agc.runtime import ragged
        >>> ragged.constant([[1, 2], [], [3]]).to_tensor(0).numpy().tolist()
        [[1, 2], [0, 0], [3, 0]]
        """
        return late_binding.ragged_conversion.to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """Return a sparse tensor with the same values."""
        return late_binding.ragged_conversion.to_sparse(self)

    def to_list(self) -> list[Any]:
        """Return nested Python lists; ValueError while a graph is being built."""
        if not self._is_eager():
            raise ValueError("to_list can only be used in eager mode.")
        rows: list[Any] = self.flat_values._array.tolist()  # type: ignore[attr-defined]
        for splits in reversed(self.nested_row_splits):
            ends = splits._array.tolist()  # type: ignore[attr-defined]
            rows = [rows[start:end] for start, end in itertools.pairwise(ends)]
        return rows

    def _is_eager(self) -> bool:
        return all(isinstance(each, EagerTensor) for each in (self.flat_values, *self.nested_row_splits))

    def numpy(self) -> Any:
        """Return a NumPy array, of dtype object if rows have different lengths.

        Raises ValueError while a graph is being built.
        """
        if not self._is_eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = self._values.numpy()
        splits = self.row_splits.numpy()
        rows = np.split(values, splits[1:-1]) if len(splits) > 1 else []
        if not rows:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if len({len(row) for row in rows}) == 1:
            return np.array([row.tolist() if row.dtype == object else row for row in rows], values.dtype)
        result = np.empty(len(rows), object)
        for row_number, row in enumerate(rows):
            result[row_number] = row
        return result

    def consumers(self) -> list[Any]:
        """Return an empty list: operations that read the tensor are not listed."""
        return []

    @property
    def _type_spec(self) -> Any:
        return late_binding.ragged_spec.RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        return late_binding.ragged_spec.RaggedTensorSpec(
            shape, self.dtype, self.ragged_rank, self.row_splits.dtype
        )

    def _printed(self, summarize: int) -> list[Any]:
        return [ragged_text(list(self.nested_row_splits), self.flat_values, summarize)]

    @property
    def _differentiated(self) -> Tensor:
        return self.flat_values

    def _with_differentiated(self, derivatives: Any) -> RaggedTensor:
        return self.with_flat_values(derivatives)

    @staticmethod
    def _operation(operation: Any) -> Any:
        return late_binding.ragged_dispatch.operation_for(operation)

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:  # fmt: skip
        """Return the rows of a dense tensor, truncated to `lengths`, or without trailing `padding`.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
        <tf.RaggedTensor [[1, 2], [3]]>
        """
        return late_binding.ragged_conversion.from_tensor(
            tensor, lengths, padding, ragged_rank, row_splits_dtype
        )

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """Return the rows of a sparse matrix whose elements are at the beginning of each row.

        >>> from agc.runtime import RaggedTensor, sparse
        >>> RaggedTensor.from_sparse(sparse.from_dense([[1, 2], [3, 0]]))
        <tf.RaggedTensor [[1, 2], [3]]>
        """
        return late_binding.ragged_conversion.from_sparse(st_input, row_splits_dtype)

    def __getitem__(self, key: Any) -> Any:
        return late_binding.ragged_indexing.item(self, key)

    def __rows__(self) -> Any:
        """Return the items of a staged loop over the tensor."""
        from ..python_semantics.indexed_iterables import IndexedItems

        known = self._row_partition.static_nrows
        return IndexedItems(known if known is not None else self.nrows(dtypes.int32), self.__getitem__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__rows__())

    def __len__(self) -> int:
        raise TypeError("object of type 'RaggedTensor' has no len(): use x.nrows()")

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def _repr_html_(self) -> str | None:
        from ..core.html_repr import parts_html, shown

        if not self._is_eager():
            return None  # the text is displayed
        splits = self.row_splits.numpy()
        with np.printoptions(formatter={"all": _shown}, threshold=20):
            return parts_html(
                self, "tf.RaggedTensor", ("row", "length", "elements"), len(splits) - 1,
                lambda i: (str(i), str(splits[i + 1] - splits[i]), shown(_shown(self[i].numpy()))),
            )  # fmt: skip

    def __repr__(self) -> str:
        if not self._is_eager():
            return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"
        with np.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"


def _shown(item: Any) -> str:
    """Return the text of an element, or of rows with commas between their items."""
    if not isinstance(item, np.ndarray):
        return str(item)
    return np.array2string(item, separator=", ") if item.size else repr(item.tolist())


def _check_count(old: TensorShape, new: TensorShape) -> None:
    if old.rank and new.rank and None not in (old[0], new[0]) and old[0] != new[0]:
        raise ValueError(f"Shapes {old} and {new} are not compatible: there are as many values as before")


def _in(tensor: Tensor, out_type: Any) -> Tensor:
    return tensor if out_type is None else in_dtype(tensor, out_type)


def _compared(operation: Any, otherwise: bool) -> Any:
    """Return `==` or `!=`: None, and tensors with other rows, are not equal."""

    def method(self: RaggedTensor, other: Any) -> Any:
        if other is None:
            return otherwise
        try:
            return operation(self, other)
        except (InvalidArgumentError, ValueError):
            return otherwise

    return method


install(RaggedTensor)
RaggedTensor.__eq__ = _compared(equal, False)  # type: ignore[method-assign]
RaggedTensor.__ne__ = _compared(not_equal, True)  # type: ignore[method-assign]
register(BACKEND, RaggedTensor, always=False)
