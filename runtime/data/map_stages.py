"""Stages that apply user functions to elements."""

from __future__ import annotations

import itertools
from typing import Any

from .. import errors
from ..core.tensor_spec import TensorSpec
from .dataset_spec import DatasetSpec
from .element_spec import Row, generalized, leaf_specs, leaves_of, spec_of, unboxed
from .pipeline_stage import Elements, PipelineStage, some_or_none
from .prefetch_threads import Parallel, workers
from .user_functions import Calls, Traced, arguments_of


class Mapped(PipelineStage):
    """`map`: the function's result for each element."""

    name = "_MapDataset"

    def __init__(
        self,
        source: PipelineStage,
        function: Any,
        parallel_calls: Any = None,
        deterministic: bool | None = None,
    ) -> None:
        self.source = source
        self.function = Traced(function, arguments_of(source.spec), "map", "func")
        self.spec = self.function.spec
        if self.spec is not None and not leaf_specs(self.spec):
            raise errors.InvalidArgumentError("map: the function must return at least one tensor")
        self.parallel_calls = parallel_calls
        self.deterministic = deterministic
        if parallel_calls is not None:
            self.name = "_ParallelMapDataset"

    def check(self) -> None:
        calls = self.parallel_calls
        if isinstance(calls, int) and calls < 1 and calls != -1:
            raise errors.InvalidArgumentError("num_parallel_calls must be greater than zero.")

    def elements(self) -> Elements:
        calls, rows = Calls(self.function), self.source.elements()
        if self.parallel_calls is None:
            return map(calls, rows)
        return Parallel(calls, rows, workers(self.parallel_calls), self.deterministic is not False)

    def cardinality(self) -> int:
        return self.source.cardinality()


def predicate(function: Any, specs: list[Any], what: str) -> Traced:
    """Trace a function that returns a scalar bool."""
    traced = Traced(function, specs, what, "func")
    spec = traced.spec
    fits = isinstance(spec, TensorSpec) and spec.dtype.is_bool and spec.shape.rank in (0, None)
    if not fits and not traced.ends:
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
            f"{spec!r}."
        )
    return traced


class Filtered(PipelineStage):
    """`filter`: the elements for which the function returns true."""

    name, method = "_FilterDataset", "filter"
    cardinality = some_or_none

    def __init__(self, source: PipelineStage, function: Any) -> None:
        self.source = source
        self.spec = source.spec
        self.function = predicate(function, arguments_of(source.spec), self.method)

    def elements(self) -> Elements:
        calls = Calls(self.function)
        return filter(lambda row: calls(row)[0], self.source.elements())


class TakenWhile(Filtered):
    """`take_while`: the elements before the first for which the function returns false."""

    name, method = "_TakeWhileDataset", "take_while"

    def elements(self) -> Elements:
        calls = Calls(self.function)
        return itertools.takewhile(lambda row: calls(row)[0], self.source.elements())


def nested(function: Any, specs: list[Any], what: str) -> tuple[Traced, Any]:
    """Trace a function that returns a dataset; return it with the spec of that dataset's elements."""
    traced = Traced(function, specs, what, "map_func")
    if not isinstance(traced.spec, DatasetSpec):
        raise TypeError(
            f"The `map_func` argument must return a `Dataset` object. Got {traced.spec!r}. [{what}]"
        )
    return traced, traced.spec.element_spec


class Interleaved(PipelineStage):
    """`interleave` and `flat_map`: the elements of the datasets that the function returns, taken in turn.

    `cycle` datasets are open at a time, and `block` consecutive elements are taken from each in turn.
    """

    cardinality = some_or_none

    def __init__(
        self,
        source: PipelineStage,
        function: Any,
        cycle: Any = 1,
        block: Any = 1,
        parallel_calls: Any = None,
        deterministic: bool | None = None,
        what: str = "interleave",
    ) -> None:
        self.source = source
        self.function, self.spec = nested(function, arguments_of(source.spec), what)
        self.cycle, self.block = cycle, block
        self.parallel_calls, self.deterministic = parallel_calls, deterministic
        self.name = "_FlatMapDataset" if what == "flat_map" else "_InterleaveDataset"
        if parallel_calls is not None:
            self.name = "_ParallelInterleaveDataset"

    def check(self) -> None:
        for name, value in (("cycle_length", self.cycle), ("block_length", self.block)):
            if isinstance(value, int) and value < 1 and not (name == "cycle_length" and value == -1):
                raise errors.InvalidArgumentError(f"`{name}` must be > 0")

    def elements(self) -> Elements:
        rows: Elements = map(Calls(self.function), self.source.elements())
        if self.parallel_calls is not None:
            opened = (_ahead(unboxed(leaf)) for (leaf,) in rows)
        else:
            opened = (unboxed(leaf).elements() for (leaf,) in rows)
        return _Turns(opened, workers(self.cycle), self.block)


def _ahead(stage: PipelineStage) -> Elements:
    """Return an iterator that a thread prefetches."""
    from .prefetch_threads import Prefetched

    return Prefetched(stage.elements(), 2)


class _Turns(Elements):
    """The elements of several iterators, interleaved."""

    def __init__(self, opened: Any, cycle: int, block: int) -> None:
        self.opened = opened
        self.slots: list[Elements | None] = [None] * cycle
        self.block = block
        self.position = self.taken = self.open = 0
        self.has_more = True

    def __next__(self) -> Row:
        while self.has_more or self.open:
            slot = self.slots[self.position]
            if slot is not None:
                try:
                    row = next(slot)
                except StopIteration:
                    self.slots[self.position] = None
                    self.open -= 1
                    self._turn()
                    continue
                self.taken += 1
                if self.taken == self.block:
                    self._turn()
                return row
            if self.has_more:
                try:
                    self.slots[self.position] = next(self.opened)
                    self.open += 1
                except StopIteration:
                    self.has_more = False
            else:
                self._turn()
        raise StopIteration

    def _turn(self) -> None:
        self.taken = 0
        self.position = (self.position + 1) % len(self.slots)


def stable(function: Any, state: Any, specs: list[Any], what: str, split: Any) -> tuple[Traced, Any]:
    """Trace a function with a state spec that covers the state it returns.

    `split` extracts the state's spec from that of the result.
    """
    spec = spec_of(state)
    while True:
        traced = Traced(function, [spec, *specs], what, f"{what}_func")
        after = spec if traced.ends else split(traced.spec)
        wider = generalized(spec, after)
        if wider is None:
            raise TypeError(
                f"The element types for the new state must match the initial state. Expected {spec!r}; got {after!r}. "
                f"[{what}]"
            )
        if wider == spec:
            return traced, spec
        spec = wider


class Scanned(PipelineStage):
    """`scan`: a function of a state and each element returns the next state, and an element."""

    name = "_ScanDataset"

    def __init__(self, source: PipelineStage, state: Any, function: Any) -> None:
        self.source = source
        self.function, spec = stable(function, state, [source.spec], "scan", _state_of_pair)
        self.width = len(leaf_specs(spec))
        self.leaves = leaves_of(state)
        self.spec = None if self.function.spec is None else self.function.spec[1]

    def elements(self) -> Elements:
        return _Scan(self)

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Scan(Elements):
    def __init__(self, stage: Scanned) -> None:
        self.calls = Calls(stage.function)
        self.rows = stage.source.elements()
        self.state: list[Any] = [leaf._array for leaf in stage.leaves]
        self.width = stage.width

    def __next__(self) -> Row:
        result = self.calls([*self.state, *next(self.rows)])
        self.state = list(result[: self.width])
        return result[self.width :]


def _state_of_pair(spec: Any) -> Any:
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise TypeError("The scan function must return a pair comprising the new state and the output value.")
    return spec[0]
