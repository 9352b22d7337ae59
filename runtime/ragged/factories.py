"""Factories of ragged tensors: values and a row partition in one of several encodings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..core.type_spec import CompositeTensor
from ..ops.arrays.concat_split import concat
from ..ops.arrays.shape_ops import shape as shape_of
from .row_partition import RowPartition, as_splits
from .static_values import in_dtype


class RaggedFactories:
    """The factory methods of `RaggedTensor`.

    They take `values` (dense or ragged) and raise ValueError or InvalidArgumentError for rows that do not fit the
    values; `validate=False` skips checks that read the elements.
    """

    __slots__ = ()

    def __init__(self, values: Any, row_partition: RowPartition, internal: bool = False) -> None:
        raise NotImplementedError

    @classmethod
    def _of(cls, values: Any, make: Callable[[Any], RowPartition]) -> Self:
        """Return values in the rows that `make` returns; both with splits of one dtype."""
        held = cls._values_of(values)
        rows = make(held)
        if isinstance(held, cls):
            inner = held.row_splits.dtype  # type: ignore[attr-defined]
            if inner is not rows.dtype:
                wide = dtypes.int64
                held, rows = held.with_row_splits_dtype(wide), rows.with_dtype(wide)  # type: ignore[attr-defined]
        return cls(held, rows, internal=True)

    @classmethod
    def _values_of(cls, value: Any) -> Any:
        """Return a valid operand of a row partition: a ragged tensor, or a dense one that is no scalar."""
        if isinstance(value, cls):
            return value
        if isinstance(value, CompositeTensor):
            raise TypeError(f"values must be a tensor or a RaggedTensor, not {type(value).__name__}")
        tensor = convert_to_tensor(value)
        if tensor.shape.rank == 0:
            raise ValueError("Shape () must have rank at least 1")
        return tensor

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor in which row i has the values from `row_splits[i]` to `row_splits[i + 1]`.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        return cls._of(
            values,
            lambda held: RowPartition.from_row_splits(
                row_splits, validate, nvals=_count(held) if validate else None
            ),
        )

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor in which row i has the next `row_lengths[i]` values.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """

        def rows(held: Any) -> RowPartition:
            made = RowPartition.from_row_lengths(row_lengths)
            return RowPartition.from_row_splits(
                made.row_splits(), validate, nvals=_count(held) if validate else None
            )

        return cls._of(values, rows)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor in which value i belongs to row `value_rowids[i]`.

        These ids never decrease; `nrows` may add empty rows at the end.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)
        <tf.RaggedTensor [[1, 2], [], [3], []]>
        """

        def rows(held: Any) -> RowPartition:
            ids = as_splits(value_rowids, "value_rowids")
            count, given = held.shape[0], ids.shape[0] if ids.shape.rank else None
            if None not in (count, given) and count != given:
                raise ValueError(f"{count} values have {given} value_rowids")
            return RowPartition.from_value_rowids(ids, nrows)

        return cls._of(values, rows)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor in which row i begins with value `row_starts[i]`, and ends at the next row's start.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """

        def rows(held: Any) -> RowPartition:
            starts = as_splits(row_starts, "row_starts")
            splits = concat([starts, in_dtype([_count(held)], starts.dtype)], 0)
            return RowPartition.from_row_splits(splits, validate, nvals=_count(held))

        return cls._of(values, rows)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor in which row i ends before value `row_limits[i]`, and begins at the previous end.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3])
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """

        def rows(held: Any) -> RowPartition:
            limits = as_splits(row_limits, "row_limits")
            splits = concat([in_dtype([0], limits.dtype), limits], 0)
            return RowPartition.from_row_splits(splits, validate, nvals=_count(held) if validate else None)

        return cls._of(values, rows)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> Self:
        """Return a ragged tensor with `uniform_row_length` values in all rows; `nrows` is needed only if that is 0.

        >>> from agc.runtime import RaggedTensor
        >>> RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
        TensorShape([2, 2])
        """

        def rows(held: Any) -> RowPartition:
            dtype = held.row_splits.dtype if isinstance(held, cls) else None  # type: ignore[attr-defined]
            return RowPartition.from_uniform_row_length(
                uniform_row_length, _count(held), nrows, validate, dtype
            )

        return cls._of(values, rows)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return nested rows from row splits, given from the outermost to the innermost."""
        result = flat_values
        for splits in reversed(_listed(nested_row_splits, "nested_row_splits")):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return nested rows from row lengths, given from the outermost to the innermost."""
        result = flat_values
        for lengths in reversed(_listed(nested_row_lengths, "nested_row_lengths")):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: str | None = None,
        validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return nested rows from the row ids of values, given from the outermost to the innermost."""
        ids = _listed(nested_value_rowids, "nested_value_rowids")
        counts = [None] * len(ids) if nested_nrows is None else _listed(nested_nrows, "nested_nrows")
        if len(counts) != len(ids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`."
            )
        result = flat_values
        for rowids, nrows in zip(reversed(ids), reversed(counts), strict=True):
            result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
        return result


def _listed(nested: Any, name: str) -> Sequence[Any]:
    if isinstance(nested, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {nested}.")
    return list(nested)


def _count(held: Any) -> Any:
    """Return the number of values: a Python number if it is known."""
    if isinstance(held, Tensor):
        known = held.shape[0] if held.shape.rank is not None else None
        return known if known is not None else shape_of(held, dtypes.int64)[0]
    return held.nrows()
