"""A plan that reports each operation that has run with its results, as the interpreter does.

y = x * float32_2
observe(multiply, y)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Graph, Operation, Value
from ...ir.value_types import TensorType
from .codegen import PlanCodegen, compiled
from .plan import Plan
from .source_module import PlanSource, Scope

Observer = Callable[[Operation, Sequence[Any]], None]


class ObservedPlan(Plan):
    """A plan whose `run` calls `observe` with each operation and its results, which later operations may overwrite."""

    def __init__(self, graph: Graph, observe: Observer) -> None:
        self._observe = observe
        super().__init__(graph)
        self._silent = None  # `observe` is a function of the program

    def _written(self, graph: Graph) -> PlanSource:
        observe = self._observe

        class Codegen(PlanCodegen):
            def operation(self, operation: Operation, scope: Scope, depth: int, dead: list[Value]) -> None:
                before = {*dead}
                super().operation(operation, scope, depth, dead)
                deleted = before.difference(dead)  # within a loop
                results = [
                    "None" if value in deleted else self.text(value, scope) for value in operation.outputs
                ]
                named = self.module.name_of
                note = named(("observe", operation), f"observe_{operation.type}", _noted(observe, operation))
                self.line(depth, f"{note}({', '.join(results)})")

        return compiled(graph, Codegen)


def _noted(observe: Observer, operation: Operation) -> Callable[..., None]:
    """Return a function of the results; numbers that the plan has unboxed get their dtypes back."""

    def note(*results: Any) -> None:
        values = zip(results, operation.outputs, strict=True)
        observe(operation, [_boxed(value, output) for value, output in values])

    return note


def _boxed(value: Any, output: Value) -> Any:
    if type(value) in (bool, int, float) and isinstance(output.spec, TensorType):
        return np.asarray(value, output.spec.dtype.numpy_dtype)
    return value
