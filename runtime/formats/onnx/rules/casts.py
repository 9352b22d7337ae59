"""Conversions of dtypes, with the results that x86 gives for numbers out of range."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ....ops.math.cast import limits
from ..onnx_types import DTYPES, InexpressibleError
from ..registry import exports


def converted(e: Any, x: Any, dtype: Any) -> Any:
    """Convert by the rules of `tf.cast`: narrow integers keep the low bits of wider ones."""
    if x.dtype.kind == "f" and dtype.kind in "iu" and dtype.size < 4:
        x = e.cast(x, dtypes.int32)
    elif x.dtype.kind == "f" and dtype is dtypes.uint32:
        x = e.cast(x, dtypes.int64)
    return e.cast(x, dtype)


@exports("cast")
def _(e: Any, operation: Any, x: Any) -> Any:
    return converted(e, x, operation.attrs["dtype"])


@exports("saturate_cast")
def _(e: Any, operation: Any, x: Any) -> Any:
    low, high = limits(x.dtype, operation.attrs["dtype"])
    inside = e("Min", e("Max", x, e.const(low, x.dtype)), e.const(high, x.dtype))
    return converted(e, inside, operation.attrs["dtype"])


@exports(
    "identity", "stop_gradient", "check_numerics", "const", "placeholder_with_default", "optimization_barrier",
    "ensure_shape", "real", "conj", "checked_row_splits", "checked_coordinates", "check_keys",
)  # fmt: skip
def _(e: Any, operation: Any, x: Any, *others: Any) -> Any:
    """Return the first operand: checks are left out, and no number is complex."""
    return x


@exports("bitcast")
def _(e: Any, operation: Any, x: Any) -> Any:
    to = operation.attrs["type"]
    if x.dtype.size != to.size:
        raise InexpressibleError("ONNX reinterprets the bits of numbers of one size only")
    if e.opset >= 26 and x.dtype.name in DTYPES:
        return e("BitCast", x, dtype=to, to=DTYPES[to.name])
    if x.dtype.kind in "iu" and to.kind in "iu":
        return e.cast(x, to)
    raise InexpressibleError("ONNX reinterprets the bits of floating-point numbers from opset 26 on")


@exports("imag")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.zeros(e.shape_of(x), x.dtype)


@exports("angle")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.where(x < 0.0, np.pi, e.const(0.0, x.dtype))
