"""Where things are public: `tf.math.add` is agc's function in one module and TensorFlow's in another.

>>> import agc.runtime as tf
>>> found(tf, "tf.math.add") is tf.add
True
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

INTERNAL = {"tf.ir", "tf.dtypes.numpy", "tf.onnx"}
"""Modules of agc that TensorFlow has nothing like; some need packages that its environment lacks."""


def found(tf: Any, path: str) -> Any:
    """The object of a public name; AttributeError where there is none."""
    value = tf
    for name in path.split(".")[1:]:
        value = getattr(value, name)
    return value


def public(tf: Any) -> Iterator[tuple[str, Any]]:
    """All that agc offers, by path: the names in `__all__` of its modules, and of modules in there."""
    yield from _public("tf", tf, {id(tf)})


def _public(path: str, module: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        place = f"{path}.{name}"
        if place.replace("tf.compat.v2.", "tf.") in INTERNAL:
            continue
        value = getattr(module, name)
        if not inspect.ismodule(value):
            yield place, value
        elif hasattr(value, "__all__") and id(value) not in seen:
            seen.add(id(value))
            yield from _public(place, value, seen)


@cache
def paths(tf: ModuleType) -> dict[int, str]:
    """The first public path of each object, by identity."""
    places: dict[int, str] = {id(tf): "tf"}
    for path, value in public(tf):
        places.setdefault(id(value), path)
    for path in {path.rpartition(".")[0] for path in places.values()} - {"", "tf"}:
        places.setdefault(id(found(tf, path)), path)
    return places
