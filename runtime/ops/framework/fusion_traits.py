"""Fusion traits: which operations are elementwise, which reductions can consume them, and their cost."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...ir.graph import Operation
from ...ir.value_types import TensorType
from ..reduce.minmax_kernels import largest, smallest
from .op import Op
from .op_families import Elementwise

ELEMENTS = frozenset({
    "where", "cast", "relu", "relu6", "elu", "selu", "softsign", "leaky_relu", "_clip", "zeros_like",
    "ones_like", "sign", "round", "rsqrt", "sigmoid", "softplus", "log_sigmoid", "floordiv", "floormod",
    "truncatediv", "truncatemod", "pow", "squared_difference", "divide_no_nan", "multiply_no_nan",
    "xlogy", "xdivy", "xlog1py", "left_shift", "right_shift", "real", "imag", "angle",
})  # fmt: skip
"""Elementwise operations with kernels that are neither NumPy functions nor operators.

Special functions are not listed. They group elements by the formula to use, so the last bit of one element
may depend on other elements.
"""

UNIFORM = {"zeros_like": 0, "ones_like": 1}
"""Operations that fill their result with one number."""


class Reducer(NamedTuple):
    """A reduction's name in a plan's source and its function of elements, axes, dtype and `out`."""

    text: str
    compute: Callable[..., Any]


REDUCTIONS = {
    "reduce_sum": Reducer("np.add.reduce", np.add.reduce),
    "reduce_mean": Reducer("np.add.reduce", np.add.reduce),
    "reduce_prod": Reducer("np.multiply.reduce", np.multiply.reduce),
    "reduce_max": Reducer("largest", largest),
    "reduce_min": Reducer("smallest", smallest),
    "reduce_all": Reducer("np.logical_and.reduce", np.logical_and.reduce),
    "reduce_any": Reducer("np.logical_or.reduce", np.logical_or.reduce),
}
"""Reductions that can be computed block by block."""

_DEAR = frozenset({
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "sinh", "cosh",
    "asinh", "acosh", "atanh", "atan2", "pow", "elu", "selu", "sigmoid", "softplus", "log_sigmoid",
    "floordiv", "floormod", "truncatediv", "truncatemod",
})  # fmt: skip
"""Operations that take about ten times as long as an addition."""


def cost(operation: Operation) -> float:
    """Return the approximate cost of an element in nanoseconds."""
    return 2.0 if operation.type in _DEAR else 0.2


def works_on_elements(operation: Operation) -> bool:
    """Return whether the operation is elementwise: each result element depends on one element of each operand.

    Operands may broadcast.
    """
    return _is_on_elements(operation.op) and _are_plain(operation)


@functools.cache
def _is_on_elements(op: Op) -> bool:
    is_simple = isinstance(op, Elementwise) and (
        isinstance(op.compute, np.ufunc) or op.expression is not None
    )
    return (is_simple or op.name in ELEMENTS) and not op.stateful


def reduces(operation: Operation) -> bool:
    """Return whether the operation is a reduction that can be computed block by block."""
    if operation.type not in REDUCTIONS or not _are_plain(operation):
        return False
    kind, wide = operation.inputs[0].dtype.kind, operation.inputs[0].dtype.size > 2
    if operation.type == "reduce_mean":
        return kind == "f" and wide
    return kind in "iub" or (kind == "f" and wide)


def _are_plain(operation: Operation) -> bool:
    """Return whether all operands and results are tensors of native NumPy number types."""
    for operand in (*operation.inputs, *operation.outputs):
        spec = operand.spec
        if not isinstance(spec, TensorType) or spec.dtype not in _NUMBERS:
            return False
    return True


_NUMBERS = frozenset(dtype for dtype in dtypes.ALL if dtype.kind in "biufc")
