"""Declare the public names of a value where the value is defined.

    @export("nn.relu6")                               tf.nn.relu6
    def relu6(features, name=None): ...

    exp = unary("exp", …, export=("math.exp", "exp"))     tf.math.exp, tf.exp

`make generate` writes the modules of the public namespaces, such as runtime/math.py, from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from agc.autograph import api

T = TypeVar("T")

EXPORTED: dict[str, Any] = {}
"""Each public name whose module is imported, without `tf.`, and its value."""


def export(*names: str) -> Callable[[T], T]:
    """Return a decorator that records the value under these public names, such as "math.exp".

    ValueError for a name that another value has.
    """
    return lambda value: _recorded(value, names)


def export_member(function: T, manual: str, export: tuple[str, ...]) -> T:
    """Export a function of a family, under public names such as "nn.conv2d"; set its name and docstring."""
    function.__name__ = function.__qualname__ = export[0].rpartition(".")[2]  # type: ignore[attr-defined]
    function.__doc__ = manual
    return _recorded(function, export)


def _recorded(value: T, names: tuple[str, ...]) -> T:
    for name in names:
        if name in EXPORTED:
            raise ValueError(f"tf.{name} is declared twice")
        EXPORTED[name] = value
    api.filter_function(value)
    return value
