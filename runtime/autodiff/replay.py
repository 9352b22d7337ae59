"""Run a graph operation by operation like eager code, so that tapes can record each operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.tensor import EagerTensor
from ..executors.plan.runtime_errors import located
from ..ir.builder import recorders
from ..ir.captured_tensors import tensor_of
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.structured import is_branch, is_call, is_cond, is_custom_gradient, is_loop
from ..ops.framework.op import Op
from .graph_vjp import zeros_for
from .tape_records import Grads, Pullback

if TYPE_CHECKING:
    from .tape import GradientTape


def replayed(graph: Graph, arguments: Sequence[Any]) -> list[Any]:
    """Run `graph` and return its outputs; arguments and results are tensors, states of TensorArrays, and variables."""
    return Replay().outputs(graph, arguments)


class Replay:
    """One run of a graph; a subclass may observe each operation."""

    def outputs(self, graph: Graph, arguments: Sequence[Any]) -> list[Any]:
        values: dict[Operand, Any] = dict(zip(graph.inputs, arguments, strict=True))
        for operation in graph.live_operations():
            inputs = [_read(operand, values) for operand in operation.inputs]
            values.update(zip(operation.outputs, self.results(operation, inputs), strict=True))
        return [_read(operand, values) for operand in graph.outputs]

    def results(self, operation: Operation, inputs: list[Any]) -> list[Any]:
        if is_call(operation):
            return self.outputs(operation.regions[0], inputs)
        if is_cond(operation):
            then, orelse = operation.regions
            return self.outputs(then if bool(inputs[0]) else orelse, inputs[1:])
        if is_branch(operation):
            number, regions = int(inputs[0]), operation.regions
            return self.outputs(regions[number] if 0 <= number < len(regions) else regions[-1], inputs[1:])
        if is_loop(operation):
            return self._rounds(operation, inputs)
        if is_custom_gradient(operation):
            return _custom(operation, inputs)
        return _computed(operation, inputs)

    def _rounds(self, operation: Operation, inputs: list[Any]) -> list[Any]:
        test, body = operation.regions
        count = len(operation.outputs)
        state, invariants = inputs[:count], inputs[count:]
        left = operation.attrs.get("maximum_iterations")
        while left is None or left > 0:
            (go,) = self.outputs(test, [*state, *invariants])
            if not go:
                break
            state = self.outputs(body, [*state, *invariants])
            left = None if left is None else left - 1
        return state


class Located(Replay):
    """A run that gives each record on these tapes the source line that its operation was traced from."""

    def __init__(self, tapes: Sequence[GradientTape]) -> None:
        self._known = [(tape, len(tape._records or ())) for tape in tapes]

    def results(self, operation: Operation, inputs: list[Any]) -> list[Any]:
        found = super().results(operation, inputs)
        for tape, count in self._known:
            for record in (tape._records or ())[count:]:  # nested operations have a line already
                record.site = operation.origin
        self._known = [(tape, len(tape._records or ())) for tape, _ in self._known]
        return found


def _read(operand: Operand, values: dict[Operand, Any]) -> Any:
    return tensor_of(operand) if isinstance(operand, Constant) else values[operand]


def _computed(operation: Operation, inputs: list[Any]) -> list[Any]:
    try:
        assert isinstance(operation.op, Op)
        results = operation.op.run(inputs, operation.attrs)
    except Exception as error:
        arrays = [getattr(x, "_array", x) for x in inputs]
        found = located(error, operation, arrays)
        if found is error:
            raise
        raise found from None
    return results if isinstance(results, list) else [results]


def _custom(operation: Operation, inputs: list[Any]) -> list[Any]:
    """Return copies of the results, and record them with the region as their gradient."""
    (region,) = operation.regions
    count = len(operation.outputs)
    outputs = [EagerTensor(x._array) for x in inputs[:count]]
    captured = inputs[len(inputs) - (len(region.inputs) - count) :]

    def back(grads: Grads, wanted: Sequence[bool]) -> Grads:
        dys = [zeros_for(y) if grad is None else grad for grad, y in zip(grads, outputs, strict=True)]
        found: Grads = [None] * len(inputs)
        for number, grad in zip(operation.attrs["given"], replayed(region, [*dys, *captured]), strict=True):
            found[count + number] = grad
        return found

    record = Pullback(inputs, outputs, back)
    for tape in recorders():
        tape.keep(record)  # type: ignore[attr-defined]
    return list(outputs)
