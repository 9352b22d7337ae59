"""Rows that a loop adds to each row of a matrix are repeated before it.

    while …:                                        bias_rows = np.broadcast_to(bias, (32, 128)).copy()
        y = np.add(x, bias, out=x)          ==>     while …:
                                                        y = np.add(x, bias_rows, out=x)

NumPy goes through operands of one shape as through one long row; else it begins anew for each row, which takes longer
than the row itself where that is short.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.shapes import is_static
from ...ir.graph import Operand, Operation
from ...ir.value_types import TensorType
from ...ops.framework.fusion_traits import works_on_elements

_TYPES = frozenset({"add", "subtract", "multiply", "realdiv", "maximum", "minimum"})
"""Operations whose time is that of reading their operands."""

FEWEST = 16
"""Rows from which on it is worth a copy."""

LONGEST = 512
"""Elements of a row from which on it does not matter."""

MOST = 1 << 18
"""Bytes of a result from which on the cache is needed for other things."""


def repeated(loop: Operation) -> dict[tuple[Operation, int], tuple[int, ...]]:
    """The operands of operations in the body of a loop to repeat, by their numbers; and the shapes to give them."""
    body = loop.regions[1]
    given: set[Operand] = set(body.inputs[len(loop.outputs) :])
    found = {}
    for operation in body.operations:
        if operation.type in _TYPES and _has_short_rows(operation) and works_on_elements(operation):
            shape: Any = operation.outputs[0].shape
            for number, operand in enumerate(operation.inputs):
                if operand in given and _is_part(operand.shape, shape):
                    found[operation, number] = shape
    return found


def _has_short_rows(operation: Operation) -> bool:
    spec = operation.outputs[0].spec
    shape: Any = spec.shape if isinstance(spec, TensorType) else None
    if not isinstance(spec, TensorType) or not is_static(shape) or len(shape) < 2:
        return False
    *rows, columns = shape
    count = math.prod(rows)
    return bool(count >= FEWEST and columns <= LONGEST and count * columns * spec.dtype.size <= MOST)


def _is_part(shape: Any, whole: tuple[int, ...]) -> bool:
    return bool(shape) and len(shape) < len(whole) and whole[-len(shape) :] == shape and math.prod(shape) > 1
