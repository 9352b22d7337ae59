"""The calls that operations keep for eager calls with the same key."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
from agc.runtime.core.export import EXPORTED
from agc.runtime.ops.framework.eager_calls import EagerCall
from agc.runtime.ops.framework.op import REGISTRY


def kept_by(name: str) -> list[Any]:
    """Return the calls that an operation keeps."""
    return [call for call in REGISTRY[name]._calls.values() if isinstance(call, EagerCall)]


def cached_functions() -> list[Any]:
    """Return the exported functions that keep calls."""
    return [value for value in EXPORTED.values() if isinstance(value, type(tf.concat))]


def all_operations() -> list[Any]:
    """Return all that keeps calls: the registered operations, and the cached functions."""
    return [*REGISTRY.values(), *cached_functions()]


def forget_all_calls() -> None:
    """Let all operations forget their calls."""
    for operation in all_operations():
        operation._calls.clear()
