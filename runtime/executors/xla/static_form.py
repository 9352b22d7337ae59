"""The static form of a graph: without variables and random streams, for inputs of known shapes, and optimized.

graph f(v: ref float32[?], x: float32[?])            graph f(v: float32[3], x: float32[3])
  assign_add_variable v, x                    ==>      a = add v, x
  return read_variable v                               return a, a
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functionalize.errors import NeverRunsError
from ...functionalize.shapes import specialized
from ...functionalize.value_specialization import first_possible, may_be_shape
from ...ir.graph import Constant, Graph
from ...ir.value_types import TensorType


def static_form(
    graph: Graph, arguments: Sequence[Any], by_value: tuple[int, ...]
) -> tuple[Graph, tuple[int, ...]]:
    """Return the graph for arrays like these, and the inputs whose values it is specialized for.

    `graph` has no variables. Raise `CannotCompileError` with the reasons if there is no such form:
    `NeverRunsError` if each run fails.
    """
    from ...optimize import (
        OptimizerOptions,
        dce,
        optimize_for_shapes,
    )  # executors import the optimizer lazily

    needed = dce.run(graph, OptimizerOptions())  # dead operations must not be reasons to refuse the graph

    def attempt(chosen: Sequence[int]) -> Graph:
        specs = [
            Constant(np.asarray(argument)) if i in chosen else TensorType(value.dtype, np.shape(argument))
            for i, (value, argument) in enumerate(zip(graph.inputs, arguments, strict=True))
        ]
        return optimize_for_shapes(specialized(needed, specs))

    candidates = [i for i, value in enumerate(graph.inputs) if may_be_shape(value.spec, arguments[i])]
    try:
        return first_possible(attempt, by_value, candidates)
    except NeverRunsError as error:
        raise error.checked(needed) from error
