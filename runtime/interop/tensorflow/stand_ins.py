"""Modules that libraries import and that the runtime does not have: Keras 2, and TensorFlow's own AutoGraph.

    from tensorflow.python.autograph.pyct import transformer       ==>    a stand-in, as all names in it are
    class Rewriter(transformer.Base): ...                          ==>    a class; NotImplementedError for its instances
    tf_keras.optimizers.Adam(0.1)                                  ==>    tf.keras.optimizers.Adam(0.1), of Keras 3

TensorFlow Probability imports them all, for parts that few programs use. So a stand-in is resolved when a program calls
it or asks for instances of it, not when it is imported.
"""

from __future__ import annotations

import functools
import operator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import agc.runtime as runtime

from .keras_2_optimizers import with_methods_of_keras_2

KERAS_2 = "tf_keras"
_PARTS_OF_KERAS = [
    "Input", "Model", "Sequential", "activations", "backend", "constraints", "initializers", "layers", "losses",
    "metrics", "models", "optimizers", "regularizers", "utils",
]  # fmt: skip


class StandIn(ModuleType):
    """A module, class or function that another library or part of TensorFlow would have, by its name."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"{name}, of which agc has nothing.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__" and self.__name__ == KERAS_2:
            return _PARTS_OF_KERAS
        if name.startswith("__") and name != "__internal__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        return stand_in(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what Keras 3 has by this name. NotImplementedError if there is no such thing.

        A missing initializer is made, and refuses to be called: TensorFlow Probability has some as default arguments.
        """
        name = self.__name__
        try:
            found = _resolved(name)
        except NotImplementedError:
            if not name.startswith(f"{KERAS_2}.initializers.") or name.endswith("()"):
                raise
            return stand_in(f"{name}()")
        return found(*args, **kwargs)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_base_class(self.__name__),)

    def __instancecheck__(self, instance: Any) -> bool:
        try:
            return isinstance(instance, _in_keras_3(self.__name__))
        except NotImplementedError:
            return False


@functools.cache
def stand_in(name: str) -> StandIn:
    """Return the stand-in with this name, always the same one."""
    return StandIn(name)


_REGISTRIES: dict[str, Any] = {
    "tf_keras.__internal__.utils.register_symbolic_tensor_type": lambda kind: None,
    "tf_keras.utils.get_custom_objects": dict,
}
"""The functions by which layers for Keras 2 register themselves when they are imported, and that do nothing here."""


def _resolved(name: str) -> Any:
    """Return what takes the place of a name of Keras 2; NotImplementedError if there is no such thing."""
    if name in _REGISTRIES:
        return _REGISTRIES[name]
    found = _in_keras_3(name)
    if isinstance(found, type) and issubclass(found, runtime.keras.optimizers.Optimizer):
        return with_methods_of_keras_2(found)
    return found


def _in_keras_3(name: str) -> Any:
    """Return what `tf.keras` calls by a name of `tf_keras`; NotImplementedError if there is no such thing."""
    top, _, path = name.partition(".")
    if top != KERAS_2:
        raise NotImplementedError(f"{name} is private code of TensorFlow, which agc.runtime does not have")
    try:
        return operator.attrgetter(f"keras.{path}")(runtime)
    except ImportError as error:
        raise NotImplementedError(f"{name} is not there. {error}") from None
    except AttributeError:
        raise NotImplementedError(f"{name} is not in Keras 3, and agc.runtime has no Keras 2") from None


@functools.cache
def _base_class(name: str) -> type:
    """Return the class that takes the place of one of Keras 2, or one that has no instances."""
    try:
        return _resolved(name)  # type: ignore[no-any-return]
    except NotImplementedError as error:
        reason = str(error)

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(reason)

    return type(name.rpartition(".")[2], (), {"__init__": refuse})


class StandInFinder(MetaPathFinder, Loader):
    """Import `tf_keras` and its modules as stand-ins."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] == KERAS_2 else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return stand_in(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stand-in has no code."""
