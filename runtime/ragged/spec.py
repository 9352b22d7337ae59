"""`RaggedTensorSpec`: the static type of a ragged tensor."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from .row_partition import RowPartition, as_scalar
from .tensor import RaggedTensor


@export("RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """The dtype and shape of a ragged tensor, and the number of its row partitions.

    Args:
        shape: None, or a shape in which ragged axes are None.
        dtype: of the values.
        ragged_rank: the number of row partitions; None for all axes except the first and those of the flat values.
        row_splits_dtype: int64 or int32.
        flat_values_spec: the spec of composite flat values; not supported, None.

    Raises ValueError for an incompatible rank.

    >>> RaggedTensorSpec([2, None], dtypes.int32)
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        if flat_values_spec is not None:
            if dtype is not None and dtypes.as_dtype(dtype) is not flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
            dtype = flat_values_spec.dtype
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged axes are None."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """The number of partitioned axes; negative for rows of a tensor, which batches join to one."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        """The dtype of the row splits: int32 or int64."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> None:
        """None: the flat values are a tensor of `dtype`."""
        return None

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the spec of a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_names(self) -> tuple[str, ...]:
        return ("flat_values", *("row_splits" for _ in range(self._ragged_rank)))

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape, depth = self._shape, self._ragged_rank
        if depth <= 0:
            return [TensorSpec(shape, self._dtype)]
        known = shape.rank is not None
        counts = _counts(shape[: depth + 1].as_list()) if known else [None] * (depth + 1)
        flat = TensorShape([counts[-1], *shape[depth + 1 :]] if known else None)
        splits = [None if count is None else count + 1 for count in counts[:-1]]
        return [
            TensorSpec(flat, self._dtype),
            *(TensorSpec([size], self._row_splits_dtype) for size in splits),
        ]

    def _to_components(self, value: Any) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components: Any) -> Any:
        result, *splits = components
        for depth in reversed(range(len(splits))):
            length = self._shape[depth + 1] if self._shape.rank is not None else None
            uniform = None if length is None else as_scalar(length, "row length", self._row_splits_dtype)
            result = RaggedTensor(result, RowPartition(splits[depth], uniform), internal=True)
        return result

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether some value fits both this spec and the other one, or the value fits this spec."""
        if self._ragged_rank <= 0:
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)


def _counts(sizes: list[int | None]) -> list[int | None]:
    """Return the total number of rows at each axis, including the axes before it."""
    counts: list[int | None] = [sizes[0]]
    for size in sizes[1:]:
        before = counts[-1]
        counts.append(None if before is None or size is None else before * size)
    return counts
