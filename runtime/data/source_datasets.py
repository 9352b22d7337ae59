"""Source stages: tensors, ranges, Python generators, random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from .component_codecs import Parts
from .element_spec import Row, fitted, leaf_specs, leaves_of, row_of, spec_of
from .pipeline_stage import INFINITE, UNKNOWN, Elements, PipelineStage
from .random_order import Samples, Seeds


class SingleElement(PipelineStage):
    """`from_tensors`: one element."""

    name = "_TensorDataset"

    def __init__(self, element: Any) -> None:
        self.leaves = leaves_of(element)
        self.spec = spec_of(element)

    def elements(self) -> Elements:
        return iter([[leaf._array for leaf in self.leaves]])

    def cardinality(self) -> int:
        return 1


class Slices(PipelineStage):
    """`from_tensor_slices`: the rows of tensors."""

    name = "_TensorSliceDataset"

    def __init__(self, element: Any) -> None:
        self.leaves = leaves_of(element)
        if not self.leaves:
            raise ValueError("Argument `tensors` cannot be empty.")
        whole = spec_of(element)
        self.parts = Parts(whole, "from_tensor_slices")
        self.spec = self.parts.unbatched()
        known = self.parts.known_counts()
        for size in known:
            if size != known[0]:
                raise ValueError(
                    f"Dimensions {known[0]} and {size} are not compatible: all components must have "
                    "the same number of rows"
                )
        self.size = known[0] if known else None

    @property
    def table(self) -> list[Any] | None:
        """Return the arrays whose rows are the elements; None with a sparse or ragged tensor among them."""
        return [leaf._array for leaf in self.leaves] if self.parts.is_dense else None

    def check(self) -> None:
        if all(isinstance(leaf, EagerTensor) for leaf in self.leaves):
            self.size = self.parts.count([leaf._array for leaf in self.leaves])

    def elements(self) -> Elements:
        return self.parts.slices([leaf._array for leaf in self.leaves])

    def blocks(self, size: int) -> Elements | None:
        table = self.table
        if table is None:
            return None
        return iter([[array[i : i + size] for array in table] for i in range(0, len(table[0]), size)])

    def cardinality(self) -> int:
        return UNKNOWN if self.size is None else self.size


class ListItems(Slices):
    """`experimental.from_list`."""

    name = "_ListDataset"


class EquallySpaced(PipelineStage):
    """`range`: equally spaced integers or floats."""

    name = "_RangeDataset"

    def __init__(self, start: Any, stop: Any, step: Any, dtype: dtypes.DType) -> None:
        self.start, self.stop, self.step, self.dtype = start, stop, step, dtype
        self.spec = TensorSpec((), dtype)

    def check(self) -> None:
        if self.step == 0:
            raise errors.InvalidArgumentError("step must be a non-zero integer.")

    def elements(self) -> Elements:
        kind = self.dtype.numpy_dtype.type
        return ((kind(i),) for i in range(self.start, self.stop, self.step))

    def blocks(self, size: int) -> Elements:
        numbers = range(self.start, self.stop, self.step)
        return (
            [np.arange(part.start, part.stop, part.step, dtype=self.dtype.numpy_dtype)]
            for part in (numbers[i : i + size] for i in range(0, len(numbers), size))
        )

    def cardinality(self) -> int:
        known = all(isinstance(x, int) for x in (self.start, self.stop, self.step))
        return len(range(self.start, self.stop, self.step)) if known else UNKNOWN


class CountFrom(PipelineStage):
    """`counter`: an infinite sequence from a number on."""

    name = "_ScanDataset"

    def __init__(self, start: Any, step: Any, dtype: dtypes.DType) -> None:
        self.start, self.step, self.dtype = start, step, dtype
        self.spec = TensorSpec((), dtype)

    def elements(self) -> Elements:
        kind = self.dtype.numpy_dtype.type
        return ((kind(i),) for i in itertools.count(self.start, self.step))

    def cardinality(self) -> int:
        return INFINITE


class Random(PipelineStage):
    """`random`: 32-bit numbers, equal to TensorFlow's for the same seed."""

    name = "_RandomDataset"

    def __init__(self, seeds: Seeds) -> None:
        self.seeds = seeds
        self.spec = TensorSpec((), dtypes.int64)

    def renew(self) -> None:
        self.seeds = self.seeds.anew()

    def elements(self) -> Elements:
        samples = Samples(*self.seeds.next())
        return ((np.int64(samples.next()),) for _ in itertools.count())

    def cardinality(self) -> int:
        return INFINITE


class Generated(PipelineStage):
    """`from_generator`: the items of a Python generator, converted and checked."""

    name = "_FlatMapDataset"

    def __init__(self, generator: Callable[..., Any], arguments: list[Any], spec: Any) -> None:
        self.generator = generator
        self.arguments = arguments
        self.spec = spec

    def elements(self) -> Elements:
        return _Yielded(self)


class _Yielded(Elements):
    """The elements of one call of a generator function, which is called for the first element."""

    def __init__(self, stage: Generated) -> None:
        self.stage = stage
        self.items: Iterator[Any] | None = None
        self.index = -1

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
    """Return the item in the structure of the spec, its leaves converted. Lists are accepted as tuples."""
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
    """Return the error that TensorFlow raises for a Python exception: an error code with its text."""
    if isinstance(error, errors.OpError):
        return error
    kind = next((code for python, code in _CODES if isinstance(error, python)), errors.UnknownError)
    return kind(f"{type(error).__name__}: {error}\n  in {where}")
