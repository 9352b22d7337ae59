"""JAX as a backend of AutoGraph: control flow on traced values becomes operations of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agc.autograph import staging

import jax
import jax.numpy as jnp

from . import conditionals, failures, loops
from .builtins import BUILTINS
from .items import Items, is_concrete, items_of
from .set_item import with_item

State = tuple[Any, ...]


class JaxBackend:
    """Stages on tracers in functions of `agc.jax`; see `agc.autograph.staging.Backend`."""

    lasting: tuple[type, ...] = ()

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        return BUILTINS

    def owns(self, value: Any) -> bool:
        return failures.is_active() and (isinstance(value, Items) or not is_concrete(value))

    def cond(
        self,
        test: Any,
        then: Callable[..., State],
        orelse: Callable[..., State],
        state: State,
        names: tuple[str, ...],
    ) -> State:
        return conditionals.cond(test, then, orelse, state, names)

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> State:
        return loops.while_loop(test, body, state, names, options)

    def for_loop(
        self,
        items: Any,
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...],
        until: str | None,
        options: Mapping[str, Any],
    ) -> State:
        return loops.for_loop(items_of(items), body, state, names, until, options)

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        return conditionals.logical(op, first, rest)

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        failures.check(conditionals.truth(test, "assert"), message)

    def length(self, value: Any) -> int | None:
        return value.shape[0] if getattr(value, "ndim", 0) else None

    def is_(self, value: Any, truth: bool) -> Any:
        return False  # an array is not one of Python's two truth values

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        return with_item(target, key, value)


BACKEND = JaxBackend()
staging.register(BACKEND, jax.core.Tracer, type(jnp.zeros(())), Items, always=False)
