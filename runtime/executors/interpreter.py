"""The reference interpreter: run the operations of a graph one after the other.

The code is meant to be obviously correct, not fast; the other executors are tested against it. Values are
NumPy arrays and scalars. References are `Variable` objects, and TensorArrays are lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ops.framework.kernel_lookup import kernel_of
from ..ops.framework.kernel_results import returns_many
from ..ops.framework.region_ops import CALL, COND, FUSED, SWITCH, WHILE
from .plan.runtime_errors import located

Results = Sequence[Any]
Run = Callable[[Graph, Sequence[Any]], Results]
Observer = Callable[[Operation, Results], object]


def interpret(graph: Graph, arguments: Sequence[Any], observe: Observer | None = None) -> list[Any]:
    """Return the outputs of `graph` for `arguments`, the values of its inputs.

    `observe` is called with each operation that has run, and with its results.
    """

    def run(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
        values = dict(zip(graph.inputs, arguments, strict=True))
        for operation in graph.live_operations():
            inputs = [_read(operand, values) for operand in operation.inputs]
            structure = STRUCTURES.get(operation.op)
            results = _compute(operation, inputs) if structure is None else structure(operation, inputs, run)
            if observe is not None:
                observe(operation, results)
            values.update(zip(operation.outputs, results, strict=True))
        return [_read(operand, values) for operand in graph.outputs]

    with np.errstate(all="ignore"):
        return run(graph, arguments)


def _read(operand: Operand, values: dict[Value, Any]) -> Any:
    return operand.value if isinstance(operand, Constant) else values[operand]


def _compute(operation: Operation, inputs: list[Any]) -> Results:
    op = operation.op
    try:
        result = kernel_of(operation)(*op.grouped(inputs), **operation.attrs)
    except Exception as error:
        found = located(error, operation, inputs)
        if found is error:
            raise  # keeps the cause of the exception
        raise found from None
    if len(operation.outputs) == 1 and not returns_many(op):
        return [result]
    return result if operation.outputs else []


def _cond(operation: Operation, inputs: list[Any], run: Run) -> Results:
    predicate, *arguments = inputs
    then, orelse = operation.regions
    return run(then if _truth(predicate, operation) else orelse, arguments)


def _while(operation: Operation, inputs: list[Any], run: Run) -> Results:
    test, body = operation.regions
    count = len(operation.outputs)
    state: Results = inputs[:count]
    invariants = inputs[count:]
    left = operation.attrs.get("maximum_iterations")
    while left is None or left > 0:
        (go,) = run(test, [*state, *invariants])
        if not _truth(go, operation):
            break
        state = run(body, [*state, *invariants])
        left = None if left is None else left - 1
    return state


def _switch(operation: Operation, inputs: list[Any], run: Run) -> Results:
    index, *arguments = inputs
    regions = operation.regions
    return run(regions[index] if 0 <= index < len(regions) else regions[-1], arguments)


def _call(operation: Operation, inputs: list[Any], run: Run) -> Results:
    (callee,) = operation.regions
    return run(callee, inputs)


def _truth(value: Any, operation: Operation) -> bool:
    try:
        return bool(value)
    except ValueError as error:
        raise located(error, operation, [value]) from None


STRUCTURES: dict[OpDef, Callable[[Operation, list[Any], Run], Results]] = {
    COND: _cond,
    WHILE: _while,
    SWITCH: _switch,
    CALL: _call,
    FUSED: _call,
}
"""By operation with regions, the function that runs these."""
