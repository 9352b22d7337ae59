"""The code of a function's checks among the results of a program that `jax.jit` has compiled."""

from __future__ import annotations

from typing import Any

from agc.arrays import Checks, leave, raise_of

import jax

from .library import LIBRARY


@jax.tree_util.register_pytree_node_class
class Code:
    """The code of a function's checks, with the exceptions that it numbers."""

    def __init__(self, code: Any, errors: _Errors) -> None:
        self.code, self.errors = code, errors

    def tree_flatten(self) -> tuple[tuple[Any], _Errors]:
        return (self.code,), self.errors

    @classmethod
    def tree_unflatten(cls, errors: _Errors, children: tuple[Any]) -> Code:
        return cls(*children, errors)


class _Errors(list[BaseException]):
    """Exceptions that are equal to themselves only: they are a part of the type of the results."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def code_of(checks: Checks) -> Code | None:
    """Return what a compiled function returns besides its results; None without checks."""
    return None if checks.code is None else Code(checks.code, _Errors(checks.errors))


def raise_from(code: Code | None) -> None:
    """Raise the exception that a compiled function has found, if any."""
    if code is None:
        return
    if not isinstance(code.code, jax.core.Tracer):
        raise_of(tuple(code.errors), int(code.code))
        return
    inner = Checks(LIBRARY, None)
    inner.code, inner.errors = code.code, list(code.errors)
    leave(inner)
