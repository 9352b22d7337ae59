"""Hints of operators: properties that are known (True), known not to hold (False), or unknown (None).

    positive definite  ⇒  non-singular  ⇒  square        self-adjoint  ⇒  square

A hint is trusted, never computed. Hints that contradict each other, or a class, are a ValueError.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Hint = bool | None
Hints = dict[str, Any]
"""The hints that a constructor got, and the name."""

HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def with_hints(**others: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a constructor that takes the hints as a dict, `given`, so that it takes them as arguments.

    def __init__(self, diag, *, given)   ==>   __init__(self, diag, is_non_singular=None, …, is_square=None, name=None)

    `others` are default values: of hints, and of parameters between the hints and the name, which have no effect.
    """

    def decorated(initialize: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(initialize).parameters.values())[:-1]
        keywords = {**dict.fromkeys(HINTS), **others, "name": None}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        extra = [inspect.Parameter(name, kind, default=value) for name, value in keywords.items()]
        signature = inspect.Signature([*own, *extra])

        @functools.wraps(initialize)
        def constructor(*args: Any, **kwargs: Any) -> None:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            hints = {name: bound.arguments[name] for name in (*HINTS, "name")}
            initialize(*(bound.arguments[each.name] for each in own), given=hints)

        constructor.__signature__ = signature  # type: ignore[attr-defined]
        return constructor

    return decorated


def require(hints: Hints, name: str, value: bool, message: str) -> None:
    """Set a hint to what always holds; ValueError if the opposite was given."""
    if hints[name] is (not value):
        raise ValueError(message)
    hints[name] = value


def inherit(hints: Hints, name: str, known: Hint, message: str) -> None:
    """Set a hint to True if that is known; ValueError if False was given."""
    if known:
        require(hints, name, True, message)


def of(operator: Any) -> Hints:
    """Return the hints of an operator as keyword arguments."""
    return {name: getattr(operator, name) for name in HINTS}


def all_have(operators: Iterable[Any], name: str) -> bool:
    """Return whether all operators are known to have a property."""
    return all(getattr(operator, name) for operator in operators)


def of_product(left: Any, right: Any) -> Hints:
    """Return the hints of the product of two operators: it is singular if one of them is."""
    pair = (left.is_non_singular, right.is_non_singular)
    square = True if left.is_square and right.is_square else None
    return {
        "is_non_singular": False if False in pair else None if None in pair else True,
        "is_square": square,
    }


def of_commuting_product(left: Any, right: Any) -> Hints:
    """Return the hints of the product of two operators that commute."""
    pair = (left.is_self_adjoint, right.is_self_adjoint)
    positive = all(pair) and all_have((left, right), "is_positive_definite")
    return {
        **of_product(left, right),
        "is_self_adjoint": None if True not in pair or None in pair else all(pair),
        "is_positive_definite": positive or None,
    }
