"""Python's built-in functions on traced arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from agc.arrays import builtins_of

import jax.numpy as jnp

from .printing import printed


def _rounded(value: Any, digits: int | None = None) -> Any:
    if digits is not None:
        return jnp.round(value, digits)
    return jnp.round(value).astype(int) if jnp.issubdtype(value.dtype, jnp.floating) else value


def _int(value: Any) -> Any:
    return jnp.trunc(value).astype(int) if jnp.issubdtype(value.dtype, jnp.floating) else value.astype(int)


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        raise TypeError("pow() with a modulus is not supported for traced arrays")
    return base**exponent


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    **builtins_of(jnp),
    builtins.divmod: jnp.divmod,
    builtins.float: lambda value: value.astype(float),
    builtins.int: _int,
    builtins.pow: _power,
    builtins.print: printed,
    builtins.round: _rounded,
}
