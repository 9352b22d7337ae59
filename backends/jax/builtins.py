"""Python's built-in functions on traced arrays."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from agc.arrays import ITERATION, is_array, truth

import jax.numpy as jnp

from .printing import printed


def _extreme(whole: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    def of(*values: Any, **options: Any) -> Any:
        if options:
            raise TypeError(f"{', '.join(options)}: not supported for traced arrays")
        items: Any = values[0] if len(values) == 1 else values
        if is_array(items):
            if items.ndim != 1:
                raise TypeError(f"items of shape {items.shape[1:]} have no order: use jnp.{whole.__name__}")
            return whole(items)
        return reduce(pair, items)

    return of


def _sum(values: Any, start: Any = 0) -> Any:
    return start + jnp.sum(values, 0) if is_array(values) else builtins.sum(values, start)


def _sorted(values: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    items = values if is_array(values) else jnp.stack([*values])
    keys = items if key is None else jnp.stack([jnp.asarray(key(item)) for item in items])
    if keys.ndim != 1:
        raise TypeError(f"items of shape {keys.shape[1:]} have no order: give a key that returns scalars")
    order = len(keys) - 1 - jnp.argsort(keys[::-1])[::-1] if reverse else jnp.argsort(keys)
    return list(items[order])


def _rounded(value: Any, digits: int | None = None) -> Any:
    if digits is not None:
        return jnp.round(value, digits)
    return jnp.round(value).astype(int) if jnp.issubdtype(value.dtype, jnp.floating) else value


def _int(value: Any) -> Any:
    return jnp.trunc(value).astype(int) if jnp.issubdtype(value.dtype, jnp.floating) else value.astype(int)


def _contains(container: Any, item: Any) -> Any:
    return reduce(jnp.logical_or, [jnp.equal(item, each) for each in container], jnp.bool_(False))


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        raise TypeError("pow() with a modulus is not supported for traced arrays")
    return base**exponent


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    **ITERATION,
    builtins.abs: jnp.abs,
    builtins.all: lambda values: jnp.all(values) if is_array(values) else builtins.all(values),
    builtins.any: lambda values: jnp.any(values) if is_array(values) else builtins.any(values),
    builtins.bool: lambda value: truth(value, "bool()"),
    builtins.divmod: jnp.divmod,
    builtins.float: lambda value: value.astype(float),
    builtins.int: _int,
    builtins.max: _extreme(jnp.max, jnp.maximum),
    builtins.min: _extreme(jnp.min, jnp.minimum),
    builtins.pow: _power,
    builtins.print: printed,
    builtins.round: _rounded,
    builtins.sorted: _sorted,
    builtins.sum: _sum,
    operator.contains: _contains,
}
