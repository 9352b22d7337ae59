"""Describe one public value: a function, an operation, a class with its methods.

Op sinh   ==>   signature, docstring, dtypes, and whether it has a gradient and native code
"""

from __future__ import annotations

import inspect
from collections.abc import Container
from typing import Any

from agc.runtime import dtypes
from agc.runtime.ops.framework.op import Op

from .docstrings import markdown

OPEN, CLOSE = "::::::", "::::::"


def is_described(value: Any) -> bool:
    """Return whether the value has a description of its own; constants have only a row in the table."""
    return callable(value) and bool(inspect.getdoc(value)) and not isinstance(value, dtypes.DType)


def constant(value: Any) -> str:
    """Return a constant as a cell of a table."""
    shown = repr(value)
    return "" if " at 0x" in shown or len(shown) > 60 else f"`{shown}`".replace("|", "\\|")


def text(name: str, value: Any, described: Container[int] = ()) -> str:
    """Return the description of a public value; `described` are the identities of all that have one."""
    if inspect.isclass(value):
        return class_text(name, value, described)
    return directive("function", f"{name}{signature(value)}", f"{markdown(value.__doc__)}\n\n{facts(value)}")


def class_text(name: str, cls: type, described: Container[int]) -> str:
    """Return the description of a class and of its methods and properties."""
    parts = [markdown(inspect.getdoc(cls) or "")]
    for key, member in sorted(public_members(cls, described).items()):
        docstring = inspect.getdoc(member) or ""
        if isinstance(member, property):
            parts.append(directive("property", key, markdown(docstring), ":"))
        else:
            function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            skipped = not isinstance(member, staticmethod)
            parts.append(
                directive("method", f"{key}{signature(function, skipped)}", markdown(docstring), ":")
            )
    return directive("class", f"{name}{signature(cls)}", "\n".join(parts))


def public_members(cls: type, described: Container[int]) -> dict[str, Any]:
    """Return the documented methods and properties of a class, and those of bases that have no description."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is cls or (base.__module__.startswith("agc.") and id(base) not in described):
            for key, value in vars(base).items():
                is_method = isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(
                    value
                )
                if is_method and not key.startswith("_") and inspect.getdoc(value):
                    members[key] = value
    return members


def signature(value: Any, is_method: bool = False) -> str:
    """Return the parameters and their defaults; annotations say what an argument becomes, so they are left out."""
    try:
        parameters = [*inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return "()"
    shown = [each.replace(annotation=inspect.Parameter.empty) for each in parameters[1 if is_method else 0 :]]
    try:
        whole = str(inspect.Signature([each.replace(default=_default(each.default)) for each in shown]))
    except ValueError:
        return "()"
    return " ".join(whole.split())


class _Shown:
    """A default with a short repr."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _default(value: Any) -> Any:
    """Return a default whose repr is an expression."""
    if value is inspect.Parameter.empty or isinstance(value, (bool, int, float, str, tuple, type(None))):
        return value
    name = getattr(value, "__name__", None)
    shown = repr(value)
    return _Shown(name) if isinstance(name, str) else value if "<" not in shown else _Shown("...")


def directive(kind: str, argument: str, body: str, less: str = "") -> str:
    """Return a directive of Sphinx; `less` are colons that an inner directive has fewer."""
    fence = OPEN.removesuffix(less)
    return f"{fence}{{py:{kind}}} {argument}\n\n{body}\n{fence}\n"


def facts(value: Any) -> str:
    """Return what the declaration of an operation says besides its docstring."""
    if not isinstance(value, Op):
        return ""
    allowed = inspect.getclosurevars(value.rule).nonlocals.get("allowed")
    names = [each.name for each in (*dtypes.ALL, dtypes.bfloat16) if allowed and each in allowed]
    line = [f"*dtypes:* {', '.join(names)}"] if names else []
    if value.differentiate is not None:
        line.append("differentiable")
    return " · ".join(line)
