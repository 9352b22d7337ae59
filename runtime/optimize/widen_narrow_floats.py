"""Compute operations on bfloat16 in float32, and round their results, as their kernels do.

    y = add x, x      : bfloat16[n]             w = cast x             : float32[n]
                                        ==>     y.1 = add w, w         : float32[n]
                                                y = cast y.1           : bfloat16[n]

Native code converts bfloat16, and has no arithmetic for it. This pass runs after all passes that remove casts: each
result is rounded, and widened again for its readers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.operation_kinds import typical_operations
from ..ir.value_types import TensorType
from ..ops.framework import narrow_floats
from ..ops.framework.op_errors import FAILURES
from ..ops.math.cast import cast_op
from .rewriter import Found, Rewriter, rewrite_all

NARROW = dtypes.bfloat16
WIDE = dtypes.float32


def run(graph: Graph, computes: Callable[[OpDef], bool]) -> Graph:
    """Return the graph with operations on bfloat16 in float32, if native code `computes` them."""
    typical = typical_operations(graph)
    if not any(map(_is_narrow, graph.inputs)) and not any(map(_has_narrow, typical)):
        return graph
    ops = {operation.op for operation in graph.walk() if any(map(_is_narrow, operation.inputs))}
    rule = _Widening()
    wide = (op for op in ops if op.name not in narrow_floats.EXACT and op is not cast_op and computes(op))
    rules = dict.fromkeys(wide, rule)
    return rewrite_all(graph, rules) if rules else graph


def _is_narrow(operand: Operand) -> bool:
    if type(operand) is Constant:
        return operand.dtype is NARROW
    return isinstance(operand.spec, TensorType) and operand.spec.dtype is NARROW


def _has_narrow(operation: Operation) -> bool:
    return any(map(_is_narrow, operation.outputs)) or any(map(_is_narrow, operation.inputs))


def _wide_type(spec: Any) -> Any:
    return TensorType(WIDE, spec.shape) if spec.dtype is NARROW else spec


class _Widening:
    """The rule for all operations. A value is widened once for all its readers."""

    def __init__(self) -> None:
        self._wide: dict[Operand, Operand] = {}

    def __call__(self, operation: Operation, walk: Rewriter) -> Found:
        values = (*operation.inputs, *operation.outputs)
        if not any(map(_is_narrow, operation.inputs)) or operation.regions:
            return None
        if not all(isinstance(value.spec, TensorType) for value in values):
            return None
        if not _follows_operands(operation):
            return None
        inputs = tuple(self._widened(operand, walk) for operand in operation.inputs)
        results = tuple(Value(value.name, _wide_type(value.spec)) for value in operation.outputs)
        operation.op.set_elements(results, list(inputs), operation.attrs)
        walk.operations.append(
            Operation(operation.op, inputs, operation.attrs, results, (), operation.origin, operation.device)
        )
        return [
            walk.add(cast_op, [wide], {"dtype": NARROW}) if _is_narrow(value) else wide
            for value, wide in zip(operation.outputs, results, strict=True)
        ]

    def _widened(self, operand: Operand, walk: Rewriter) -> Operand:
        if not _is_narrow(operand):
            return operand
        found = self._wide.get(operand)
        if found is None:
            if isinstance(operand, Constant):
                found = Constant(operand.value.astype(np.float32))
            else:
                found = walk.add(cast_op, [operand], {"dtype": WIDE})
            self._wide[operand] = found
        return found


def _follows_operands(operation: Operation) -> bool:
    """Return whether results have bfloat16 because of the operands, not because of an attribute."""
    operands = [Value("x", _wide_type(x.spec)) if _is_narrow(x) else x for x in operation.inputs]
    try:
        specs = operation.op.infer_all(operands, operation.attrs)
    except FAILURES:
        return False  # it fails at run time
    return [spec.dtype for spec in specs] == [_wide_type(value.spec).dtype for value in operation.outputs]
