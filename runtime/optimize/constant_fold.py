"""Constant folding.

    n = add 2, 3                                    y = multiply x, 20.0
    f = cast n [dtype=float32]              ==>
    g = multiply f, 4.0
    y = multiply x, g

Constants are propagated into regions. An operation that fails is kept, so that it fails at run time with its
location. Random and stateful operations are kept, too. So are operations with large results, which would
bloat the graph. A result may have `MOST` bytes, or as many bytes as its operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.fp_errors import quietly
from ..core.shapes import num_elements
from ..ir.clone import Substitution, reading, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.structured import is_control_flow, region_arguments, state_size
from ..ir.value_types import TensorType
from ..ops.framework.kernel_lookup import kernel_of
from ..ops.framework.kernel_results import returns_many
from .options import OptimizerOptions
from .rewriter import Rewriter

MOST = 1 << 16
"""The number of bytes that a result may have in any case."""


@quietly
def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return _folded(graph, {}, {})


def _folded(graph: Graph, known: Substitution, callees: dict[Graph, Graph]) -> Graph:
    walk = Rewriter(graph, known)
    kept = walk.operations
    last: dict[Operand, int] | None = None  # position of each value's last use, computed on demand
    for position, operation in enumerate(graph.operations):
        current = operation
        if known and not known.keys().isdisjoint(operation.inputs):
            current = reading(operation, known)
            walk.is_changed = True
        if operation.regions:
            current = _entered(current, callees)
            walk.is_changed |= current is not operation
        elif not current.stateful:
            for operand in current.inputs:
                if type(operand) is not Constant:
                    break
            else:
                found = computed(current)
                if found is not None:
                    walk.replace(operation.outputs, found)
                    last = last or _last_reads(graph)
                    for operand in operation.inputs:
                        if last[operand] == position:  # frees memory for the next operations
                            known.pop(operand, None)
                    continue
        kept.append(current)
    return walk.finish()


def _last_reads(graph: Graph) -> dict[Operand, int]:
    """Return the position of each value's last use; outputs of the graph count as used at the end."""
    last: dict[Operand, int] = {}
    for position, operation in enumerate(graph.operations):
        last.update(dict.fromkeys(operation.inputs, position))
    return last | dict.fromkeys(graph.outputs, len(graph.operations))


def _entered(operation: Operation, callees: dict[Graph, Graph]) -> Operation:
    """Return the operation with constants folded in its regions.

    Nothing is propagated into callees, since they may have other call sites.
    """
    if not is_control_flow(operation):
        for callee in operation.regions:
            if callee not in callees:
                callees[callee] = _folded(callee, {}, callees)
        return with_regions(operation, [callees[callee] for callee in operation.regions])
    changes = state_size(operation)
    constants = [
        (index, operand)
        for index, operand in enumerate(region_arguments(operation))
        if type(operand) is Constant and index >= changes
    ]
    regions = []
    for region in operation.regions:
        known: Substitution = {region.inputs[index]: constant for index, constant in constants}
        regions.append(_folded(region, known, callees))
    return with_regions(operation, regions)


def computed(operation: Operation) -> list[Operand] | None:
    """Return the results of an operation on constants; None if they are too big or the operation fails."""
    specs = [value.spec for value in operation.outputs]
    arrays: list[Any] = [operand.value for operand in operation.inputs]
    allowed = max(MOST, sum(array.nbytes for array in arrays))
    if not specs or sum(map(_bytes, specs)) > allowed:
        return None
    op = operation.op
    try:
        results = kernel_of(operation)(*op.grouped(arrays), **operation.attrs)
    except Exception:
        return None  # the error is raised and reported at run time
    many = [results] if len(specs) == 1 and not returns_many(op) else results
    return [_constant(result, spec) for result, spec in zip(many, specs, strict=True)]


def _bytes(spec: Any) -> float:
    count = num_elements(spec.shape) if isinstance(spec, TensorType) else None
    return float("inf") if count is None else count * spec.dtype.numpy.itemsize


def _constant(result: Any, spec: Any) -> Constant:
    array = result if type(result) is np.ndarray else np.asarray(result, spec.dtype.numpy)
    return Constant(array)
