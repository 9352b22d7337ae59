"""The results of a function for each row, combined at the end.

TensorSpec([2])             the rows of one tensor
RaggedTensorSpec([None])    rows of different lengths: their concatenated values, and the lengths
SparseTensorSpec([2, 3])    their concatenated coordinates and values, and the largest shape
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..core.tensor_spec import TensorSpec
from ..ir.builder import current
from ..ops.arrays.concat_split import concat, stack
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.reshape import expand_dims
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.tile_and_repeat import repeat
from ..ops.math.cast import cast
from ..ops.reduce.reductions import reduce_max
from ..sparse.tensor import SparseTensor, SparseTensorSpec
from .row_structures import check_row, no_rows


class DenseResult:
    """A tensor for each row, all of one shape."""

    def __init__(self, said: Any) -> None:
        is_spec = isinstance(said, TensorSpec)
        self.dtype = said.dtype if is_spec or isinstance(said, Tensor) else dtypes.as_dtype(said)
        self.shape = TensorShape(said.shape if is_spec else None)

    def parts(self, leaf: Any) -> list[Tensor]:
        """Return the tensors that represent the result for one row."""
        tensor = convert_to_tensor(leaf, dtype_hint=self.dtype)
        check_dtype(tensor.dtype, self.dtype)
        if self.shape.rank is not None:
            check_row(tensor.shape, self.shape)
        return [tensor]

    def of_rows(self, rows: Sequence[list[Tensor]]) -> Any:
        """Return the results for all rows."""
        values = [row[0] for row in rows]
        if not values:
            return no_rows(self.shape, self.dtype)
        first = values[0].shape
        for shape in [value.shape for value in values]:
            if shape is not first:
                check_row(shape, first)
        return stack(values)

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        """Return the TensorArrays in which a loop of a graph stores the parts."""
        return [TensorArray(self.dtype, count, element_shape=self.shape, infer_shape=infer_shape)]

    def of_arrays(self, arrays: Sequence[TensorArray], known: int | None) -> Any:
        """Return the results for all rows; `known` is the number of rows, if it is known."""
        tensor = arrays[0].stack()
        if tensor.shape.rank is not None:
            tensor.set_shape([known, *tensor.shape[1:]])
        return tensor


class RaggedResult:
    """A ragged tensor for each row, or a dense one with a different size of its first axis."""

    def __init__(self, spec: Any) -> None:
        self.spec = spec
        self.dtype = spec.dtype
        self.kind = spec.row_splits_dtype

    def parts(self, leaf: Any) -> list[Tensor]:
        """Return the number of rows, the row lengths from the outermost to the innermost, and the values."""
        depth = self.spec.ragged_rank
        check_dtype(leaf.dtype, self.dtype)
        if depth == 0:
            tensor = convert_to_tensor(leaf)
            check_row(tensor.shape, self.spec.shape)
            return [cast(shape_of(tensor)[0], self.kind), tensor]
        if getattr(leaf, "ragged_rank", 0) != depth:
            raise ValueError(f"the result for a row is {leaf!r}, which does not fit {self.spec}")
        lengths = [cast(one, self.kind) for one in leaf.nested_row_lengths()]
        return [cast(leaf.nrows(), self.kind), *lengths, leaf.flat_values]

    def of_rows(self, rows: Sequence[list[Tensor]]) -> Any:
        if not rows:
            none = no_rows(TensorShape([]), self.kind)
            inner = self.spec.flatten()[0].shape[1:]
            return self._made([none] * (self.spec.ragged_rank + 1), no_rows(inner, self.dtype))
        counts, *columns = zip(*rows, strict=True)
        *lengths, values = (concat(list(column), 0) for column in columns)
        return self._made([stack(list(counts)), *lengths], values)

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        inner = self.spec.flatten()[0].shape[1:]
        depth = self.spec.ragged_rank
        return [
            TensorArray(self.kind, count, element_shape=[]),
            *(TensorArray(self.kind, count, element_shape=[None], infer_shape=False) for _ in range(depth)),
            TensorArray(self.dtype, count, element_shape=[None, *inner], infer_shape=False),
        ]

    def of_arrays(self, arrays: Sequence[TensorArray], known: int | None) -> Any:
        counts = arrays[0].stack()
        counts.set_shape([known])
        *lengths, values = (array.concat() for array in arrays[1:])
        return self._made([counts, *lengths], values)

    def _made(self, lengths: Sequence[Tensor], values: Tensor) -> Any:
        from ..ragged.tensor import RaggedTensor  # only needed for ragged rows

        return RaggedTensor.from_nested_row_lengths(values, list(lengths), validate=False)


class SparseResult:
    """A sparse tensor for each row, all of one rank; the shape of the whole covers all rows."""

    def __init__(self, spec: SparseTensorSpec) -> None:
        self.dtype = spec.dtype
        self.shape = spec.shape

    def parts(self, leaf: Any) -> list[Tensor]:
        """Return the number of elements, their coordinates, their values, and the shape."""
        if not isinstance(leaf, SparseTensor):
            raise TypeError(f"the result for a row is {leaf!r}, not a SparseTensor")
        check_dtype(leaf.dtype, self.dtype)
        check_row(leaf.shape, self.shape)
        return [cast(shape_of(leaf.values)[0], dtypes.int64), leaf.indices, leaf.values, leaf.dense_shape]

    def of_rows(self, rows: Sequence[list[Tensor]]) -> Any:
        if not rows:
            rank = self.shape.rank or 0
            none = no_rows(TensorShape([rank]), dtypes.int64)
            return self._made(
                no_rows(TensorShape([]), dtypes.int64), none, no_rows(TensorShape([]), self.dtype), none
            )
        counts, indices, values, sizes = map(list, zip(*rows, strict=True))
        return self._made(stack(counts), concat(indices, 0), concat(values, 0), stack(sizes))

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        rank = self.shape.rank
        return [
            TensorArray(dtypes.int64, count, element_shape=[]),
            TensorArray(dtypes.int64, count, element_shape=[None, rank], infer_shape=False),
            TensorArray(self.dtype, count, element_shape=[None], infer_shape=False),
            TensorArray(dtypes.int64, count, element_shape=[rank]),
        ]

    def of_arrays(self, arrays: Sequence[TensorArray], known: int | None) -> Any:
        counts, indices, values, sizes = arrays
        return self._made(counts.stack(), indices.concat(), values.concat(), sizes.stack())

    def _made(self, counts: Tensor, indices: Tensor, values: Tensor, sizes: Tensor) -> SparseTensor:
        number = shape_of(counts, dtypes.int64)
        rows = repeat(counted(number[0]), counts)
        least = cast([size or 0 for size in self.shape.as_list()], dtypes.int64)
        shape = concat([number, reduce_max(concat([sizes, [least]], 0), 0)], 0)
        return SparseTensor(concat([expand_dims(rows, 1), indices], 1), values, shape)


def result_like(said: Any) -> Any:
    """Return the collector for results like `said`: a dtype, a spec or a tensor."""
    if isinstance(said, SparseTensorSpec):
        return SparseResult(said)
    if hasattr(said, "row_splits_dtype"):
        return RaggedResult(said)
    return DenseResult(said)


def check_dtype(given: dtypes.DType, wanted: dtypes.DType) -> None:
    """Raise InvalidArgumentError (TypeError in a graph) for another dtype."""
    if given is not wanted:
        message = (
            f"map_fn: results of {wanted.name} are expected, but fn gives {given.name}: "
            "pass their dtypes as fn_output_signature="
        )
        raise errors.InvalidArgumentError(message, "map_fn") if current() is None else TypeError(message)
