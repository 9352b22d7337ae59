"""Run calls of functions with `jit_compile=True` as native code, in the plan of the function that calls them.

    y = call @f x [jit_compile=True]                y = native_call x [part=<f, compiled>]
    print y                                 ==>     print y

A function is compiled when the call is first run, for its shapes at that time. If that is impossible, a plan of its own
runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functionalize.errors import CannotCompileError
from ...ir.clone import with_regions
from ...ir.graph import Graph, Operation
from ...ir.structured import communicates, is_compiled_call
from ...ir.traits import LOCATES_ERRORS
from ...ir.value_types import AnySpec, TensorType
from ...ops.framework.attribute_parsers import Object
from ...ops.framework.op import Tensors, op
from ..plan.plan import Plan
from .diagnostics import CompilationError, CompilerFaultError, tell
from .jit_function import JitFunction


@op(name="native_part", traits=LOCATES_ERRORS)
def PART(inputs: Tensors, part: Object) -> tuple[AnySpec, ...]:
    """Run a part of the graph as native code."""
    return tuple(output.spec for output in part.graph.outputs)


@op(name="native_call", stateful=True, traits=LOCATES_ERRORS)
def CALL_NATIVE(inputs: Tensors, part: Object) -> tuple[AnySpec, ...]:
    """Run a function that may have effects as native code."""
    return tuple(output.spec for output in part.graph.outputs)


@PART.kernel
@CALL_NATIVE.kernel
def _(inputs: Sequence[Any], part: NativePart) -> Sequence[Any]:
    return part.run(inputs)


class NativePart:
    """A graph that is compiled when it is first run, and that takes and returns values as plans have them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._native = JitFunction(graph)
        self._dtypes = [_dtype(value.spec) for value in graph.inputs]
        self._are_tensors = [isinstance(output.spec, TensorType) for output in graph.outputs]
        self._plan: Plan | None = None

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the results in the form of plans: rank-0 results as scalars."""
        if self._plan is None:
            try:
                # Plans use Python numbers.
                given = [
                    x if dtype is None else np.asarray(x, dtype)
                    for x, dtype in zip(inputs, self._dtypes, strict=True)
                ]
                found = self._results(given)
                return [
                    np.asarray(x)[()] if is_tensor else x
                    for x, is_tensor in zip(found, self._are_tensors, strict=True)
                ]
            except (CannotCompileError, CompilationError, CompilerFaultError) as error:
                if isinstance(error, CompilerFaultError):
                    tell(error)
                self._plan = planned(self.graph)
        return self._plan.run(inputs)

    def _results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return self._native.run(inputs)


def planned(graph: Graph) -> Plan:
    """Return the plan of a part."""
    from ...optimize import (  # imported late: parts that are compiled need no plan
        fusion,
        optimize,
        regroup_products,
    )

    return Plan(fusion.run(regroup_products.run(optimize(graph))))


def with_native_calls(graph: Graph, part: type[NativePart] = NativePart) -> Graph:
    """Return the graph with native code for the calls of functions with `jit_compile=True`, also in its regions."""
    if not any(map(is_compiled_call, graph.walk())):
        return graph
    operations = tuple(_replaced(operation, part) for operation in graph.operations)
    return Graph(graph.name, graph.inputs, operations, graph.outputs)


def _replaced(operation: Operation, part: type[NativePart]) -> Operation:
    if not is_compiled_call(operation):
        regions = [with_native_calls(region, part) for region in operation.regions]
        return with_regions(operation, regions)
    (callee,) = operation.regions
    runner = CALL_NATIVE if operation.stateful else PART
    made = NativePart if communicates(callee) else part  # a comparison would communicate twice
    attrs = {"part": made(callee)}
    return Operation(
        runner, operation.inputs, attrs, operation.outputs, (), operation.origin, operation.device
    )


def _dtype(spec: Any) -> Any:
    return spec.dtype.numpy if isinstance(spec, TensorType) else None
