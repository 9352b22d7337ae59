"""Captured tensors: the eager tensors that a traced function closes over. They are constants of its graph.

    graph f(x)                               graph f(x, w)
      y = multiply x, [3.0]       ==>          y = multiply x, w           if a gradient tape watches the tensor [3.0]

So the optimizer and the compilers see their values. Only a call whose gradient reaches a captured tensor uses the
lifted graph, which has it as an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..core.tensor import EagerTensor
from .clone import with_parts
from .graph import Constant, Graph, Operand, Operation, Value


def captured_tensors(graph: Graph) -> list[EagerTensor]:
    """Return the eager tensors that are constants of the graph and of its regions, each once."""
    found = {id(constant.captured): constant.captured for constant in _constants(graph)}
    return list(found.values())


def lift_captured(graph: Graph, tensors: Sequence[EagerTensor]) -> Graph:
    """Return the graph with the captured `tensors` as additional inputs, in this order."""
    inputs = {id(tensor): Value("captured", Constant(tensor._array).spec) for tensor in tensors}
    operations = [_with_operands(operation, inputs) for operation in graph.operations]
    outputs = _replaced(graph.outputs, inputs)
    return Graph(graph.name, (*graph.inputs, *inputs.values()), tuple(operations), outputs)


def expose_captured(operation: Operation, tensors: Sequence[EagerTensor]) -> None:
    """Make the captured `tensors` that the operation's regions read operands of the operation, in place."""
    changed = _with_operands(operation, {id(tensor): Constant(tensor._array, tensor) for tensor in tensors})
    operation.inputs, operation.regions = changed.inputs, changed.regions


def tensor_of(constant: Constant) -> EagerTensor:
    """Return the captured tensor of a constant, or a new tensor if it has none."""
    tensor: EagerTensor | None = constant.captured
    return EagerTensor(constant.value) if tensor is None else tensor


def _constants(graph: Graph) -> Iterator[Constant]:
    for operation in graph.operations:
        yield from _captures(operation.inputs)
        for region in operation.regions:
            yield from _constants(region)
    yield from _captures(graph.outputs)


def _captures(operands: Iterable[Operand]) -> Iterator[Constant]:
    return (each for each in operands if isinstance(each, Constant) and each.captured is not None)


def _with_operands(operation: Operation, operands: Mapping[int, Operand]) -> Operation:
    """Return the operation with `operands` in place of constants: by the identity of the captured tensor, its operand.

    The inputs of regions are the last operands of their operation.
    """
    nested = {
        id(constant.captured): constant.captured
        for region in operation.regions
        for constant in _constants(region)
        if id(constant.captured) in operands
    }
    regions = [
        lift_captured(region, [*nested.values()]) if nested else region for region in operation.regions
    ]
    return with_parts(
        operation, (*_replaced(operation.inputs, operands), *(operands[key] for key in nested)), regions
    )


def _replaced(given: Iterable[Operand], operands: Mapping[int, Operand]) -> tuple[Operand, ...]:
    return tuple(
        operands.get(id(each.captured), each) if isinstance(each, Constant) else each for each in given
    )
