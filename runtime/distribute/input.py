"""Datasets of several replicas: each element has a part for each of them.

[0, 1, 2, 3], [4, 5]     ==>     PerReplica([0, 1], [2, 3]), PerReplica([4], [5])
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph import staging

from .. import dtypes, nest
from ..core.export import export
from ..core.type_spec import CompositeTensor
from ..data import BACKEND
from ..data.dataset import Dataset
from ..data.dataset_spec import DatasetSpec, IteratorSpec
from ..data.element_spec import leaf_specs, packer, row_of
from ..data.iterator import Iterator
from ..data.pipeline_stage import INFINITE, UNKNOWN, Elements, PipelineStage
from ..ops.arrays.shape_ops import shape
from ..sparse import reorder_reshape
from ..sparse.tensor import SparseTensor
from .values import PerReplica, PerReplicaSpec


@export("distribute.DistributedDataset")
class DistributedDataset(CompositeTensor):
    """A dataset whose elements are nests of `PerReplica` values: loops and functions take it as they take a dataset.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(4))
    >>> @tf.function
    ... def total(data):
    ...     found = tf.constant(0, tf.int64)
    ...     for batch in data:
    ...         found += strategy.reduce("SUM", batch, axis=0)
    ...     return found
    >>> total(data).numpy()
    np.int64(10)
    """

    def __init__(self, parts: Dataset) -> None:
        self._parts = parts  # a dataset with the same elements

    @property
    def element_spec(self) -> Any:
        """The spec of the elements: a nest of `PerReplicaSpec`."""
        return self._parts.element_spec

    @property
    def cardinality(self) -> int:
        """The number of elements, or one of the constants for an unknown and an infinite number."""
        return int(self._parts.cardinality())

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        return DistributedDatasetSpec(self.element_spec)

    def handle(self) -> Any:
        """Return the tensor of dtype variant that represents the dataset."""
        return self._parts.handle()

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._parts)._handle, self.element_spec)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Return the last state of `state = reduce_func(state, element)` over all elements."""
        return self._parts.reduce(initial_state, reduce_func)


class DistributedDatasetSpec(DatasetSpec):
    """The spec of a `DistributedDataset`."""

    @property
    def value_type(self) -> type:
        return DistributedDataset

    def _from_components(self, components: Any) -> DistributedDataset:
        return DistributedDataset(super()._from_components(components))


@export("distribute.DistributedIterator")
class DistributedIterator(Iterator):
    """An iterator over the elements of a `DistributedDataset`; functions take it as an argument.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> found = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(2)))
    >>> int(next(found))
    0
    """

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._spec)


class DistributedIteratorSpec(IteratorSpec):
    """The spec of a `DistributedIterator`."""

    @property
    def value_type(self) -> type:
        return DistributedIterator

    def _from_components(self, components: Any) -> DistributedIterator:
        return DistributedIterator(components, self.element_spec)


staging.register(BACKEND, DistributedDataset, DistributedIterator, always=False)


def split(dataset: Dataset, replicas: int) -> DistributedDataset:
    """Return the dataset with each batch divided along its first axis.

    The last replicas get fewer rows of a batch that the replicas do not divide, or none. Raises ValueError for
    elements without rows.
    """
    check_rows(dataset)

    def parts(*element: Any) -> Any:
        batch = (
            element if type(dataset.element_spec) is tuple else element[0]
        )  # `map` passes the parts of a tuple
        return nest.map_structure(lambda rows: divided(rows, replicas), batch)

    return DistributedDataset(dataset.map(parts))


def check_rows(dataset: Dataset) -> None:
    """Raise ValueError for elements of rank 0, which cannot be split."""
    spec = dataset.element_spec
    if any(leaf.shape == () for leaf in leaf_specs(spec)):
        raise ValueError(
            f"The replicas cannot share elements of rank 0: {spec!r}. Batch the dataset before it is distributed."
        )


def divided(rows: Any, replicas: int) -> PerReplica:
    """Return the rows of a tensor in consecutive parts of equal size; the last ones may be smaller, or empty."""
    count: Any = rows.shape[0] if rows.shape[0] is not None else shape(rows)[0]
    size = (count + replicas - 1) // replicas
    return PerReplica([rows_between(rows, index * size, (index + 1) * size) for index in range(replicas)])


def rows_between(tensor: Any, start: Any, stop: Any) -> Any:
    """Return the rows of a tensor from `start` to `stop`."""
    if not isinstance(tensor, SparseTensor):
        return tensor[start:stop]
    others = len(tensor.shape) - 1
    return reorder_reshape.slice(tensor, [start, *[0] * others], [stop - start, *[dtypes.int64.max] * others])


def in_turn(datasets: Sequence[Dataset], replicas: int) -> DistributedDataset:
    """Return the elements of one dataset given to the replicas in turn, or those of one dataset for each replica."""
    return DistributedDataset(Dataset(InTurn([dataset._stage for dataset in datasets], replicas)))


class InTurn(PipelineStage):
    """Elements of all replicas side by side, from one source in turn or from one for each.

    When there are no elements for the last replicas, they get no rows; elements with a fixed number of rows are
    dropped then.
    """

    name = "_DistributedDataset"

    def __init__(self, stages: Sequence[PipelineStage], replicas: int) -> None:
        self.stages = list(stages)
        self.replicas = replicas
        self.spec = nest.map_structure(lambda spec: PerReplicaSpec(*[spec] * replicas), stages[0].spec)

    def elements(self) -> Elements:
        return self._in_turn([stage.elements() for stage in self.stages])

    def _in_turn(self, walks: list[Elements]) -> Elements:
        each = self.replicas // len(self.stages)
        spec = self.stages[0].spec
        pack = packer(spec)
        is_fixed = all(leaf.shape is not None and None not in leaf.shape[:1] for leaf in leaf_specs(spec))
        for rows in itertools.zip_longest(*walks * each):
            elements = [pack(row) for row in rows if row is not None]
            if len(elements) < self.replicas:
                if is_fixed:
                    return
                elements += [_empty(elements[0])] * (self.replicas - len(elements))
            yield row_of(nest.map_structure(lambda *parts: PerReplica(parts), *elements))

    def cardinality(self) -> int:
        return INFINITE if all(stage.cardinality() == INFINITE for stage in self.stages) else UNKNOWN


def _empty(element: Any) -> Any:
    return nest.map_structure(lambda tensor: rows_between(tensor, 0, 0), element)
