"""Stages that yield datasets of other stages' elements: windows and groups."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import numpy as np
from agc.autograph import api

from .. import dtypes, errors, nest
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from .dataset_spec import DatasetSpec
from .element_spec import Row, boxed, is_structure, leaf_specs, unboxed
from .map_stages import nested
from .pipeline_stage import UNKNOWN, Elements, PipelineStage
from .user_functions import Calls, Traced, arguments_of


class RowStage(PipelineStage):
    """A stage of existing rows."""

    def __init__(self, rows: list[Row], spec: Any) -> None:
        self.rows = rows
        self.spec = spec

    def elements(self) -> Elements:
        return iter(self.rows)

    def cardinality(self) -> int:
        return len(self.rows)


class Window(PipelineStage):
    """`window`: datasets of consecutive elements, one dataset for each component."""

    name = "_WindowDataset"

    def __init__(self, source: PipelineStage, size: Any, shift: Any, stride: Any, drop: bool) -> None:
        self.source, self.size, self.shift, self.stride, self.drop = source, size, shift, stride, drop
        self.spec = _windows(source.spec)
        self.parts = [(leaf.element_spec, len(leaf_specs(leaf.element_spec))) for leaf in _leaves(self.spec)]

    def check(self) -> None:
        for name, value in (("size", self.size), ("shift", self.shift), ("stride", self.stride)):
            if isinstance(value, int) and value <= 0:
                raise errors.InvalidArgumentError(f"Window {name} must be greater than zero.")

    def elements(self) -> Elements:
        return self._windows_of(self.source.elements())

    def _windows_of(self, rows: Elements) -> Elements:
        held: deque[Row] = deque()
        needed = (self.size - 1) * self.stride + 1
        while True:
            held.extend(itertools.islice(rows, max(needed - len(held), 0)))
            if not held or (self.drop and len(held) < needed):
                return
            yield self._window(list(itertools.islice(held, 0, needed, self.stride)))
            beyond = self.shift - len(held)
            for _ in range(min(self.shift, len(held))):
                held.popleft()
            if beyond > 0:
                deque(itertools.islice(rows, beyond), maxlen=0)

    def _window(self, rows: list[Row]) -> Row:
        found, at = [], 0
        for spec, width in self.parts:
            part = rows if len(self.parts) == 1 else [row[at : at + width] for row in rows]
            found.append(boxed(RowStage(part, spec)))
            at += width
        return found

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if known < 0 or not all(isinstance(x, int) for x in (self.size, self.shift, self.stride)):
            return known if known < 0 else UNKNOWN
        needed = (self.size - 1) * self.stride + 1
        if not self.drop:
            return int(-(-known // self.shift))
        return int((known - needed) // self.shift + 1) if known >= needed else 0


def _windows(spec: Any) -> Any:
    if not is_structure(spec):
        return DatasetSpec(spec)
    return nest.rebuilt(spec, [_windows(child) for _, child in nest.children(spec)])


def _leaves(spec: Any) -> list[DatasetSpec]:
    if isinstance(spec, DatasetSpec):
        return [spec]
    return [leaf for _, child in nest.children(spec) for leaf in _leaves(child)]


class Grouped(PipelineStage):
    """`group_by_window`: elements with the same key are grouped into datasets, which a function reduces."""

    name = "_GroupByWindowDataset"

    def __init__(
        self, source: PipelineStage, key_function: Any, reduce_function: Any, size_function: Any
    ) -> None:
        self.source = source
        key = _as_int64(key_function)
        self.key = _integer(Traced(key, arguments_of(source.spec), "group_by_window", "key_func"))
        key_spec = self.key.spec
        size = _as_int64(size_function)
        self.size = _integer(Traced(size, [key_spec], "group_by_window", "window_size_func"))
        self.reduced, self.spec = nested(
            reduce_function, [key_spec, DatasetSpec(source.spec)], "group_by_window"
        )

    def elements(self) -> Elements:
        return self._groups_of(self.source.elements())

    def _groups_of(self, rows: Elements) -> Elements:
        key_of, size_of, reduced = Calls(self.key), Calls(self.size), Calls(self.reduced)
        groups: dict[int, list[Row]] = {}
        sizes: dict[int, int] = {}

        def opened(key: int) -> Elements:
            group = RowStage(groups.pop(key), self.source.spec)
            (dataset,) = reduced([np.int64(key), boxed(group)])
            found: Elements = unboxed(dataset).elements()
            return found

        for row in rows:
            key = int(key_of(row)[0])
            if key not in sizes or key not in groups:
                sizes[key] = int(size_of([np.int64(key)])[0])
                if sizes[key] <= 0:
                    raise errors.InvalidArgumentError(
                        f"Window size must be greater than zero, but got {sizes[key]}."
                    )
            groups.setdefault(key, []).append(row)
            if len(groups[key]) == sizes[key]:
                yield from opened(key)
        for key in sorted(groups):
            yield from opened(key)


def _as_int64(function: Any) -> Any:
    """Wrap a function so that its Python integer results become int64."""
    call = api.converted(function)
    return lambda *args: convert_to_tensor(call(*args), dtype_hint=dtypes.int64)


def _integer(traced: Traced) -> Traced:
    spec = traced.spec
    if not (isinstance(spec, TensorSpec) and spec.dtype.name == "int64" and spec.shape.rank in (0, None)):
        raise ValueError(
            f"Invalid `{traced.kind}`. `{traced.kind}` must return a single `tf.int64` scalar tensor but its return "
            f"type is {spec!r}."
        )
    return traced
