"""Plans for the gradients of eager operations: a gradient function that ran often is traced once for its types.

    y = matmul(a, b)      dy: float32[2, 4], a: float32[2, 3], b: float32[3, 4]
        ==>               def matmul_gradient(dy, a, b):
                              return dy @ b.T, a.T @ dy

A plan computes all wanted cotangents of one record from arrays. While tapes record the backward pass, the plan of a
whole tape runs operation by operation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from ..composite.indexed_slices import IndexedSlices
from ..core.abstract_value import abstract_value_of
from ..core.devices import placement
from ..core.symbolic_tensor import SymbolicArray, SymbolicTensor
from ..core.tensor import EagerArray, EagerTensor
from ..executors import EXECUTORS, Runner
from ..ir.builder import Builder, is_plain, recorders, recording_by
from ..ir.captured_tensors import tensor_of
from ..ir.graph import Constant, Graph
from ..ir.value_types import TensorType
from ..ops.framework.eager_calls import EagerProgram, KeptAttributes, run_program
from ..ops.framework.op import Op
from .plan_counts import RunCounts
from .tape_records import Grads, Record, pulled_back

OFTEN = 128
"""The number of runs of a gradient function before it is traced. A whole tape is traced before that."""

_runs = RunCounts()


def planned(record: Record, grads: Grads, wanted: Sequence[bool]) -> Grads | None:
    """Return the cotangents of the inputs of a record; None if there is no plan for them."""
    kept = record.attrs
    if type(kept) is not KeptAttributes or not is_plain() or placement.observed:
        return None
    parts: list[Any] = [*wanted]
    for x in (*record.inputs, *grads):
        if type(x) is EagerTensor:
            parts.append(x._kind or abstract_value_of(x))
        elif x is None:
            parts.append(x)
        else:
            return None
    key = tuple(parts)
    plan = kept.plans.get(key)
    if plan is None and key not in kept.plans:
        if not _runs.is_due((kept, key), kept.plans, OFTEN):
            return None
        plan = kept.plans[key] = _plan(record, grads, wanted)
    return None if plan is None else plan((*grads, *record.outputs, *record.inputs))


class GradientPlan:
    """A plan of gradients: a tensor, the parts of IndexedSlices, or none for each, which `counts` tells.

    `arguments` are the numbers of the tensors that the plan reads. `has_tensors` is True if it has no IndexedSlices.
    """

    __slots__ = ("_arguments", "_graph", "_program", "_run", "counts", "has_tensors")

    def __init__(self, graph: Graph, run: Runner, arguments: Sequence[int], counts: Sequence[int]) -> None:
        self._graph = graph
        self._program: EagerProgram | Literal[False] | None = None
        self._run = run
        self._arguments = arguments
        self.counts = counts
        self.has_tensors = max(counts, default=0) < 2

    def __call__(self, tensors: Sequence[Any]) -> list[Any]:
        return self._packed(map(_tensor, self._run([tensors[i]._array for i in self._arguments])))

    def recorded(self, tensors: Sequence[Any]) -> list[Any] | None:
        """Return the gradients, of which tapes record each operation; None if not all operations can be kept."""
        given = [tensors[i] for i in self._arguments]
        if self._program is None:
            self._program = _program(self._graph, given)
        return self._packed(iter(run_program(self._program, given, recorders()))) if self._program else None

    def _packed(self, found: Iterator[EagerTensor]) -> list[Any]:
        return [
            None
            if not count
            else next(found)
            if count == 1
            else IndexedSlices(*itertools.islice(found, count))
            for count in self.counts
        ]


def _program(graph: Graph, tensors: Sequence[EagerTensor | EagerArray]) -> EagerProgram | Literal[False]:
    """Run a graph operation by operation, and return that as a program; False if not all operations can be kept."""
    from ..ops.framework.eager_programs import Operations  # for gradients that are computed again and again

    copies, operations = list(map(_copy, tensors)), Operations()
    values: dict[Any, Any] = dict(zip(graph.inputs, copies, strict=True))

    def read(operands: Sequence[Any]) -> list[Any]:
        return [tensor_of(x) if isinstance(x, Constant) else values[x] for x in operands]

    with recording_by([operations]):
        for operation in graph.live_operations():
            if operation.regions or not isinstance(operation.op, Op):
                return False
            found = operation.op.run(read(operation.inputs), operation.attrs)
            values.update(zip(operation.outputs, found if type(found) is list else [found], strict=True))
    return operations.program(copies, read(graph.outputs), list)


def _copy(x: EagerTensor | EagerArray) -> EagerTensor | EagerArray:
    """Return another object for a tensor or a TensorArray."""
    return EagerArray(x._array, x.spec) if isinstance(x, EagerArray) else EagerTensor(x._array)


def _tensor(found: Any) -> EagerTensor:
    return EagerTensor(found if type(found) is np.ndarray else np.asarray(found))


def _plan(record: Record, grads: Grads, wanted: Sequence[bool]) -> GradientPlan | None:
    """Trace and plan the gradient function of a record; None if a cotangent is not a tensor."""
    op, kept = record.op, record.attrs
    assert op is not None and type(kept) is KeptAttributes
    constants = [*([None] * (len(grads) + len(record.outputs))), *kept.template]
    builder = Builder(f"{op.name}_gradient")
    with builder:
        tensors = [
            x if x is None or constant is not None else input_for(x, builder)
            for x, constant in zip((*grads, *record.outputs, *record.inputs), constants, strict=True)
        ]
        dys, rest = tensors[: len(grads)], tensors[len(grads) :]
        ys, xs = rest[: len(record.outputs)], rest[len(record.outputs) :]
        found = pulled_back(op, record.attrs, xs, ys, dys, wanted)
        return finished(builder, tensors, found)


def input_for(x: EagerTensor | EagerArray, builder: Builder) -> SymbolicTensor | SymbolicArray:
    """Return an input of the graph that is being built, of the type of a tensor or a TensorArray."""
    if isinstance(x, EagerArray):
        return SymbolicArray(builder.input("x", x.spec), builder)
    return builder.input_tensor("x", TensorType(x.dtype, x._array.shape))


def finished(
    builder: Builder, tensors: Sequence[Any], found: Sequence[Any], executor: str = "plan"
) -> GradientPlan | None:
    """Return the plan of a graph of gradients; None if one is neither a tensor nor IndexedSlices, or reads a variable.

    Its inputs are those of the symbolic `tensors` that it reads.
    """
    parts = [_parts(x) for x in found]
    flat = [x for each in parts for x in each]
    if not all(isinstance(x, (SymbolicTensor, EagerTensor)) for x in flat) or builder.captures:
        return None
    outputs = list(map(builder.operand, flat))
    read = {*outputs, *(operand for operation in builder.operations for operand in operation.inputs)}
    traced = (SymbolicTensor, SymbolicArray)
    arguments = [i for i, x in enumerate(tensors) if isinstance(x, traced) and x._value in read]
    graph = builder.finish(outputs, [tensors[i]._value for i in arguments])
    return GradientPlan(graph, EXECUTORS[executor](graph), arguments, list(map(len, parts)))


def _parts(grad: Any) -> list[Any]:
    if isinstance(grad, IndexedSlices):
        return [grad.values, grad.indices, grad.dense_shape]
    return [] if grad is None else [grad]
