"""Run calls of functions with `jit_compile=True` as native code, in the plan of the function that calls them.

    y = call @f x [jit_compile=True]                y = native_call x [part=<f, compiled>]
    print y                                 ==>     print y

A function is compiled when the call is first run, for its shapes at that time. If that is impossible, a plan of its own
runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...functionalize.errors import CannotCompileError
from ...ir.clone import with_regions
from ...ir.graph import Graph, Operation
from ...ir.structured import is_compiled_call
from ...ir.traits import LOCATES_ERRORS
from ...ir.value_types import AnySpec, TensorType
from ...ops.framework.attribute_parsers import Object
from ...ops.framework.op import Tensors, op
from ..plan.plan import Plan
from .diagnostics import CompilationError, CompilerFaultError, tell
from .jit_function import JitFunction

Runner = Callable[[Sequence[Any]], Sequence[Any]]


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
    """A graph that is compiled when it is first run, and that takes and returns values as plans have them.

    `run` replaces the compiled graph.
    """

    def __init__(self, graph: Graph, run: Runner | None = None) -> None:
        self.graph = graph
        self._run = JitFunction(graph).run if run is None else run
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
                found = self._run(given)
                return [
                    np.asarray(x)[()] if is_tensor else x
                    for x, is_tensor in zip(found, self._are_tensors, strict=True)
                ]
            except (CannotCompileError, CompilationError, CompilerFaultError) as error:
                if isinstance(error, CompilerFaultError):
                    tell(error)
                self._plan = planned(self.graph)
        return self._plan.run(inputs)


def planned(graph: Graph) -> Plan:
    """Return the plan of a part."""
    from ...optimize import (  # imported late: parts that are compiled need no plan
        fusion,
        optimize_for_shapes,
        regroup_products,
    )

    return Plan(fusion.run(regroup_products.run(optimize_for_shapes(graph))))


def with_native_calls(graph: Graph) -> Graph:
    """Return the graph with native code for the calls of functions with `jit_compile=True`, also in its regions."""
    if not any(map(is_compiled_call, graph.walk())):
        return graph
    return Graph(graph.name, graph.inputs, tuple(map(_replaced, graph.operations)), graph.outputs)


def _replaced(operation: Operation) -> Operation:
    if not is_compiled_call(operation):
        return with_regions(operation, list(map(with_native_calls, operation.regions)))
    (callee,) = operation.regions
    runner = CALL_NATIVE if operation.stateful else PART
    attrs = {"part": NativePart(callee)}
    return Operation(
        runner, operation.inputs, attrs, operation.outputs, (), operation.origin, operation.device
    )


def _dtype(spec: Any) -> Any:
    return spec.dtype.numpy_dtype if isinstance(spec, TensorType) else None
