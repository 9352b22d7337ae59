"""Operations without native code: compiled code calls their kernels, the same as the interpreter's.

    y = igamma a, x       ==>     a, x ← in memory;  code ← kernel(addresses of a, x and y);  fail unless code is 0

Dynamic sizes of operands are passed next to the addresses. If results have dynamic sizes, a first call
computes, and a second call copies. Results are bitwise equal to the interpreter's, and a kernel that raises
an error is a failed check. A call takes some microseconds, as in plans, so this suits heavy or rare
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import dtypes
from ....ir.graph import Operation, Value
from ....ir.traits import COLLECTIVE
from ....ir.value_types import TensorType
from ....ops.arrays.placeholder import const
from ..call.kernel import INTERRUPTED
from .check_builder import OFTEN
from .dynamic_sizes import Size
from .function_builder import Emitter
from .lazy_values import Buffer, LazyValue
from .llvm_types import STORED, Register, integer, pointer
from .materialization import Values


def has_kernel(operation: Operation) -> bool:
    """Return whether the kernel can be called: all types are numeric tensors of known rank, and it has no effects.

    Collective operations communicate, in the order of the program.
    """
    values = [*(operand for operand in operation.inputs if isinstance(operand, Value)), *operation.outputs]
    return (
        (not operation.stateful or operation.op.has(COLLECTIVE))
        and not operation.regions
        and operation.op is not const  # a session may feed another value
        and bool(operation.outputs)
        and all(isinstance(value.spec, TensorType) and value.dtype in STORED for value in values)
        and all(value.shape is not None for value in values)
    )


def called(region: Values, operation: Operation, nodes: Sequence[LazyValue]) -> list[LazyValue]:
    """Call the kernel with the addresses of non-constant operands and of the results."""
    e = region.e
    given = [
        region.stored(node)
        for operand, node in zip(operation.inputs, nodes, strict=True)
        if isinstance(operand, Value)
    ]
    shapes = [tuple(None if isinstance(size, Size) else size for size in node.shape) for node in given]
    compute, hand_over = e.module.host.kernel(operation, shapes)
    counted = [size for node in given for size in node.shape if isinstance(size, Size)]
    wanted = [tuple(value.shape or ()) for value in operation.outputs]
    lacking = sum(shape.count(None) for shape in wanted)
    sizes = e.slot(integer(64), max(len(counted) + lacking, 1))
    for position, size in enumerate(counted):
        e.store(dtypes.int64, sizes, e.word(position), e.word(size))
    addresses = [node.address for node in given]
    if not lacking:
        results = _results(region, operation, wanted)
        _call(e, compute, [sizes, *addresses, *(result.address for result in results)])
        return list(results)
    _call(e, compute, [sizes, *addresses])
    positions = iter(range(len(counted), len(counted) + lacking))
    found = [
        tuple(
            Size.of(e.load(dtypes.int64, sizes, e.word(next(positions)))) if size is None else size
            for size in shape
        )
        for shape in wanted
    ]
    results = _results(region, operation, found)
    _call(e, hand_over, [result.address for result in results])
    return list(results)


def _results(region: Values, operation: Operation, shapes: Sequence[Any]) -> list[Buffer]:
    return [
        Buffer.new(region.e, value.dtype, shape)
        for value, shape in zip(operation.outputs, shapes, strict=True)
    ]


def _call(e: Emitter, name: str, arguments: Sequence[Register]) -> None:
    """Call a host function with these addresses, and check its code."""
    addresses = e.slot(pointer(), len(arguments))
    for number, argument in enumerate(arguments):
        e.b.store(argument, e.b.gep(addresses, [e.word(number)], source_etype=pointer()))
    leave_unless_done(e, e.call("agc_call", integer(32), e.host(name), addresses, e.function.args[-1]))


def leave_unless_done(e: Emitter, code: Register) -> None:
    """Leave the function if a call has returned that it was interrupted or that a check failed."""
    onward = e.block("onward")
    stop = e.end_with(INTERRUPTED)
    e.b.cbranch(e.b.icmp_signed("==", code, integer(32)(INTERRUPTED)), stop, onward).set_weights([1, OFTEN])
    e.b.position_at_end(onward)
    e.demand(e.b.icmp_signed("==", code, integer(32)(0)))
