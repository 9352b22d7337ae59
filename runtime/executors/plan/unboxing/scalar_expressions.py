"""Expressions that compute operations on Python numbers, and the wrapping of integers.

    r = floormod m, 2 : int32[]       ==>       r = m % 2
    y = realdiv a, b : float64[]      ==>       y = a / b if b else number_realdiv(a, b)

Python's integers are unbounded, and its floats refuse some operations, so expressions leave rare cases to the
kernel. If Python would raise an error, such as for a division by zero, the kernel raises its own error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .... import dtypes
from ....ir.graph import Operation
from ....ir.op_def import OpDef
from ....ir.traits import INTEGER_ERRORS
from ....ir.value_types import TensorType
from ....ops.arrays.gather_ops import take
from ....ops.arrays.getitem import HOLE, parsed, select
from ....ops.framework.intervals import Range
from ....ops.math.bitwise import left_shift, right_shift
from ....ops.math.cast import cast_op
from ..escaping import literal
from ..peephole import is_scalar, picks_element
from . import range_analysis
from .range_analysis import LIMITS, can_be_number

FUNCTIONS = {"sqrt": math.sqrt}
"""The functions that expressions call besides Python's builtins."""

#   from, to kinds         expression; a product with 1.0 rounds like a conversion
_CASTS = {
    ("b", "iu"):           "1 if {0} else 0",
    ("b", "f"):            "1.0 if {0} else 0.0",
    ("iu", "b"):           "{0} != 0",
    ("f", "b"):            "{0} != 0.0",
    ("iu", "iu"):          "{0}",
    ("iu", "f"):           "{0} * 1.0",
    ("f", "iu"):           "int({0}) if {low} <= {0} <= {high} else {kernel}({0})",
}  # fmt: skip

_ELEMENT = "{0}.item({1})"
_CHECKED_ELEMENT = "{0}.item({1}) if 0 <= {1} < len({0}) else {kernel}({0}, {1})"


def takes_elements(op: OpDef) -> bool:
    """Return whether an operation takes elements of its first operand, by indices that must be numbers."""
    return op is take or op is select


def is_element(operation: Operation) -> bool:
    """Return whether an operation takes one element of a tensor, as a number."""
    if not can_be_number(operation.outputs[0].spec):
        return False
    if operation.op is take:
        return picks_element(operation)
    tensor = operation.inputs[0].spec if operation.op is select else None
    if not isinstance(tensor, TensorType) or not tensor.shape:
        return False
    key = parsed(operation.attrs["key"])
    return len(key) == len(tensor.shape) and all(item is HOLE or type(item) is int for item in key)


def expression(operation: Operation) -> str | None:
    """Return the expression for an operation on Python numbers; None if there is none.

    It has holes for operands, `{kernel}`, the names of FUNCTIONS, and the holes that `filled` fills.
    """
    if len(operation.outputs) != 1 or not operation.inputs or not can_be_number(operation.outputs[0].spec):
        return None
    if takes_elements(operation.op):
        return _element(operation) if is_element(operation) else None
    for operand in operation.inputs:
        if not is_scalar(operand.spec):
            return None
    if operation.op is cast_op:
        return _cast(operation)
    return operation.op.scalar.get(operation.inputs[0].dtype.kind)


def filled(text: str, operation: Operation, given: Sequence[Range | None]) -> str:
    """Return the expression for operands in these ranges."""
    if "{most}" in text:
        return text.replace("{most}", literal(LIMITS[operation.outputs[0].dtype][1]))
    if "{places}" in text:
        return text.replace("{places}", _shift_width(operation, given))
    if text == _CHECKED_ELEMENT and given[1] is not None and given[1][0] >= 0:
        return _ELEMENT
    return text


def may_fail(operation: Operation, given: Sequence[Range | None]) -> bool:
    """Return whether an operation with the trait INLINE_SCALAR may divide by zero."""
    divisor = given[1] if operation.op.has(INTEGER_ERRORS) else None
    return divisor is not None and (operation.inputs[0].dtype.kind == "f" or divisor[0] <= 0 <= divisor[1])


def result(operation: Operation, given: Sequence[Range | None]) -> Range:
    """Return the range of the result before it is wrapped."""
    dtype = operation.outputs[0].dtype
    if dtype.kind not in "iu":
        return LIMITS[dtype]
    if operation.op is cast_op and operation.inputs[0].dtype.kind == "f":
        return LIMITS[_by_way_of(dtype)]
    known = [each for each in given if each is not None]
    if operation.op in (left_shift, right_shift) and len(known) == 2:
        last = dtype.size * 8 - 1
        known[1] = min(max(known[1][0], 0), last), min(max(known[1][1], 0), last)
    found = range_analysis.of_result(operation.op, *known) if len(known) == len(given) else None
    return LIMITS[dtype] if found is None else found


def _shift_width(operation: Operation, given: Sequence[Range | None]) -> str:
    """Return the shift distance as source, clamped to the number of bits of the dtype."""
    last, distance = operation.outputs[0].dtype.size * 8 - 1, given[1]
    if distance is not None and distance[0] >= 0 and distance[1] <= last:
        return "{1}"
    return f"min(max({{1}}, 0), {last})"


def _by_way_of(dtype: dtypes.DType) -> dtypes.DType:
    """Return the dtype through which the kernel converts floats to integers of this dtype."""
    if dtype.size == 8:
        return dtype
    return dtypes.int64 if dtype is dtypes.uint32 else dtypes.int32


def _cast(operation: Operation) -> str | None:
    before, after = operation.inputs[0].dtype, operation.outputs[0].dtype
    if before not in LIMITS:
        return None
    text = next(
        (text for (one, other), text in _CASTS.items() if before.kind in one and after.kind in other), None
    )
    if text is None or not before.is_floating or after.kind not in "iu":
        return text
    low, high = LIMITS[_by_way_of(after)]
    last = float(high) if high < 2**53 else math.nextafter(float(high), 0)
    return text.replace("{low}", literal(float(low))).replace("{high}", literal(last))


def _element(operation: Operation) -> str:
    if operation.op is take:
        return _CHECKED_ELEMENT
    count = itertools.count(1)
    items = [
        f"{{{next(count)}}}" if item is HOLE else literal(item) for item in parsed(operation.attrs["key"])
    ]
    return f"{{0}}.item({', '.join(items)})"


def wrapped(name: str, dtype: dtypes.DType, raw: Range) -> tuple[str, str] | None:
    """Return a test for overflow and the expression that wraps the number; None if it cannot overflow."""
    low, high = LIMITS[dtype]
    if range_analysis.holds((low, high), raw):
        return None
    if raw[0] >= low:
        test = f"{name} > {high}"
    elif raw[1] <= high:
        test = f"{name} < {low}"
    else:
        test = f"not {low} <= {name} <= {high}"
    mask = (1 << dtype.size * 8) - 1
    return test, f"{name} & {mask}" if low == 0 else f"({name} + {-low} & {mask}) - {-low}"
