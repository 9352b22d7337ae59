"""`experimental.group_by_reducer`: elements with the same key are reduced to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor_spec import TensorSpec
from .element_spec import Row, generalized
from .pipeline_stage import Elements, PipelineStage, some_or_none
from .user_functions import Calls, Traced, arguments_of


class Reducer:
    """Three functions: key → state, (state, element) → state, state → result.

    >>> count = Reducer(lambda key: 0, lambda found, x: found + 1, lambda found: found)
    >>> count.reduce_func(4, "x")
    5
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


class Reduced(PipelineStage):
    """A stage with one element for each key, in the order of the keys."""

    name = "_GroupByReducerDataset"
    cardinality = some_or_none

    def __init__(self, source: PipelineStage, key_func: Callable[..., Any], reducer: Reducer) -> None:
        self.source = source
        what = "group_by_reducer"
        self.key = Traced(key_func, arguments_of(source.spec), what, "key_func")
        spec = self.key.spec
        if not (isinstance(spec, TensorSpec) and spec.dtype.name == "int64" and spec.shape.rank == 0):
            raise ValueError(f"Invalid `key_func`. It must return a single `tf.int64` scalar, not {spec!r}.")
        self.first = Traced(reducer.init_func, [spec], what, "init_func")
        state = self.first.spec
        while True:
            self.step = Traced(reducer.reduce_func, [state, source.spec], what, "reduce_func")
            wider = generalized(state, self.step.spec)
            if wider is None:
                raise TypeError(f"group_by_reducer: the state changes from {state!r} to {self.step.spec!r}")
            if wider == state:
                break
            state = wider
        self.last = Traced(reducer.finalize_func, [state], what, "finalize_func")
        self.spec = self.last.spec

    def elements(self) -> Elements:
        return self._reduced(self.source.elements())

    def _reduced(self, rows: Elements) -> Elements:
        key_of, first, step, last = map(Calls, (self.key, self.first, self.step, self.last))
        states: dict[int, Row] = {}
        for row in rows:
            key = int(key_of(row)[0])
            state = states[key] if key in states else first([np.int64(key)])
            states[key] = step([*state, *row])
        for key in sorted(states):
            yield last(states[key])
