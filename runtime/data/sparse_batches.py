"""`sparse_batch`: elements of at most one shape, as one sparse tensor."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..core import shapes
from ..core.tensor_spec import TensorSpec
from ..sparse.tensor import SparseTensorSpec
from .batching import Batches, FixedBatches
from .element_spec import Row
from .pipeline_stage import Elements, PipelineStage


class SparseBatched(FixedBatches):
    """A stage that stacks dense elements of at most the shape `row_shape` to a sparse tensor, with all their values."""

    name = "_DenseToSparseBatchDataset"

    def __init__(self, source: PipelineStage, size: Any, row_shape: Any) -> None:
        spec = source.spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"sparse_batch takes elements of one dense component, not {spec!r}")
        self.source, self.size = source, size
        self.row = tuple(shapes.TensorShape(row_shape).as_list())
        if spec.shape.rank is not None and spec.shape.rank != len(self.row):
            raise errors.InvalidArgumentError(
                f"sparse_batch: elements of rank {spec.shape.rank} do not fit row_shape {list(self.row)}"
            )
        self.spec = SparseTensorSpec([None, *self.row], spec.dtype)

    def elements(self) -> Elements:
        return Batches(self.source.elements(), itertools.repeat(self.size), False, self._stack)

    def _stack(self, rows: Sequence[Row]) -> Row:
        arrays = [np.asarray(leaf) for (leaf,) in rows]
        largest = np.max([array.shape for array in arrays], axis=0)
        size = [found if wanted is None else wanted for found, wanted in zip(largest, self.row, strict=True)]
        if any(found > wanted for found, wanted in zip(largest, size, strict=True)):
            raise errors.DataLossError(
                f"sparse_batch: an element of shape {largest.tolist()} does not fit row_shape {list(self.row)}"
            )
        indices = [np.insert(_coordinates(array), 0, number, axis=1) for number, array in enumerate(arrays)]
        values = np.concatenate([array.reshape(-1) for array in arrays])
        return [np.concatenate(indices), values, np.array([len(rows), *size], np.int64)]


def _coordinates(array: Any) -> Any:
    """Return the indices of all elements."""
    return np.indices(array.shape, np.int64).reshape(array.ndim, -1).T
