"""Replace small `zeros_like` and `ones_like` results of known shape by one constant array.

z = zeros_like x : float32[32, 32]          ==>          z = constant
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.shapes import num_elements
from ...ir.graph import Operation
from ...ir.value_types import TensorType
from ...ops.framework import narrow_floats
from .buffer_donation import is_big


def small_blank(operation: Operation) -> np.ndarray[Any, Any] | None:
    """Return the constant array of the operation, if it has one.

    Big arrays are made anew each time, so that results can be computed into them.
    """
    number = operation.op.fills
    if number is None or narrow_floats.is_used_by(operation):
        return None
    (blank,) = operation.outputs
    assert isinstance(blank.spec, TensorType)
    if num_elements(blank.spec.shape) is None or blank.spec.dtype.kind not in "biufc" or is_big(blank):
        return None
    return np.full(blank.spec.shape, number, blank.spec.dtype.numpy)
