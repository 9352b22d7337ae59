"""Operations that have no code of their own: compiled code calls their kernels, which are the interpreter's.

    y = igamma a, x       ==>     a, x ← in memory;  code ← kernel(address of a, of x, of y);  fail unless it is 0

So results are the interpreter's to the last bit, and a kernel that raises an error is a check that fails. A call takes
some microseconds, as it does in plans: what is heavy, or rare, is called so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.graph import Operation, Value
from ...ir.specs import Spec
from .arithmetic import Callee
from .nodes import Buffer, Node
from .types import COMPILED, integer, ir, pointer

if TYPE_CHECKING:
    from .regions import Region

_WITHOUT = frozenset({"assert", "raise", "placeholder", "const", "placeholder_with_default"})
"""Operations without effects whose kernels are not to be called: they fail, or are what sessions feed."""


def has_kernel(operation: Operation) -> bool:
    """Whether the kernel can be called: it has no effects, takes tensors of numbers, and gives such of known shapes."""
    values = [*(operand for operand in operation.inputs if isinstance(operand, Value)), *operation.outputs]
    return (
        not operation.stateful
        and not operation.regions
        and operation.type not in _WITHOUT
        and bool(operation.outputs)
        and all(isinstance(value.spec, Spec) and value.dtype in COMPILED for value in values)
        and all(value.shape is not None and None not in value.shape for value in values)
    )


def called(region: Region, operation: Operation, nodes: Sequence[Node]) -> list[Node]:
    """Call the kernel. It gets the addresses of what is no constant, and those of its results."""
    e = region.e
    given = [
        region.stored(node).address
        for operand, node in zip(operation.inputs, nodes, strict=True)
        if isinstance(operand, Value)
    ]
    results = [Buffer.new(e, value.dtype, tuple(map(int, value.shape or ()))) for value in operation.outputs]  # type: ignore[arg-type]
    arguments = [*given, *(result.address for result in results)]
    kind = ir().FunctionType(integer(32), [pointer()] * len(arguments))
    code = e.b.call(Callee(e.host(e.module.host.kernel(operation)), kind), arguments)
    e.demand(e.b.icmp_signed("==", code, integer(32)(0)))
    return list(results)
