"""Stages that stack elements, and slice them again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor
from ..core.tensor_spec import TensorSpec
from ..ir.value_types import TensorType
from .component_codecs import Parts
from .element_spec import Row, leaf_specs, mapped_spec
from .pipeline_stage import INFINITE, UNKNOWN, Elements, Later, PipelineStage


def check_size(size: Any) -> None:
    if isinstance(size, int) and size <= 0:
        raise errors.InvalidArgumentError("Batch size must be greater than zero.")


class FixedBatches(PipelineStage):
    """The base class of stages whose batches have `size` elements; `drop` leaves out a shorter last one."""

    source: PipelineStage
    size: Any
    drop = False

    def check(self) -> None:
        check_size(self.size)

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count < 0 or not isinstance(self.size, int):
            return count if count < 0 else UNKNOWN
        return count // self.size if self.drop else -(-count // self.size)


class Batched(FixedBatches):
    """`batch`: elements stacked along a new first axis."""

    name = "_BatchDataset"

    def __init__(self, source: PipelineStage, size: Any, drop: bool, is_parallel: bool = False) -> None:
        self.source, self.size, self.drop = source, size, drop
        self.parts = Parts(source.spec, "batch")
        self.spec = self.parts.batched(size if drop else None)
        if is_parallel:
            self.name = "_ParallelBatchDataset"

    def elements(self) -> Elements:
        blocks = self.source.blocks(self.size)
        if blocks is None:
            return Batches(self.source.elements(), itertools.repeat(self.size), self.drop, self.parts.stack)
        if not self.drop:
            return blocks
        return (block for block in blocks if len(block[0]) == self.size)


class Batches(Elements):
    """Rows in groups of the given sizes, each stacked to one row."""

    def __init__(
        self, rows: Elements, sizes: Iterator[int], drop: bool, stack: Callable[[list[Row]], Row]
    ) -> None:
        self.rows, self.sizes, self.drop, self.stack = rows, sizes, drop, stack

    def __next__(self) -> Row:
        size = next(self.sizes)
        rows = list(itertools.islice(self.rows, size))
        if not rows or (self.drop and len(rows) < size):
            raise StopIteration
        return self.stack(rows)


class PaddedBatched(FixedBatches):
    """`padded_batch`: elements padded to one shape, then stacked."""

    name = "_PaddedBatchDataset"

    def __init__(self, source: PipelineStage, size: Any, padded: Any, values: Any, drop: bool) -> None:
        self.source, self.size, self.drop = source, size, drop
        inner = leaf_specs(source.spec)
        _repacked(source.spec, iter(inner))  # raises for composite tensors
        self.padded = _padded_shapes(padded, source.spec, inner)
        self.values = _padding_values(values, source.spec, inner)
        leaves = [
            TensorSpec(_static(dims), leaf.dtype) for leaf, dims in zip(inner, self.padded, strict=True)
        ]
        packed = _repacked(source.spec, iter(leaves))
        self.spec = Parts(packed, "padded_batch").batched(size if drop else None)

    def elements(self) -> Elements:
        rows = self.source.elements()
        return Batches(rows, itertools.repeat(self.size), self.drop, self._stack)

    def _stack(self, rows: list[Row]) -> Row:
        columns = zip(*rows, strict=True)
        return [
            _padded(column, dims, value, i)
            for i, (column, dims, value) in enumerate(zip(columns, self.padded, self.values, strict=True))
        ]


def _repacked(spec: Any, leaves: Iterator[Any]) -> Any:
    """Return the spec with other specs for its tensors."""
    return mapped_spec(lambda leaf: next(leaves), spec, "padded_batch")


def _padded_shapes(given: Any, spec: Any, leaves: list[TensorType]) -> list[tuple[Any, ...]]:
    """Return the sizes to pad each leaf to, None for the longest of a batch; sizes may be symbolic."""
    if given is None:
        for leaf in leaves:
            if leaf.shape is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component has unknown rank."
                )
        return [leaf.shape for leaf in leaves]  # type: ignore[misc]
    found = []
    for said, leaf in zip(_like(given, spec, len(leaves), "padded_shapes"), leaves, strict=True):
        dims = _padded_shape(said)
        if leaf.shape is not None and not _can_hold(_static(dims), leaf.shape):
            raise ValueError(
                f"The padded shape {shapes.show(_static(dims))} is not compatible with the shape "
                f"{shapes.show(leaf.shape)} of the corresponding input component."
            )
        found.append(dims)
    return found


def _padded_shape(said: Any) -> tuple[Any, ...]:
    if isinstance(said, shapes.TensorShape):
        said = said.as_list()
    elif isinstance(said, (EagerTensor, np.ndarray)):
        said = np.asarray(said).reshape(-1).tolist()
    if said is None or isinstance(said, int):
        raise ValueError(f"padded_shapes: {said!r} is not a shape")
    return tuple(
        Later(size) if isinstance(size, SymbolicTensor) else None if size in (-1, None) else int(size)
        for size in said
    )


def _static(dims: tuple[Any, ...]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in dims)


def _can_hold(dims: tuple[int | None, ...], inner: tuple[int | None, ...]) -> bool:
    return len(dims) == len(inner) and all(
        a is None or b is None or b <= a for a, b in zip(dims, inner, strict=True)
    )


def _like(given: Any, spec: Any, count: int, what: str) -> list[Any]:
    """Return the given values for the leaves, in the structure of the elements."""
    if isinstance(spec, TensorSpec):
        return [given]
    found: list[Any] = []

    def walk(part: Any, like: Any) -> None:
        if not nest.is_nested(like):
            found.append(part)
            return
        children = dict(nest.children(part)) if nest.is_nested(part) else {}
        for key, child in nest.children(like):
            if key not in children:
                raise ValueError(f"{what}: its structure is not that of the elements, {spec!r}")
            walk(children[key], child)

    walk(given, spec)
    assert len(found) == count
    return found


def _padding_values(given: Any, spec: Any, leaves: list[TensorType]) -> list[Any]:
    if given is None:
        said: list[Any] = [None] * len(leaves)
    elif nest.is_nested(given):
        said = _like(given, spec, len(leaves), "padding_values")
    else:
        said = [given] * len(leaves)
    return [_padding_value(value, leaf) for value, leaf in zip(said, leaves, strict=True)]


def _padding_value(value: Any, leaf: TensorType) -> Any:
    is_default = value is None
    if is_default:
        value = "" if leaf.dtype is dtypes.string else False if leaf.dtype.is_bool else 0
    try:
        tensor = convert_to_tensor(value, leaf.dtype if is_default else None)
    except (TypeError, ValueError) as error:
        raise TypeError(f"padding_values: {error}") from None
    if tensor.dtype is not leaf.dtype:
        raise TypeError(
            f"Mismatched type between padding value ({tensor.dtype!r}) and the input dataset's component "
            f"({leaf.dtype!r})"
        )
    if tensor.shape.rank != 0:
        raise ValueError(f"Padding value should be a scalar, but got {value!r}")
    return tensor


def _padded(column: Sequence[Any], dims: tuple[int | None, ...], value: Any, component: int) -> Any:
    largest = [max(sizes) for sizes in zip(*(leaf.shape for leaf in column), strict=True)]
    for number, leaf in enumerate(column):
        if leaf.ndim != len(dims):
            raise errors.InvalidArgumentError(
                f"All elements in a batch must have the same rank as the padded shape for component{component}: "
                f"expected rank {len(dims)} but got element {number} with rank {leaf.ndim}"
            )
    size = []
    for axis, (wanted, found) in enumerate(zip(dims, largest, strict=True)):
        if wanted is not None and found > wanted:
            raise errors.DataLossError(
                f"Attempted to pad to a smaller size than the input element: component {component}, axis {axis}: "
                f"{found} > {wanted}"
            )
        size.append(found if wanted is None else wanted)
    array = np.full((len(column), *size), value._array[()], value._array.dtype)
    for number, leaf in enumerate(column):
        key: Any = (number, *(slice(0, n) for n in leaf.shape))
        array[key] = leaf[()] if leaf.ndim == 0 else leaf
    return array


class Unbatched(PipelineStage):
    """`unbatch`: the slices of each element."""

    name = "_UnbatchDataset"

    def __init__(self, source: PipelineStage) -> None:
        self.source = source
        self.parts = Parts(source.spec, "unbatch")
        self.spec = self.parts.unbatched()
        sizes = set(self.parts.known_counts())
        if len(sizes) > 1:
            raise ValueError(f"Dimensions {' and '.join(map(str, sizes))} are not compatible")
        self.size: int | None = sizes.pop() if sizes else None

    def elements(self) -> Elements:
        return _Flat(map(self._slices, self.source.elements()))

    def _slices(self, row: Row) -> Iterator[Row]:
        self.parts.count(row)
        return self.parts.slices(row)

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if known in (INFINITE, 0):
            return known
        return known * self.size if known >= 0 and self.size is not None else UNKNOWN


class _Flat(Elements):
    """The rows of several iterators, concatenated."""

    def __init__(self, parts: Iterator[Iterator[Row]]) -> None:
        self.parts = parts
        self.part: Iterator[Row] = iter(())

    def __next__(self) -> Row:
        while True:
            for row in self.part:
                return row
            self.part = next(self.parts)


class Rebatched(PipelineStage):
    """`rebatch`: batches of other sizes."""

    name = "_RebatchDataset"

    def __init__(self, source: PipelineStage, sizes: list[int], drop: bool) -> None:
        self.unbatched = Unbatched(source)
        self.sizes, self.drop = sizes, drop
        same = sizes[0] if drop and len(set(sizes)) == 1 else None
        self.parts = Parts(self.unbatched.spec, "rebatch")
        self.spec = self.parts.batched(same)

    def check(self) -> None:
        for size in self.sizes:
            check_size(size)

    def elements(self) -> Elements:
        sizes = itertools.cycle(self.sizes)
        return Batches(self.unbatched.elements(), sizes, self.drop, self.parts.stack)
