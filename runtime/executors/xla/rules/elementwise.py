"""Rules of elementwise operations whose kernels check values, or differ from jax.numpy in a last case."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..rule_registry import TRACED, lowers

Array = Any

TRACED |= {
    "add", "subtract", "multiply", "realdiv", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor", "negative", "abs", "exp",
    "bitwise_and", "bitwise_or", "bitwise_xor", "right_shift", "left_shift",
    "log", "sqrt", "sin", "cos", "tanh", "square", "where", "relu", "sigmoid",
    "reduce_sum", "reduce_max", "reduce_min", "reduce_mean", "transpose", "concat", "sum_to",
}  # fmt: skip


@lowers("cast")
def _(site: Any, x: Array) -> Array:
    return jnp.asarray(x).astype(site.dtype)


@lowers("floordiv")
def _(site: Any, x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return jnp.floor(x / y)
    return jnp.floor_divide(x, nonzero(site, y))


@lowers("floormod")
def _(site: Any, x: Array, y: Array) -> Array:
    return jnp.remainder(x, y if x.dtype.kind == "f" else nonzero(site, y))


def nonzero(site: Any, y: Array) -> Array:
    """Demand that no divisor is zero; return divisors that are not."""
    site.demand(y != 0)
    return jnp.where(y == 0, np.ones((), y.dtype), y)
