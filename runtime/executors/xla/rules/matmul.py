"""Rules of matrix products. Floats are multiplied at full precision on every device."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..rule_registry import lowers

Array = Any


@lowers("matmul")
def _(site: Any, a: Array, b: Array) -> Array:
    attrs = site.attrs
    left = _turned(a, attrs["transpose_a"], attrs["adjoint_a"])
    right = _turned(b, attrs["transpose_b"], attrs["adjoint_b"])
    return jnp.matmul(left, right, precision=lax.Precision.HIGHEST)


def _turned(x: Array, transposes: bool, adjoins: bool) -> Array:
    turned = jnp.swapaxes(x, -1, -2) if transposes or adjoins else x
    return jnp.conj(turned) if adjoins else turned
