"""Rules of assertions, prints and exceptions, and of values without any computation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..rule_registry import lowers

Array = Any


@lowers("const", "identity", "stop_gradient", "ensure_shape")
def _(site: Any, value: Array) -> Array:
    return value


@lowers("optimization_barrier")
def _(site: Any, value: Array, after: Sequence[Array]) -> Array:
    return value


@lowers("blank")
def _(site: Any) -> Array:
    return jnp.zeros([size or 0 for size in site.shape], site.dtype)


@lowers("no_op")
def _(site: Any) -> list[Array]:
    return []


@lowers("assert")
def _(site: Any, condition: Array, data: Sequence[Array]) -> list[Array]:
    site.demand(condition)
    return []


@lowers("print")
def _(site: Any, inputs: Sequence[Array]) -> list[Array]:
    operation = site.operation
    site.trace.effects.add(lambda values: operation.op.compute(values, **operation.attrs), inputs)
    return []


@lowers("raise")
def _(site: Any, values: Sequence[Array]) -> list[Array]:
    site.trace.fail(True)
    return []
