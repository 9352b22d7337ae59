"""A stage of a pipeline: where rows come from, and what becomes of them.

    Range(0, 6)                      elements(): [0], [1], … [5]
      Mapped(Range, function)        [0], [2], … [10]
        Batched(Mapped, 4)           [[0, 2, 4, 6]], [[8, 10]]

A `Dataset` is the user's handle of a stage. Each walk makes new iterators, down to the source. They can go on after
an error: what failed is left out, so `ignore_errors` is possible.

In a graph, a stage is an operation, and the stage before it is `Given` by a tensor. Its numbers and tensors may be
symbolic: it knows its spec, and nothing else, until `Recipe` puts the values in their place at run time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, SymbolicTensor
from .element_spec import Row, unboxed

INFINITE = -1
UNKNOWN = -2

Elements = Iterator[Row]


class PipelineStage:
    """What datasets are made of.

    Attributes: `name` (as TensorFlow calls such datasets), `spec` (that of its elements), `source` (the stage
    before this one; a stage may have several, or none).
    """

    name = "_Dataset"
    spec: Any

    def elements(self) -> Elements:
        """A new walk."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def renew(self) -> None:
        """Forget what earlier walks have left behind; this is a copy."""

    def check(self) -> None:
        """Raise InvalidArgumentError for values that it cannot take; they are known now."""

    def blocks(self, size: int) -> Elements | None:
        """A walk over blocks of `size` elements (fewer at the end), each as one row; None when rows come singly."""
        return None


class Given(PipelineStage):
    """The stage that is in a tensor of dtype variant; `like` tells what is known of it."""

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
        """The stage itself, once it is known."""
        return unboxed(tensor._array) if isinstance(tensor, EagerTensor) else self


def number(value: Any, dtype: dtypes.DType = dtypes.int64) -> Any:
    """An integer argument: Python's int where it is known, else what a graph makes of it later."""
    tensor = convert_to_tensor(value, None if isinstance(value, SymbolicTensor) else dtype)
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {tensor.shape.rank}")
    return int(tensor) if isinstance(tensor, EagerTensor) else Later(tensor)


def symbolic(stage: Any) -> list[SymbolicTensor]:
    """The tensors of a stage, and of all before it, that are known only when the graph runs."""
    found: dict[int, SymbolicTensor] = {}
    _replaced(stage, lambda tensor: found.setdefault(id(tensor), tensor), {})
    return list(found.values())


class Recipe:
    """How the stage of a graph is made anew in each run, from the values of its symbolic tensors."""

    def __init__(self, stage: PipelineStage, tensors: list[SymbolicTensor]) -> None:
        self.stage = stage
        self.tensors = tensors
        self.__name__ = stage.name

    def __call__(self, arrays: list[Any]) -> PipelineStage:
        values = {id(tensor): array for tensor, array in zip(self.tensors, arrays, strict=True)}

        def value_of(tensor: SymbolicTensor) -> Any:
            return EagerTensor(np.asarray(values[id(tensor)], tensor.dtype.numpy))

        stage = copy.copy(self.stage)
        for name, part in vars(self.stage).items():
            setattr(stage, name, _replaced(part, value_of, {}))
        stage.renew()
        stage.check()
        return stage


def _replaced(value: Any, change: Callable[[SymbolicTensor], Any], done: dict[int, Any]) -> Any:
    """The value with other things for its symbolic tensors; itself, when it holds none."""
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
    """Marks other things that stages hold, and that may hold symbolic tensors."""


class Later(Symbolic):
    """An integer that is known only when the graph runs."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def with_value(self, tensor: Any) -> Any:
        """The integer, once it is known."""
        return int(tensor) if isinstance(tensor, EagerTensor) else self
