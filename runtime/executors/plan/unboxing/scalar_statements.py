"""Emit operations on Python numbers as statements: an expression, followed by the wrapping of integers.

m = add n, 1 : int32[]         ==>         m = n + 1
                                           if m > 2147483647:
                                               m = (m + 2147483648 & 4294967295) - 2147483648
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Operation
from ....ir.traits import PYTHON_INDEX
from ....ops.arrays.getitem import select
from ..source_module import PlanSource
from .scalar_expressions import FUNCTIONS, filled, wrapped
from .unboxing_analysis import UnboxedScalars


def takes_number(operation: Operation, operand: int) -> bool:
    """Return whether an operation on arrays accepts a Python number for the operand with this number."""
    if operation.op is select:
        return operand > 0
    return operand == 1 and operation.op.has(PYTHON_INDEX)


def statement(
    module: PlanSource, numbers: UnboxedScalars, operation: Operation, operands: Sequence[str], target: str
) -> tuple[str, tuple[str, str] | None]:
    """Return the expression of an unboxed operation, with the test and expression that wrap its result."""
    text = numbers.expression(operation)
    assert text is not None, "only operations with an expression are unboxed"
    text = filled(text, operation, numbers.given(operation))
    holes = {}
    if "{kernel}" in text:
        holes["kernel"] = module.number_kernel(operation)
    for name, function in FUNCTIONS.items():
        if f"{{{name}}}" in text:
            holes[name] = module.name_of(("function", name), f"op_{name}_of_number", function)
    dtype = operation.outputs[0].dtype
    raw = numbers.unwrapped(operation) if dtype.kind in "iu" else None
    return text.format(*operands, **holes), None if raw is None else wrapped(target, dtype, raw)
