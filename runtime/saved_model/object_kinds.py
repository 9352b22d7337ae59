"""The kinds of objects in saved models, and the functions of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.variable import Variable
from ..tracing.function import Function
from .asset import Asset
from .function_serialization import RestoredFunction, is_function


def kind_of(target: Any) -> str:
    """Return the kind from which loading rebuilds an object: `variable`, `asset`, `list`, `dict` or `object`."""
    if isinstance(target, Variable):
        return "variable"
    if isinstance(target, Asset):
        return "asset"
    if isinstance(target, Mapping):
        return "dict"
    return "list" if isinstance(target, (list, tuple)) else "object"


def functions_of(target: Any) -> dict[str, Any]:
    """Return the functions among the attributes of an object, and among those of its class.

    A class can add functions with a method `__functions__() -> dict[str, function]`.
    """
    if not hasattr(target, "__dict__"):
        return {}
    made = getattr(type(target), "__functions__", None)
    found = {} if made is None else dict(made(target))
    for kind in reversed(type(target).__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, (Function, RestoredFunction)):
                found[name] = getattr(target, name)
    return found | {name: value for name, value in vars(target).items() if is_function(value)}
