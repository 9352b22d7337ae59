"""Hoist broadcasts of short rows out of loops.

    while …:                                        bias_rows = np.broadcast_to(bias, (32, 128)).copy()
        y = np.add(x, bias, out=x)          ==>     while …:
                                                        y = np.add(x, bias_rows, out=x)

NumPy processes operands of one shape like one long row. Otherwise its inner loop starts again for each row.
That takes longer than the row itself if the row is short.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.shapes import is_static
from ...ir.graph import Operand, Operation
from ...ir.traits import BANDWIDTH_BOUND
from ...ir.value_types import TensorType
from ...ops.framework.fusion_traits import works_on_elements

FEWEST = 16
"""The number of rows from which a copy is worth it."""

LONGEST = 512
"""The longest row, in elements, for which a copy is worth it."""

MOST = 1 << 18
"""The largest result in bytes; copies for larger ones would displace other data from the cache."""


def repeated(loop: Operation) -> dict[tuple[Operation, int], tuple[int, ...]]:
    """Return the operands in the body of `loop` to broadcast before the loop.

    Keys are operations and operand numbers; values are the shapes to broadcast to.
    """
    body = loop.regions[1]
    given: set[Operand] = set(body.inputs[len(loop.outputs) :])
    found = {}
    for operation in body.operations:
        if operation.op.has(BANDWIDTH_BOUND) and _has_short_rows(operation) and works_on_elements(operation):
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
