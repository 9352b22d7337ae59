"""The signatures of Python functions in TensorFlow's saved models, and the arguments that fit their graphs.

FullArgSpec(args=["self", "x", "training"], defaults=[False])     ==>     (x, training=False)
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Mapping
from typing import Any


def described(spec: Any, is_method: bool) -> inspect.Signature:
    """Return the signature of a function from its `FullArgSpec`, without `self`; without one any arguments."""
    kind = inspect.Parameter
    if spec is None:
        return inspect.Signature([kind("args", kind.VAR_POSITIONAL), kind("kwargs", kind.VAR_KEYWORD)])
    names, defaults = list(spec.args)[1 if is_method else 0 :], list(spec.defaults or ())
    values = dict(zip(reversed(names), reversed(defaults), strict=False))
    parameters = [_parameter(name, kind.POSITIONAL_OR_KEYWORD, values) for name in names]
    if spec.varargs:
        parameters.append(_parameter(spec.varargs, kind.VAR_POSITIONAL, {}))
    parameters += [_parameter(name, kind.KEYWORD_ONLY, spec.kwonlydefaults or {}) for name in spec.kwonlyargs]
    if spec.varkw:
        parameters.append(_parameter(spec.varkw, kind.VAR_KEYWORD, {}))
    return inspect.Signature(parameters)


def _parameter(name: str, kind: Any, defaults: Mapping[str, Any]) -> inspect.Parameter:
    if unicodedata.normalize("NFKC", name) != name:
        raise ValueError(f"{name!r} is not a valid name of a parameter")
    return inspect.Parameter(name, kind, default=defaults.get(name, inspect.Parameter.empty))


def bound(
    signature: inspect.Signature | None, like: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call in the form of `like`, those that a graph was saved with."""
    if signature is None:
        return args, dict(kwargs)
    given = signature.bind(*args, **kwargs)
    given.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        value = given.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        else:
            named[parameter.name] = value
            if parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append(value)
    return tuple(positional[: len(like[0])]), {name: named[name] for name in like[1]}
