"""Compile the calls and the loops of a graph that cannot be compiled as a whole.

    x = call @f y                           x = native_call y [part=<f, compiled>]
    n, z = while 0, x     …         ==>     n, z = native_part 0, x [part=<the loop, compiled>]
    print z                                 print z

A part is compiled when it is first run, for its shapes at that time. If compilation or a check fails, a
separate plan runs the part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.clone import Substitution, are_same, clone_value, substitute, with_parts, with_regions
from ...ir.graph import Graph, Operation, Value
from ...ir.structured import communicates, is_call, is_control_flow, is_loop
from ...ir.value_types import TensorType
from ..plan.plan import Plan
from .codegen.element_formulas import element_rule
from .codegen.rule_registry import LOWERINGS
from .diagnostics import tell_of_difference
from .first_call_check import compared, is_trusted
from .native_calls import PART, NativePart, planned, with_native_calls

_TRIES = 3

_FEWEST = 16
"""The fewest operations of a function that becomes a part."""


class DoubtedPart(NativePart):
    """A part that the program does not ask to compile: its results are compared with a plan's until it is trusted."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._is_trusted = False
        self._vain = 0  # runs in which native code gave up
        self._doubting: Plan | None = None  # the plan that native code is compared with until it is trusted

    def _results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return self._native.run(inputs) if self._is_trusted else self._first(inputs)

    def _first(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the plan's results, and compare the native results with them before native code is trusted."""
        if self._doubting is None:
            self._native.compiled(inputs)
            self._is_trusted = is_trusted(self._native, inputs)
            if self._is_trusted:
                return self._native.run(inputs)
            self._doubting = planned(self.graph)
        results, difference = compared(self._native, self._doubting.run, inputs)
        self._is_trusted = difference == ""
        self._vain += difference is None
        if difference:
            tell_of_difference(self.graph, difference)
        if difference or self._vain >= _TRIES:
            self._plan = self._doubting
        return results


def with_native_parts(graph: Graph) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """Return the plan of a graph with native calls and loops, or None if there are none."""
    from ...optimize import fusion, optimize, regroup_products

    found = optimize(_with_compiled_calls(graph))
    written = with_native_calls(_with_parts(found), DoubtedPart)
    return None if written is found else Plan(fusion.run(regroup_products.run(written))).run


def _with_compiled_calls(graph: Graph) -> Graph:
    """Return the graph with a mark at each call of a function that is not small."""
    operations = list(map(_marked, graph.operations))
    if are_same(operations, graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, operations, graph.outputs)


def _marked(operation: Operation) -> Operation:
    if not is_call(operation):
        return with_regions(operation, list(map(_with_compiled_calls, operation.regions)))
    (callee,) = operation.regions
    if communicates(callee) or sum(1 for _ in callee.walk()) < _FEWEST:
        return operation
    return with_parts(operation, attrs={**operation.attrs, "jit_compile": True})


def _with_parts(graph: Graph) -> Graph:
    """Return a graph with native loops, also within branches and loops; the graph itself if it has none."""
    operations = [_replaced(operation) for operation in graph.operations]
    if are_same(operations, graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, operations, graph.outputs)


def _replaced(operation: Operation) -> Operation:
    if not is_loop(operation) or not _is_plain(operation):
        regions = [_with_parts(region) for region in operation.regions]
        is_new = any(new is not old for new, old in zip(regions, operation.regions, strict=True))
        return with_parts(operation, regions=regions) if is_control_flow(operation) and is_new else operation
    known: Substitution = {x: clone_value(x) for x in operation.inputs if isinstance(x, Value)}
    outputs = tuple(map(clone_value, operation.outputs))
    loop = with_parts(operation, substitute(operation.inputs, known), outputs=outputs)
    inputs = [value for value in known.values() if isinstance(value, Value)]
    part = DoubtedPart(Graph("loop", inputs, [loop], outputs))
    return Operation(PART, tuple(known), {"part": part}, operation.outputs, (), operation.origin)


def _is_plain(operation: Operation) -> bool:
    """Return whether a loop has no effects, has only tensors as inputs and results, and can be lowered."""
    specs = [each.spec for each in (*operation.inputs, *operation.outputs)]
    inside = Graph("loop", (), [operation]).walk()
    return (
        not operation.stateful
        and all(
            isinstance(spec, TensorType) and spec.dtype.kind != "S" and spec.shape is not None
            for spec in specs
        )
        and all(element_rule(each.op) is not None or each.type in LOWERINGS for each in inside)
    )
