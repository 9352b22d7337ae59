"""Infer the number of elements of TensorArrays from their definitions.

    a = array_new 4                         : array float32[2]
    b = array_write a, i, x                 : array float32[2]
    y = array_stack b                       : float32[?, 2]         ==>     float32[4, 2]

A write keeps the number of elements unless the array is dynamic. So do loops and branches that only write.
"""

from __future__ import annotations

from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.structured import is_control_flow, is_loop, region_arguments
from ..ir.traits import KEEPS_LENGTH
from ..ops.lists.tensor_array import array_new
from .rewriter import Rewriter


def length(array: Operand, walk: Rewriter) -> int | None:
    """Return the number of elements of a TensorArray in the walk; None if unknown."""
    maker = _origin(array, walk.makers())[1]
    if maker is None or maker.op is not array_new or maker.attrs["dynamic"]:
        return None
    (size,) = maker.inputs
    return int(size.value) if type(size) is Constant else None


def _origin(array: Operand, makers: dict[Operand, Operation]) -> tuple[Operand, Operation | None]:
    """Return the first version of `array`, with the same number of elements, and its defining operation."""
    while True:
        maker = makers.get(array)
        before = None if maker is None else _before(array, maker)
        if before is None:
            return array, maker
        array = before


def _before(array: Operand, maker: Operation) -> Operand | None:
    """Return the operand that has as many elements as this result of an operation; None if there is none."""
    if maker.op.has(KEEPS_LENGTH):
        return maker.inputs[0]
    if not is_control_flow(maker):
        return None
    number = maker.outputs.index(array)
    regions = maker.regions[1:] if is_loop(maker) else maker.regions
    found = {_given(region, number) for region in regions}
    slot = found.pop()
    if found or slot is None or (is_loop(maker) and slot != number):
        return None
    return region_arguments(maker)[slot]


def _given(region: Graph, number: int) -> int | None:
    """Return the number of the input that has as many elements as result `number` of a region."""
    makers: dict[Operand, Operation] = {
        value: operation for operation in region.operations for value in operation.outputs
    }
    origin = _origin(region.outputs[number], makers)[0]
    return region.inputs.index(origin) if origin in region.inputs else None
