"""Nests of tensors with the same number of rows, accessed row by row; see map_fn.py and scan.py.

>>> nest_of_rows = RowNest({"a": np.array([1, 2]), "b": np.array([3.0, 4.0])})
>>> nest_of_rows.packed(list(nest_of_rows)[1])["b"].numpy().item()
4.0
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..core.conversion import convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..ops.arrays.concat_split import unstack
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.where_ops import boolean_mask
from ..ops.math.cast import cast
from ..ops.math.comparison import equal
from ..sparse.tensor import SparseTensor, SparseTensorSpec


class RowNest:
    """The rows of all tensors in a nest: `for leaves in rows` yields them in eager code.

    `count` is the number of rows: an int where it is known (`known`), else a tensor. Raises ValueError for no
    tensors at all, scalars, and different numbers of rows.
    """

    def __init__(self, elems: Any) -> None:
        self.structure = elems
        leaves = nest.flatten(elems)
        if not leaves:
            raise ValueError(
                "elems must be a Tensor or (possibly nested) sequence of Tensors. "
                f"Got {elems!r}, which does not contain any Tensors."
            )
        self.tensors = [leaf if nest.is_composite(leaf) else convert_to_tensor(leaf) for leaf in leaves]
        if any(tensor.shape.rank == 0 for tensor in self.tensors):
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        self.known = self._known()
        self.count: Any = self._count() if self.known is None else self.known

    def _known(self) -> int | None:
        known = [tensor.shape[0] for tensor in self.tensors if tensor.shape.rank is not None]
        sizes = {size for size in known if size is not None}
        if len(sizes) > 1:
            raise ValueError(f"Dimensions {' and '.join(map(str, sorted(sizes)))} are not compatible")
        return next(iter(sizes), None)

    def _count(self) -> Any:
        first: Any = self.tensors[0]
        if isinstance(first, SparseTensor):
            return cast(first.dense_shape[0], dtypes.int32)
        return first.nrows("int32") if hasattr(first, "row_splits") else shape_of(first)[0]

    def specs(self) -> list[Any]:
        """Return for each tensor a description of its rows: a tensor with their dtype, or a spec of composite rows."""
        return [_row_spec(tensor) if nest.is_composite(tensor) else tensor for tensor in self.tensors]

    def packed(self, leaves: Sequence[Any]) -> Any:
        """Return a row in the structure of the nest."""
        return nest.pack_sequence_as(self.structure, leaves)

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return iter(list(zip(*map(_unstacked, self.tensors), strict=True)))

    def arrays(self) -> list[Any]:
        """Return the tensors as TensorArrays of their rows."""
        return [
            _CompositeRows(tensor)
            if nest.is_composite(tensor)
            else TensorArray(tensor.dtype, self.count).unstack(tensor)
            for tensor in self.tensors
        ]

    def stacked(self, array: TensorArray) -> Tensor:
        """Return the results for all rows as a tensor with as many rows."""
        tensor = array.stack()
        if tensor.shape.rank is not None:
            tensor.set_shape([self.known, *tensor.shape[1:]])
        return tensor


class _CompositeRows:
    """An adapter of a ragged or sparse tensor to the interface of a TensorArray: `read` returns a row."""

    def __init__(self, tensor: Any) -> None:
        is_sparse = isinstance(tensor, SparseTensor)
        self.read = functools.partial(_sparse_row, tensor) if is_sparse else tensor.__getitem__


def _sparse_row(tensor: SparseTensor, index: Any) -> SparseTensor:
    inside = equal(tensor.indices[:, 0], cast(index, dtypes.int64))
    indices = boolean_mask(tensor.indices, inside)[:, 1:]
    return SparseTensor(indices, boolean_mask(tensor.values, inside), tensor.dense_shape[1:])


def _unstacked(tensor: Any) -> list[Any]:
    if isinstance(tensor, SparseTensor):
        return [_sparse_row(tensor, index) for index in range(int(tensor.dense_shape[0]))]
    return list(tensor) if hasattr(tensor, "row_splits") else unstack(tensor)


def _row_spec(tensor: Any) -> Any:
    """Return the spec of the rows of a ragged or sparse tensor."""
    spec = tensor._type_spec
    if isinstance(tensor, SparseTensor):
        return SparseTensorSpec(spec.shape[1:], spec.dtype)
    return type(spec)(spec.shape[1:], spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)


def no_rows(shape: TensorShape, dtype: dtypes.DType) -> Tensor:
    """Return a tensor without rows; the shape of its rows is `shape`, with 0 for unknown dimensions."""
    sizes = [] if shape.rank is None else [size or 0 for size in shape.as_list()]
    return convert_to_tensor(np.zeros((0, *sizes), dtype.numpy_dtype))


def check_row(shape: TensorShape, expected: TensorShape) -> None:
    """Raise ValueError unless the shape of a row is compatible with the expected one."""
    if not shape.is_compatible_with(expected):
        raise ValueError(f"Incompatible shape for value ({shape}), expected ({expected})")


def check_function(fn: Any) -> None:
    """Raise TypeError unless `fn` is callable."""
    if not callable(fn):
        raise TypeError(f"fn must be callable, not {fn!r}")
