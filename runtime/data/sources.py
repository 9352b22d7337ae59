"""Where rows come from: tensors, ranges, Python generators, random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..convert import convert_to_tensor
from ..tensor import EagerTensor
from ..tensor_spec import TensorSpec
from ..type_spec import TypeSpec
from .elements import Row, fitted, leaf_specs, leaves_of, mapped_spec, row_of, spec_of
from .samples import Samples, Seeds
from .stage import INFINITE, UNKNOWN, Elements, Stage


class Whole(Stage):
    """`from_tensors`: one element."""

    name = "_TensorDataset"

    def __init__(self, element: Any) -> None:
        self.leaves = leaves_of(element)
        self.spec = spec_of(element)

    def elements(self) -> Elements:
        return iter([[leaf._array for leaf in self.leaves]])

    def cardinality(self) -> int:
        return 1


class Slices(Stage):
    """`from_tensor_slices`: the rows of tensors."""

    name = "_TensorSliceDataset"

    def __init__(self, element: Any) -> None:
        self.leaves = leaves_of(element)
        if not self.leaves:
            raise ValueError("Argument `tensors` cannot be empty.")
        self.spec = mapped_spec(_unbatched, spec_of(element), "from_tensor_slices")
        first: int | None = None
        for leaf in self.leaves:
            size = None if leaf.shape.rank is None else leaf.shape[0]
            if first is not None and size is not None and size != first:
                raise ValueError(f"Dimensions {first} and {size} are not compatible")
            first = size if first is None else first

    @property
    def table(self) -> list[Any]:
        return [leaf._array for leaf in self.leaves]

    def check(self) -> None:
        known = all(isinstance(leaf, EagerTensor) for leaf in self.leaves)
        if known and len({len(array) for array in self.table}) > 1:
            raise errors.InvalidArgumentError("the tensors have different numbers of slices")

    def elements(self) -> Elements:
        return zip(*map(rows_of, self.table), strict=True)

    def blocks(self, size: int) -> Elements:
        table = self.table
        return iter([[array[i : i + size] for array in table] for i in range(0, len(table[0]), size)])

    def cardinality(self) -> int:
        sizes = [leaf.shape[0] for leaf in self.leaves if leaf.shape.rank is not None]
        return next((size for size in sizes if size is not None), UNKNOWN)


class Items(Slices):
    """`experimental.from_list`."""

    name = "_ListDataset"


def _unbatched(spec: TensorSpec) -> TensorSpec:
    if spec.shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return TensorSpec(None if spec.spec.shape is None else spec.spec.shape[1:], spec.dtype)


def rows_of(array: Any) -> Iterator[Any]:
    """The rows of an array as leaves: strings and datasets are arrays of rank 0."""
    if array.ndim == 1 and array.dtype.kind in "OV":
        return map(array.__getitem__, [(i, ...) for i in range(len(array))])
    return iter(array)


class Range(Stage):
    """`range`: integers or floats at equal distances."""

    name = "_RangeDataset"

    def __init__(self, start: Any, stop: Any, step: Any, dtype: dtypes.DType) -> None:
        self.start, self.stop, self.step, self.dtype = start, stop, step, dtype
        self.spec = TensorSpec((), dtype)

    def check(self) -> None:
        if self.step == 0:
            raise errors.InvalidArgumentError("step must be a non-zero integer.")

    def elements(self) -> Elements:
        kind = self.dtype.numpy.type
        return ((kind(i),) for i in range(self.start, self.stop, self.step))

    def blocks(self, size: int) -> Elements:
        numbers = range(self.start, self.stop, self.step)
        return (
            [np.arange(part.start, part.stop, part.step, dtype=self.dtype.numpy)]
            for part in (numbers[i : i + size] for i in range(0, len(numbers), size))
        )

    def cardinality(self) -> int:
        known = all(isinstance(x, int) for x in (self.start, self.stop, self.step))
        return len(range(self.start, self.stop, self.step)) if known else UNKNOWN


class Counter(Stage):
    """`counter`: from a number on, without an end."""

    name = "_ScanDataset"

    def __init__(self, start: Any, step: Any, dtype: dtypes.DType) -> None:
        self.start, self.step, self.dtype = start, step, dtype
        self.spec = TensorSpec((), dtype)

    def elements(self) -> Elements:
        kind = self.dtype.numpy.type
        return ((kind(i),) for i in itertools.count(self.start, self.step))

    def cardinality(self) -> int:
        return INFINITE


class Random(Stage):
    """`random`: numbers of 32 bits, as TensorFlow's for the same seed."""

    name = "_RandomDataset"

    def __init__(self, seeds: Seeds) -> None:
        self.seeds = seeds
        self.spec = TensorSpec((), dtypes.int64)

    def elements(self) -> Elements:
        samples = Samples(*self.seeds.next())
        return ((np.int64(samples.next()),) for _ in itertools.count())

    def cardinality(self) -> int:
        return INFINITE


class Generated(Stage):
    """`from_generator`: what a Python generator yields, converted and checked."""

    name = "_FlatMapDataset"

    def __init__(self, generator: Callable[..., Any], arguments: list[Any], spec: Any) -> None:
        self.generator = generator
        self.arguments = arguments
        self.spec = spec

    def elements(self) -> Elements:
        return _Yielded(self)


class _Yielded:
    """The elements of one call of a generator function, which is made for the first of them."""

    def __init__(self, stage: Generated) -> None:
        self.stage = stage
        self.items: Iterator[Any] | None = None
        self.index = -1

    def __iter__(self) -> Elements:
        return self

    def __next__(self) -> Row:
        self.index += 1
        try:
            if self.items is None:
                arguments = [EagerTensor(x._array).numpy() for x in self.stage.arguments]
                self.items = iter(self.stage.generator(*arguments))
            item = next(self.items)
        except StopIteration:
            raise
        except Exception as error:
            raise _wrapped(error, f"element {self.index} of from_generator") from error
        return _converted(item, self.stage.spec)


def _converted(item: Any, spec: Any) -> Row:
    try:
        row = row_of(_matched(item, spec))
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            "TypeError: `generator` yielded an element that did not match the expected structure. "
            f"The expected structure was {_structure_text(spec)}, but the yielded element was {item!r}. ({error})"
        ) from None
    wanted = leaf_specs(spec)
    for leaf, leaf_spec in zip(row, wanted, strict=True):
        if dtypes.of_array(leaf) is not leaf_spec.dtype:
            raise errors.InvalidArgumentError(
                f"TypeError: `generator` yielded an element of type {leaf.dtype} where {leaf_spec.dtype.name} was "
                "expected"
            )
    return fitted(row, spec, "TypeError: `generator` yielded an element of a wrong shape")


def _matched(item: Any, spec: Any) -> Any:
    """The item in the structure of the spec, its leaves converted. Lists stand for tuples, where those are wanted."""
    if isinstance(spec, TensorSpec):
        return convert_to_tensor(item, spec.dtype) if not hasattr(item, "_array") else item
    if isinstance(spec, TypeSpec):
        if not spec.is_compatible_with(item):
            raise TypeError("another structure")
        return item
    children = nest.children(spec)
    if isinstance(spec, tuple):
        if not isinstance(item, (tuple, list)) or len(item) != len(children):
            raise TypeError("another structure")
        return nest.rebuilt(spec, [_matched(part, s) for part, (_, s) in zip(item, children, strict=True)])
    found = dict(nest.children(item)) if nest.is_nested(item) else {}
    if set(found) != {key for key, _ in children}:
        raise TypeError("another structure")
    return nest.rebuilt(spec, [_matched(found[key], s) for key, s in children])


def _structure_text(spec: Any) -> str:
    return repr(nest.map_structure(lambda leaf: leaf.dtype, spec)) if spec is not None else "None"


_CODES: list[tuple[type[Exception], type[errors.OpError]]] = [
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
]


def _wrapped(error: Exception, where: str) -> Exception:
    """How TensorFlow passes on what Python code raises: by an error code, with the text."""
    if isinstance(error, errors.OpError):
        return error
    kind = next((code for python, code in _CODES if isinstance(error, python)), errors.UnknownError)
    return kind(f"{type(error).__name__}: {error}\n  in {where}")
