"""Stages of a pipeline: sources of rows, and their transformations.

    Range(0, 6)                      elements(): [0], [1], … [5]
      Mapped(Range, function)        [0], [2], … [10]
        Batched(Mapped, 4)           [[0, 2, 4, 6]], [[8, 10]]

A `Dataset` is the user's handle of a stage. Each iteration creates new iterators, down to the source. They can
continue after an error: the failed element is skipped, which makes `ignore_errors` possible.

In a graph, a stage is an operation, and its source is a tensor (`Given`). Its numbers and tensors may be
symbolic: only its spec is known, until `Recipe` substitutes the values at run time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor
from .element_spec import Row, unboxed

INFINITE = -1
UNKNOWN = -2

Elements = Iterator[Row]


class PipelineStage:
    """The base class of stages.

    Attributes: `name` (TensorFlow's name of such datasets), `spec` (that of its elements), `source` (the previous
    stage; a stage may have several, or none).
    """

    name = "_Dataset"
    spec: Any

    def elements(self) -> Elements:
        """Start a new iteration."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """Return the number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def renew(self) -> None:
        """Reset the state left by earlier iterations; called on a copy."""

    def check(self) -> None:
        """Raise InvalidArgumentError for invalid values; they are known now."""

    def blocks(self, size: int) -> Elements | None:
        """Return an iterator over blocks of `size` elements, each as one row; None if unsupported.

        The last block may be smaller.
        """
        return None


def some_or_none(stage: Any) -> int:
    """Return 0 if the source of a stage is empty, and else UNKNOWN."""
    return 0 if stage.source.cardinality() == 0 else UNKNOWN


class Given(PipelineStage):
    """A stage in a tensor of dtype variant; `like` has its static properties."""

    name = "_VariantDataset"

    def __init__(self, tensor: Any, spec: Any, like: PipelineStage | None = None) -> None:
        self.tensor = tensor
        self.spec = spec
        self.like = like
        if like is not None:
            self.name = like.name

    def cardinality(self) -> int:
        return UNKNOWN if self.like is None else self.like.cardinality()

    def with_value(self, tensor: Any) -> PipelineStage:
        """Return the stage itself, once its value is known."""
        return unboxed(tensor._array) if isinstance(tensor, EagerTensor) else self


def number(value: Any, dtype: dtypes.DType = dtypes.int64) -> Any:
    """Return an integer argument: a Python int if it is known, else a value that a graph computes."""
    tensor = convert_to_tensor(value, None if isinstance(value, SymbolicTensor) else dtype)
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {tensor.shape.rank}")
    return int(tensor) if isinstance(tensor, EagerTensor) else Later(tensor)


def symbolic(stage: Any) -> list[SymbolicTensor]:
    """Return the symbolic tensors of a stage and its sources, which are known only when the graph runs."""
    found: dict[int, SymbolicTensor] = {}
    _replaced(stage, lambda tensor: found.setdefault(id(tensor), tensor), {})
    return list(found.values())


class Recipe:
    """A recipe that rebuilds a graph's stage at each run from the values of its symbolic tensors."""

    def __init__(self, stage: PipelineStage, tensors: list[SymbolicTensor]) -> None:
        self.stage = stage
        self.tensors = tensors
        self.__name__ = stage.name

    def __call__(self, arrays: list[Any]) -> PipelineStage:
        values = {id(tensor): array for tensor, array in zip(self.tensors, arrays, strict=True)}

        def value_of(tensor: SymbolicTensor) -> Any:
            return EagerTensor(np.asarray(values[id(tensor)], tensor.dtype.numpy_dtype))

        stage = copy.copy(self.stage)
        for name, part in vars(self.stage).items():
            setattr(stage, name, _replaced(part, value_of, {}))
        stage.renew()
        stage.check()
        return stage


def _replaced(value: Any, change: Callable[[SymbolicTensor], Any], done: dict[int, Any]) -> Any:
    """Return the value with its symbolic tensors replaced; the value itself when it has none."""
    if isinstance(value, SymbolicTensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        parts = [_replaced(part, change, done) for part in value]
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else type(value)(parts)
    if isinstance(value, (Given, Later)):
        return value.with_value(_replaced(value.tensor, change, done))
    if not isinstance(value, (PipelineStage, Symbolic)):
        return value
    if id(value) not in done:
        attributes = {name: _replaced(part, change, done) for name, part in vars(value).items()}
        is_same = all(attributes[name] is part for name, part in vars(value).items())
        done[id(value)] = value if is_same else _with(value, attributes)
    return done[id(value)]


def _with(value: Any, attributes: dict[str, Any]) -> Any:
    other = copy.copy(value)
    vars(other).update(attributes)
    return other


class Symbolic:
    """Base class of other objects in stages that may hold symbolic tensors."""


class Later(Symbolic):
    """An integer that is known only when the graph runs."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def with_value(self, tensor: Any) -> Any:
        """Return the integer, once it is known."""
        return int(tensor) if isinstance(tensor, EagerTensor) else self
