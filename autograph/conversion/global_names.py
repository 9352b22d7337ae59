"""Facts about the global names of a function, which its conversion depends on."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .. import policy
from ..options.loop_options import looks_like_directive, set_loop_options

Answers = dict[tuple[str, str], bool]
"""The answers to the questions of a conversion: the kind of question and a name → the answer."""


def answer(module_globals: Mapping[str, Any], question: tuple[str, str]) -> bool:
    """Return the answer to a question about a name."""
    kind, name = question
    return _ANSWERS[kind](module_globals, name)


def noted(module_globals: Mapping[str, Any], answers: Answers, kind: str) -> Callable[[str], bool]:
    """Return the function that answers questions of a kind, and notes the answers."""

    def ask(name: str) -> bool:
        found = answers[kind, name] = answer(module_globals, (kind, name))
        return found

    return ask


def _is_library(module_globals: Mapping[str, Any], name: str) -> bool:
    value = module_globals.get(name)
    return isinstance(value, ModuleType) and policy.is_library_module(value)


def _is_directive(module_globals: Mapping[str, Any], dotted: str) -> bool:
    """Return whether a name, or a chain of attributes, refers to `set_loop_options`."""
    first, *rest = dotted.split(".")
    if first not in module_globals:  # a variable of the function, or of an enclosing one
        return looks_like_directive(dotted)
    found = module_globals[first]
    if rest and rest[-1] != set_loop_options.__name__:
        return False  # avoid reading attributes, which may run code
    for name in rest:
        found = getattr(found, name, None)
    return found is set_loop_options


def _is_builtin(module_globals: Mapping[str, Any], name: str) -> bool:
    return name not in module_globals and hasattr(builtins, name)


_ANSWERS = {"library": _is_library, "builtin": _is_builtin, "directive": _is_directive}
