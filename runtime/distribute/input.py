"""Datasets of several replicas: each element is a batch for each of them.

[0, 1, 2, 3], [4, 5]     ==>     PerReplica([0, 1], [2, 3]), PerReplica([4], [5])
"""

from __future__ import annotations

from typing import Any

from .. import nest
from ..core.export import export
from ..core.type_spec import CompositeTensor, TypeSpec
from ..data.dataset import Dataset
from ..ops.arrays.shape_ops import shape
from .values import PerReplica, regroup


@export("distribute.DistributedDataset")
class DistributedDataset:
    """A dataset whose elements have one part for each replica; an iterable of nests of `PerReplica` values.

    Each batch is split along its first axis; the last replicas get fewer rows of a batch that the replicas do not
    divide, or none.
    """

    def __init__(self, dataset: Dataset, replicas: int, is_split: bool = True) -> None:
        self._dataset = dataset
        self._replicas = replicas
        self._is_split = is_split  # a batch is split; otherwise each replica gets one element

    @property
    def element_spec(self) -> Any:
        """The specs of the whole batches."""
        return self._dataset.element_spec

    def cardinality(self) -> Any:
        """Return the number of elements."""
        return self._dataset.cardinality()

    def __len__(self) -> int:
        return len(self._dataset)

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._dataset), self._replicas, self._is_split)


@export("distribute.DistributedIterator")
class DistributedIterator(CompositeTensor):
    """An iterator over the elements of a `DistributedDataset`; functions take it as an argument."""

    _is_native = False

    def __init__(self, iterator: Any, replicas: int, is_split: bool = True) -> None:
        self._iterator = iterator
        self._replicas = replicas
        self._is_split = is_split

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._iterator._type_spec, self._replicas, self._is_split)

    @property
    def element_spec(self) -> Any:
        """The specs of the whole batches."""
        return self._iterator.element_spec

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        first = next(self._iterator)
        return split(first, self._replicas) if self._is_split else regroup([first, *self._others(first)])

    def get_next(self) -> Any:
        """Return the parts of the next batch. Raises OutOfRangeError when there is none."""
        first = self._iterator.get_next()
        return split(first, self._replicas) if self._is_split else regroup([first, *self._others(first)])

    def _others(self, first: Any) -> list[Any]:
        """Return the elements of the other replicas, without rows after the last one."""
        empty = nest.map_structure(lambda tensor: tensor[:0], first)
        return [next(self._iterator, empty) for _ in range(1, self._replicas)]


class DistributedIteratorSpec(TypeSpec):
    """The spec of a distributed iterator: that of its iterator over whole batches."""

    def __init__(self, iterator_spec: Any, replicas: int, is_split: bool) -> None:
        self._iterator_spec = iterator_spec
        self._replicas = replicas
        self._is_split = is_split

    @property
    def value_type(self) -> type:
        return DistributedIterator

    @property
    def _component_specs(self) -> Any:
        return (self._iterator_spec,)

    def _serialize(self) -> tuple[Any, ...]:
        return self._iterator_spec, self._replicas, self._is_split

    def _to_components(self, value: Any) -> Any:
        return (value._iterator,)

    def _from_components(self, components: Any) -> DistributedIterator:
        return DistributedIterator(components[0], self._replicas, self._is_split)


def split(batch: Any, replicas: int) -> Any:
    """Return the nest with the rows of each tensor divided among the replicas."""
    return nest.map_structure(lambda tensor: _split(tensor, replicas), batch)


def _split(tensor: Any, replicas: int) -> PerReplica:
    rows = tensor.shape[0] if tensor.shape[0] is not None else shape(tensor)[0]
    size = (rows + replicas - 1) // replicas
    return PerReplica([tensor[index * size : (index + 1) * size] for index in range(replicas)])
