"""Random numbers by ONNX' generators: other numbers of the same distribution, where the user allows it."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..registry import exports
from .functions import inverse_erf


def _drawn(e: Any, operator: str, shape: Any, dtype: Any, **attrs: Any) -> Any:
    work = dtype if dtype.name in ("float32", "float64") else dtypes.float32
    return e.cast(e(operator, e.zeros(shape, work), **attrs), dtype)


@exports("random_uniform")
def _(e: Any, operation: Any, shape: Any) -> Any:
    return _drawn(e, "RandomUniformLike", shape, operation.outputs[0].dtype, low=0.0, high=1.0)


@exports("random_normal")
def _(e: Any, operation: Any, shape: Any) -> Any:
    return _drawn(e, "RandomNormalLike", shape, operation.outputs[0].dtype)


@exports("random_truncated_normal")
def _(e: Any, operation: Any, shape: Any) -> Any:
    """Draw uniform numbers, and take the inverse of the normal distribution, cut at two deviations."""
    share = 0.9544997361036416  # of normal numbers that are nearer than two deviations
    uniform = _drawn(e, "RandomUniformLike", shape, dtypes.float64, low=-share, high=share)
    return e.cast(inverse_erf(e, uniform) * 2**0.5, operation.outputs[0].dtype)


@exports("random_integers")
def _(e: Any, operation: Any, shape: Any, low: Any, high: Any) -> Any:
    uniform = _drawn(e, "RandomUniformLike", shape, dtypes.float64, low=0.0, high=1.0)
    span = e.cast(high - low, dtypes.float64)
    return low + e.cast(e("Floor", uniform * span), low.dtype)
