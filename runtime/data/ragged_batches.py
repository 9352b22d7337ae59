"""`ragged_batch`: elements of varying shape, as ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, nest
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ragged.spec import RaggedTensorSpec
from .element_spec import Row, is_structure
from .pipeline_stage import Elements, PipelineStage
from .reorder_stages import Through


class AsRagged(Through):
    """The same elements; tensors of varying shape become ragged tensors, along all axes but the last fixed ones."""

    name = "_MapDataset"

    def __init__(self, source: PipelineStage, spec: Any, ranks: list[int | None], kind: Any) -> None:
        super().__init__(source)
        self.spec = spec
        self.ranks, self.kind = ranks, kind

    def elements(self) -> Elements:
        return map(self._ragged, self.source.elements())

    def _ragged(self, row: Row) -> Row:
        found: list[Any] = []
        for leaf, rank in zip(row, self.ranks, strict=True):
            found += [leaf] if not rank else _unpacked(leaf, rank, self.kind)
        return found


def _unpacked(array: Any, rank: int, kind: Any) -> list[Any]:
    """Return the flat values and row splits of an array whose first `rank` axes after the outer one are ragged."""
    splits, count = [], 1
    for axis in range(rank):
        count *= array.shape[axis]
        splits.append(np.arange(count + 1, dtype=kind) * array.shape[axis + 1])
    return [array.reshape((-1, *array.shape[rank + 1 :])), *splits]


def as_ragged(source: PipelineStage, row_splits_dtype: Any) -> PipelineStage:
    dtype = dtypes.as_dtype(row_splits_dtype)
    ranks: list[int | None] = []

    def changed(spec: Any) -> Any:
        if isinstance(spec, TensorSpec):
            if spec.shape.rank is None:
                raise ValueError(f"ragged_batch: the rank of {spec!r} must be known")
            varying = [axis for axis, size in enumerate(spec.shape.as_list()) if size is None]
            ranks.append(max(varying) if varying else None)
            if not varying:
                return spec
            return RaggedTensorSpec(spec.shape, spec.dtype, max(varying), dtype)
        if isinstance(spec, TypeSpec) or not is_structure(spec):
            ranks.extend(None for _ in spec.flatten())
            return spec
        return nest.rebuilt(spec, [changed(child) for _, child in nest.children(spec)])

    return AsRagged(source, changed(source.spec), ranks, dtype.numpy_dtype)
