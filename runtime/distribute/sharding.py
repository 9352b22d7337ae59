"""The part of a dataset for one of several workers.

DATA    batches [0, 1, 2, 3], [4, 5]      ==>     worker 0: [0, 1], [4]     worker 1: [2, 3], [5]
FILE    files a, b, c                     ==>     worker 0: a, c            worker 1: b

`AutoShardPolicy` chooses: AUTO shards files where the pipeline reads enough of them, else data; with OFF, each worker
reads everything. The batches of a dataset are global ones, of which each worker gets its share. A worker whose
elements end before those of others gets empty batches, so that all run the same number of steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import nest
from ..core.tensor import EagerTensor
from ..data.dataset import Dataset
from ..data.element_spec import leaf_specs, packer, row_of
from ..data.file_datasets import Files
from ..data.map_stages import Interleaved
from ..data.options import AutoShardPolicy
from ..data.pipeline_stage import INFINITE, UNKNOWN, Elements, PipelineStage, Recipe
from ..data.reorder_stages import Sharded
from ..data.source_datasets import Slices
from ..kernels import collectives
from .input import check_rows, divided, rows_between


def sharded(dataset: Dataset, workers: int, rank: int) -> Dataset:
    """Return the elements for the worker `rank`. Raises ValueError for elements without rows, and for too few files."""
    check_rows(dataset)
    policy = AutoShardPolicy(dataset.options().experimental_distribute.auto_shard_policy)
    if policy in (AutoShardPolicy.FILE, AutoShardPolicy.AUTO):
        own = _own_files(dataset._stage, workers, rank, demanded=policy is AutoShardPolicy.FILE)
        if own is not None:
            return together(Dataset(Pieces(own, workers)))
    if policy is AutoShardPolicy.OFF:
        return together(Dataset(Pieces(dataset._stage, workers)))

    def part(*element: Any) -> Any:
        batch = element if type(dataset.element_spec) is tuple else element[0]
        return nest.map_structure(lambda rows: divided(rows, workers).values[rank], batch)

    return together(dataset.map(part), is_shared=True)


def together(dataset: Dataset, is_shared: bool = False) -> Dataset:
    """Return a dataset that all workers iterate over equally often; `is_shared` if all have equally many elements."""
    return Dataset(Together(dataset._stage, is_shared))


class Pieces(PipelineStage):
    """Each batch in `count` pieces, one after the other; empty ones are left out."""

    name = "_RebatchDataset"

    def __init__(self, source: PipelineStage, count: int) -> None:
        self.source, self.count = source, count
        self.spec = Dataset(source).map(lambda *batch: _pieces(batch, count)[0]).element_spec
        if type(source.spec) is not tuple:
            (self.spec,) = self.spec

    def elements(self) -> Elements:
        return self._pieces(self.source.elements())

    def _pieces(self, rows: Elements) -> Elements:
        pack = packer(self.source.spec)
        for row in rows:
            batch = pack(row)
            for piece in _pieces(batch, self.count):
                if any(leaf.shape[0] for leaf in nest.flatten(piece)):
                    yield row_of(piece)


def _pieces(batch: Any, count: int) -> list[Any]:
    parts = nest.map_structure(lambda rows: divided(rows, count), batch)
    return [nest.map_structure(lambda part, i=i: part.values[i], parts) for i in range(count)]


class Together(PipelineStage):
    """The elements of this worker; then empty ones, until the elements of all workers have ended.

    Elements with a fixed number of rows have no empty ones: with them the worker that ends first ends the others.
    """

    name = "_DistributedDataset"

    def __init__(self, source: PipelineStage, is_shared: bool) -> None:
        self.source, self.is_shared = source, is_shared
        self.spec = source.spec
        self.is_fixed = not all(
            leaf.shape is None or None in leaf.shape[:1] for leaf in leaf_specs(self.spec)
        )

    def elements(self) -> Elements:
        return self._together(self.source.elements())  # which draws the seeds of a shuffle now

    def _together(self, rows: Elements) -> Elements:
        steps = self._known_steps()
        last = None
        for step in _numbers():
            row = next(rows, None) if steps is None or step < steps else None
            if steps is None:
                choose = min if self.is_fixed else max
                goes_on = choose(collectives.sizes_of(int(row is not None)))
            else:
                goes_on = step < steps
            if not goes_on:
                return
            last = row if row is not None else last
            yield row if row is not None else self._empty(last)

    def _known_steps(self) -> int | None:
        """Return the number of steps of all workers, if it is known; None if they must compare after each."""
        counts = collectives.sizes_of(self.source.cardinality())
        if UNKNOWN in counts:
            return None
        finite = [count for count in counts if count != INFINITE]
        if (len(finite) < len(counts) and not self.is_fixed) or not finite:
            return _NEVER
        return min(finite) if self.is_fixed else max(finite)

    def _empty(self, last: Any) -> Any:
        if last is not None:
            element = packer(self.spec)(last)
            return row_of(nest.map_structure(lambda tensor: rows_between(tensor, 0, 0), element))
        leaves = leaf_specs(self.spec)
        shapes = [leaf.shape[1:] if leaf.shape is not None else (None,) for leaf in leaves]
        if any(None in shape for shape in shapes):
            raise ValueError(
                f"This worker has no elements of {self.spec!r}, so the shape of its empty batch is unknown: give each "
                "worker an element, or elements of known shapes"
            )
        return [
            np.zeros((0, *(size or 0 for size in shape)), leaf.dtype.numpy_dtype)
            for shape, leaf in zip(shapes, leaves, strict=True)
        ]

    def cardinality(self) -> int:
        own = self.source.cardinality()
        return own if self.is_shared or own == INFINITE else UNKNOWN


_NEVER = 1 << 62


def _numbers() -> Iterator[int]:
    return iter(range(_NEVER + 1))


def _own_files(stage: PipelineStage, workers: int, rank: int, demanded: bool) -> PipelineStage | None:
    """Return the pipeline with every `workers`-th file; None if it reads too few files, or if their number is unknown.

    If sharding by files is demanded, an unknown number is accepted, and too few raise ValueError.
    """
    counts: list[int] = []

    def own(part: PipelineStage) -> PipelineStage | None:
        names: Any = None
        if isinstance(part, Files):
            names = part.names
        elif isinstance(part, Interleaved) and _reads_files(part):
            names = part.source
        if names is None:
            return None
        if isinstance(names, EagerTensor):
            names = Slices(EagerTensor(names._array.reshape(-1)))
        if not isinstance(names, PipelineStage):
            return None
        bottom: Any = names
        while isinstance(getattr(bottom, "source", None), PipelineStage):
            bottom = bottom.source
        counts.append(bottom.cardinality())
        shard = Sharded(bottom, workers, rank)
        mine = rebuilt(names, lambda one: shard if one is bottom else None)
        changed = copy.copy(part)
        setattr(changed, "names" if isinstance(part, Files) else "source", mine)
        return changed

    changed = rebuilt(stage, own)
    if demanded and (not counts or any(0 <= count < workers for count in counts)):
        read = f"{min(counts)} files" if counts else "no files that are known to be"
        raise ValueError(
            f"AutoShardPolicy.FILE gives each of the {workers} workers a file, but the dataset reads {read}: use "
            "AutoShardPolicy.DATA in `options.experimental_distribute.auto_shard_policy`, or more files"
        )
    return changed if demanded or (counts and min(counts) >= workers) else None


def _reads_files(stage: Interleaved) -> bool:
    """Return whether the function of an `interleave` or `flat_map` makes datasets of files."""
    recipes = [
        value
        for operation in stage.function.graph.operations
        for value in operation.attrs.values()
        if isinstance(value, Recipe)
    ]
    found: list[PipelineStage] = []
    for recipe in recipes:
        rebuilt(recipe.stage, lambda part: found.append(part) if isinstance(part, Files) else None)
    return bool(found)


def rebuilt(stage: Any, change: Callable[[PipelineStage], PipelineStage | None]) -> Any:
    """Return the pipeline with the stages for which `change` returns another one replaced, from the last one down."""
    if isinstance(stage, (list, tuple)):
        return type(stage)([rebuilt(part, change) for part in stage])
    if not isinstance(stage, PipelineStage):
        return stage
    changed = change(stage)
    if changed is not None:
        return changed
    parts = {name: rebuilt(part, change) for name, part in vars(stage).items() if _may_hold_stages(part)}
    if all(part is vars(stage)[name] for name, part in parts.items()):
        return stage
    made = copy.copy(stage)
    vars(made).update(parts)
    return made


def _may_hold_stages(part: Any) -> bool:
    return isinstance(part, PipelineStage) or (
        type(part) in (list, tuple) and any(isinstance(one, PipelineStage) for one in part)
    )
