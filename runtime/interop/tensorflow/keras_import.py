"""Keras on this runtime: load the package `keras` so that it finds the runtime as its TensorFlow.

    import tensorflow as tf      in a module of Keras       ==>    the facade of this runtime
    import tensorflow as tf      in any other module        ==>    as without agc

An import statement calls `__import__` of the built-in names of its module. Modules of Keras get their own, which
answers for `tensorflow` itself and forwards all other names. So `sys.modules` never names a `tensorflow`.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.abc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from ...autograph_backend import register_variables
from . import facade
from .keras_predicates import ADDED, REPLACED, WRAPPED

PUBLIC = "keras._tf_keras.keras"
"""The module that TensorFlow calls `tf.keras`: Keras with the names of older versions that only `tf.keras` had."""

ALIAS = "agc.runtime.keras"


def import_keras() -> ModuleType:
    """Return the package that is `tf.keras`: Keras with this runtime as its backend.

    Raises ImportError when Keras is not installed, when it is already imported with another backend, when the
    environment variable KERAS_BACKEND names another one, or when TensorFlow itself is imported.
    """
    prepare()
    return importlib.import_module(PUBLIC)


def prepare() -> None:
    """Let imports of Keras find it with this runtime as its backend; raise as `import_keras`."""
    if _FINDER not in sys.meta_path:
        _check()
        sys.meta_path.insert(0, _FINDER)


def is_installed() -> bool:
    """Return whether there is a package Keras."""
    return PathFinder.find_spec("keras") is not None


def _check() -> None:
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    loaded = sys.modules.get(facade.NAME)
    if not is_installed():
        raise ImportError("tf.keras is the package Keras. Install it: pip install 'agc-autograph[keras]'")
    if "keras" in sys.modules:
        raise ImportError(
            "Keras is imported already, with another backend. Import agc.runtime.keras before keras."
        )
    if backend != "tensorflow":
        raise ImportError(
            f"The environment variable KERAS_BACKEND is {backend!r}, but agc runs Keras on its TensorFlow backend. "
            "Unset the variable."
        )
    if loaded is not None and not isinstance(loaded, facade.Facade):
        raise ImportError(
            "TensorFlow itself is imported in this process, so agc cannot take its place in Keras."
        )


class _KerasFinder(MetaPathFinder):
    """Load modules of Keras by `_KerasLoader`, and `agc.runtime.keras.x` as the module of Keras that it is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith(f"{ALIAS}."):
            return ModuleSpec(fullname, AliasLoader(PUBLIC + fullname.removeprefix(ALIAS)))
        if fullname != "keras" and not fullname.startswith("keras."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _KerasLoader(fullname, spec.loader.path)
        return spec


_FINDER = _KerasFinder()


class AliasLoader(importlib.abc.Loader):
    """Load a module that exists by another name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the import makes an empty module, which `exec_module` exchanges."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self.name)


class _KerasLoader(SourceFileLoader):
    """Execute a module with built-in names that import the runtime as TensorFlow."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = _BUILTINS
        if module.__name__.endswith("keras.wrappers"):  # imports scikit-learn, which takes longer than Keras
            self._execute_at_first_use(module)
            return
        with _backend() if module.__name__ == "keras.src.backend.config" else contextlib.nullcontext():
            super().exec_module(module)
        vars(module).update(REPLACED.get(module.__name__, {}))
        if module.__name__ in ADDED:
            kind, method = ADDED[module.__name__]
            setattr(getattr(module, kind), method.__name__, method)
        for kind, name, changed in WRAPPED.get(module.__name__, ()):
            owner = getattr(module, kind) if kind else module
            setattr(owner, name, changed(getattr(owner, name)))
        if module.__name__ == "keras.src.backend.tensorflow.core":
            register_variables(module.Variable)
        if module.__name__ == "keras.src.utils.module_utils":
            module.tensorflow.module = facade.tensorflow()
            module.gfile.module = facade.import_part("tensorflow.io.gfile")
            module.tensorflow._available = module.gfile._available = True

    def _execute_at_first_use(self, module: ModuleType) -> None:
        def load() -> None:
            SourceFileLoader.exec_module(self, module)
            for hook in hooks:
                vars(module).pop(hook, None)

        def of(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            load()
            return getattr(module, name)

        def names() -> list[str]:
            load()
            return dir(module)

        hooks = {"__getattr__": of, "__dir__": names}
        vars(module).update(hooks)


@contextlib.contextmanager
def _backend() -> Iterator[None]:
    """Choose TensorFlow's backend, whatever the configuration file of Keras says."""
    before = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        yield
    finally:
        if before is None:
            del os.environ["KERAS_BACKEND"]


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level == 0 and name.partition(".")[0] == facade.NAME:
        part = facade.import_part(name)
        return part if fromlist else facade.tensorflow()
    if name == "jax" and (globals or {}).get("__name__") == "keras.src.callbacks.orbax_checkpoint":
        raise ImportError("Keras changes old versions of JAX here, and would import it for each program")
    return builtins.__import__(name, globals, locals, fromlist or (), level)


def _forwarded(name: str) -> Callable[..., Any]:
    """Return a function that calls the built-in function of this name, which programs and tests may replace."""
    return lambda *args, **kwargs: getattr(builtins, name)(*args, **kwargs)


_REPLACED_OFTEN = "input", "open", "print"
_BUILTINS = {**vars(builtins), **{name: _forwarded(name) for name in _REPLACED_OFTEN}, "__import__": _import}
