"""The module `tensorflow`: the public names of the runtime, and TensorFlow's internal names from a table.

import_part("tensorflow.python.eager.context")    ==>    a module with `context`, `async_wait` …
import_part("tensorflow.nn")                      ==>    agc.runtime.nn
import_part("tensorflow.compat.v2")               ==>    import_part("tensorflow")
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Any

from .internal_names import INTERNAL_NAMES
from .stand_ins import stand_in

NAME = "tensorflow"


_AUTOGRAPH = "python.autograph"


class Facade(ModuleType):
    """A module whose names are those of a table, and then those of a module of the runtime."""

    def __init__(self, path: str, target: Any) -> None:
        super().__init__(".".join(filter(None, (NAME, path))), getattr(target, "__doc__", None))
        self.__path__: list[str] = []
        self.__file__ = __file__
        self._path = path
        self._target = target

    def __getattr__(self, name: str) -> Any:
        inner = ".".join(filter(None, (self._path, name)))
        definition = INTERNAL_NAMES.get(self._path, {}).get(name)
        if definition is not None:
            value = _defined(definition)
        elif inner == "compat.v2":
            value = tensorflow()
        elif inner == _AUTOGRAPH:
            value = stand_in(f"{NAME}.{inner}")
        elif inner in _parts():
            value = Facade(inner, getattr(self._target, name, None))
        elif self._target is None or name in _OF_MODULES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        else:
            value = getattr(self._target, name)
        setattr(self, name, value)  # Keras reads a few names in each call of an operation
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._target), *INTERNAL_NAMES.get(self._path, ())})


def _defined(definition: str) -> Any:
    """Return what an entry of the table defines: a name in a module of the runtime, or in one of Python."""
    module, _, name = definition.partition(":")
    return getattr(importlib.import_module(f"agc.runtime.{module}" if module != "inspect" else module), name)


_OF_MODULES = {"__spec__", "__all__"}


@functools.cache
def _parts() -> frozenset[str]:
    """Return the paths of modules with internal names, and of those around them: a, a.b and a.b.c for a.b.c."""
    paths = [path.split(".") for path in INTERNAL_NAMES]
    return frozenset(".".join(path[:end]) for path in paths for end in range(1, len(path) + 1))


_PRIVATE = ("tensorflow.python.", "tensorflow.core.", "tensorflow.compiler.")


@functools.cache
def tensorflow() -> ModuleType:
    """Return the module `tensorflow`, always the same one."""
    # An import of the package that contains this module is a circle.
    return Facade("", sys.modules["agc.runtime"])


def import_part(name: str) -> Any:
    """Return the module `tensorflow` or `tensorflow.a.b`.

    Raises ModuleNotFoundError for a part that does not exist, ImportError for one of TensorFlow's private modules:
    Python replaces the message of a ModuleNotFoundError in `from tensorflow.python.ops import array_ops`.
    """
    found: Any = tensorflow()
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None and name.startswith(_PRIVATE):
            raise ImportError(
                f"{name} is private code of TensorFlow, which agc.runtime does not have; use the public names of tf",
                name=name,
            )
        if found is None:
            raise ModuleNotFoundError(
                f"No module named {name!r}: agc.runtime, which takes the place of TensorFlow, has no such part",
                name=name,
            )
    return found
