"""Stacking and slicing of the components of elements: tensors, ragged tensors, sparse tensors.

    part               its leaves in a row                  stacked                           sliced
    tensor             the array                            a new first axis                  along the first axis
    RaggedTensor       flat values, row splits              one more vector of row splits     the part of each row
    SparseTensor       indices, values, dense shape         one more column of indices        by the first column
    an extension type  the leaves of its fields             field by field                    field by field

A `Part` works on the adjacent leaves of one component in a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import errors, nest
from ..composite.batchable_type import BatchableExtensionTypeSpec
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ir.value_types import TensorType
from .element_spec import NoneTensorSpec, Row, is_structure

Array = np.ndarray[Any, Any]


class Part:
    """A tensor component. `specs` are those of its leaves."""

    def __init__(self, spec: Any) -> None:
        self.spec = spec
        self.specs: list[TensorType] = [leaf.spec for leaf in spec.flatten()]

    def batched(self, size: int | None) -> Any:
        """Return the spec of a stack of this component."""
        dims = self.spec.spec.shape
        return TensorSpec(None if dims is None else (size, *dims), self.spec.dtype)

    def unbatched(self) -> Any:
        """Return the spec of one of its slices."""
        dims = self.spec.spec.shape
        if dims == ():
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(None if dims is None else dims[1:], self.spec.dtype)

    def stacked(self, columns: Sequence[Sequence[Any]], component: int) -> list[Array]:
        """Stack several of this component, given leaf by leaf, and return the leaves of the stack."""
        return [stacked(columns[0], self.specs[0], component)]

    def known_counts(self) -> list[int]:
        """Return the numbers of slices that the spec states: one, or none if it is unknown."""
        shape = self.spec.shape
        return [] if not shape.rank or shape[0] is None else [shape[0]]

    def count(self, leaves: Sequence[Any]) -> int:
        """Return the number of slices; -1 for a value without slices."""
        return len(leaves[0]) if leaves[0].ndim else -1

    def slices(self, leaves: Sequence[Any]) -> Iterator[Row]:
        return ((leaf,) for leaf in rows_of(leaves[0]))


def rows_of(array: Any) -> Iterator[Any]:
    """Return the rows of an array as leaves: strings and datasets are arrays of rank 0."""
    if array.ndim == 1 and array.dtype.kind in "OV":
        return map(array.__getitem__, [(i, ...) for i in range(len(array))])
    return iter(array)


def stacked(column: Sequence[Any], spec: TensorType, component: int) -> Array:
    """Stack arrays of one shape. Raises InvalidArgumentError when their shapes differ."""
    first = column[0]
    for number, leaf in enumerate(column):
        if leaf.shape != first.shape:
            raise errors.InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{list(first.shape)} and element {number} had shape {list(leaf.shape)}. "
                "Use padded_batch or ragged_batch instead."
            )
    if first.ndim == 0 and spec.dtype.kind not in "SV":
        return np.array(column, spec.dtype.numpy_dtype)
    return np.stack(column)


class RaggedPart(Part):
    """A ragged tensor component; with a ragged rank of 0 its values are a tensor, with -1 rows of one."""

    def batched(self, size: int | None) -> Any:
        spec = self.spec
        shape = None if spec.shape.rank is None else [size, *spec.shape.as_list()]
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)

    def unbatched(self) -> Any:
        spec = self.spec
        if spec.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        shape = None if spec.shape.rank is None else spec.shape.as_list()[1:]
        return type(spec)(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)

    def stacked(self, columns: Sequence[Sequence[Any]], component: int) -> list[Array]:
        flats, *partitions = columns
        if self.spec.ragged_rank < 0:
            return super().stacked(columns, component)
        kind = self.spec.row_splits_dtype.numpy_dtype
        lengths = [len(p) - 1 for p in partitions[0]] if partitions else [len(flat) for flat in flats]
        rest = [_continued(splits, kind) for splits in partitions]
        return [np.concatenate(flats), _splits(lengths, kind), *rest]

    def count(self, leaves: Sequence[Any]) -> int:
        if len(leaves) > 1:
            return len(leaves[1]) - 1
        return super().count(leaves)

    def slices(self, leaves: Sequence[Any]) -> Iterator[Row]:
        if len(leaves) == 1:
            return super().slices(leaves)
        flat, outer, *inner = leaves
        return (_piece(flat, inner, a, b) for a, b in itertools.pairwise(outer))


def _splits(lengths: list[int], kind: Any) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(kind)


def _continued(splits: Sequence[Array], kind: Any) -> Array:
    """Return concatenated row splits."""
    parts, end = [np.zeros(1, kind)], 0
    for part in splits:
        parts.append(part[1:] + end)
        end += part[-1]
    return np.concatenate(parts).astype(kind)


def _piece(flat: Array, inner: Sequence[Array], start: Any, end: Any) -> Row:
    """Return the rows from `start` to `end` of the levels below the outer axis."""
    found = []
    for splits in inner:
        part = splits[start : end + 1]
        start, end = part[0], part[-1]
        found.append(part - start)
    return [flat[start:end], *found]


class SparsePart(Part):
    """A sparse tensor component."""

    def batched(self, size: int | None) -> Any:
        dims = self.spec.shape
        return type(self.spec)(None if dims.rank is None else [size, *dims.as_list()], self.spec.dtype)

    def unbatched(self) -> Any:
        dims = self.spec.shape
        if dims.rank == 0:
            raise ValueError("Unbatching is only supported for rank >= 1")
        return type(self.spec)(None if dims.rank is None else dims.as_list()[1:], self.spec.dtype)

    def stacked(self, columns: Sequence[Sequence[Any]], component: int) -> list[Array]:
        indices, values, shapes = columns
        if len({len(shape) for shape in shapes}) > 1:
            raise errors.InvalidArgumentError(
                f"Cannot batch sparse tensors of different ranks in component {component}"
            )
        numbered = [np.insert(part, 0, number, axis=1) for number, part in enumerate(indices)]
        size = np.concatenate([[len(shapes)], np.max(np.stack(shapes), axis=0)]).astype(np.int64)
        return [np.concatenate(numbered), np.concatenate(values), size]

    def count(self, leaves: Sequence[Any]) -> int:
        return int(leaves[2][0]) if len(leaves[2]) else -1

    def slices(self, leaves: Sequence[Any]) -> Iterator[Row]:
        indices, values, shape = leaves
        for number in range(int(shape[0])):
            found = indices[:, 0] == number
            yield [indices[found][:, 1:], values[found], shape[1:]]


class ExtensionPart(Part):
    """A value of a `BatchableExtensionType`."""

    def __init__(self, spec: Any, what: str) -> None:
        super().__init__(spec)
        self.fields = Parts(tuple(spec._component_specs), what)

    def batched(self, size: int | None) -> Any:
        return self.spec._with_components(self.fields.batched(size))._of_rows(size)

    def unbatched(self) -> Any:
        return self.spec._with_components(self.fields.unbatched())._row()

    def stacked(self, columns: Sequence[Sequence[Any]], component: int) -> list[Array]:
        return list(self.fields.stack(list(zip(*columns, strict=True))))

    def known_counts(self) -> list[int]:
        return self.fields.known_counts()

    def count(self, leaves: Sequence[Any]) -> int:
        return self.fields.count(leaves)

    def slices(self, leaves: Sequence[Any]) -> Iterator[Row]:
        return self.fields.slices(leaves)


def part_of(spec: Any, what: str) -> Part:
    """Return the `Part` of a spec; TypeError for unsupported specs."""
    if isinstance(spec, TensorSpec):
        return Part(spec)
    if isinstance(spec, BatchableExtensionTypeSpec):
        return ExtensionPart(spec, what)
    from ..ragged.spec import RaggedTensorSpec
    from ..sparse.tensor import SparseTensorSpec

    if isinstance(spec, RaggedTensorSpec):
        return RaggedPart(spec)
    if isinstance(spec, SparseTensorSpec):
        return SparsePart(spec)
    raise TypeError(f"{what} cannot take elements with {spec!r}")


class Parts:
    """The components of the elements of a spec."""

    def __init__(self, spec: Any, what: str) -> None:
        self.spec = spec
        self.parts = [
            part_of(leaf, what) for leaf in nest.flatten(spec) if not isinstance(leaf, NoneTensorSpec)
        ]
        self.widths = [len(part.specs) for part in self.parts]
        self.is_dense = all(type(part) is Part for part in self.parts)

    def batched(self, size: Any) -> Any:
        """Return the spec of batches of `size`, an int if it is known."""
        known = size if isinstance(size, int) else None
        return self._respecified(self.spec, iter([part.batched(known) for part in self.parts]))

    def unbatched(self) -> Any:
        """Return the spec of slices."""
        return self._respecified(self.spec, iter([part.unbatched() for part in self.parts]))

    def _respecified(self, spec: Any, changed: Iterator[Any]) -> Any:
        if isinstance(spec, NoneTensorSpec):
            return spec
        if isinstance(spec, TypeSpec) or not is_structure(spec):
            return next(changed)
        parts = [self._respecified(child, changed) for _, child in nest.children(spec)]
        return nest.rebuilt(spec, parts)

    def stack(self, rows: Sequence[Row]) -> Row:
        """Stack rows to one row."""
        columns = list(zip(*rows, strict=True))
        found: list[Any] = []
        for component, (part, leaves) in enumerate(self._by_part(columns)):
            found += part.stacked(leaves, component)
        return found

    def _by_part(self, leaves: Sequence[Any]) -> Iterator[tuple[Part, Sequence[Any]]]:
        at = 0
        for part, width in zip(self.parts, self.widths, strict=True):
            yield part, leaves[at : at + width]
            at += width

    def known_counts(self) -> list[int]:
        """Return the numbers of slices that the specs of the components state."""
        return [count for part in self.parts for count in part.known_counts()]

    def count(self, row: Row) -> int:
        """Return the number of slices. Raises InvalidArgumentError when the components differ."""
        counts = {part.count(leaves) for part, leaves in self._by_part(row)}
        if len(counts) > 1 or -1 in counts:
            raise errors.InvalidArgumentError(
                "Input element must have the same batch size in each component."
            )
        return counts.pop()

    def slices(self, row: Row) -> Iterator[Row]:
        """Return an iterator over the rows of a row's slices."""
        if self.is_dense:
            return zip(*map(rows_of, row), strict=True)
        walks = [part.slices(leaves) for part, leaves in self._by_part(row)]
        return ([leaf for piece in pieces for leaf in piece] for pieces in zip(*walks, strict=True))
