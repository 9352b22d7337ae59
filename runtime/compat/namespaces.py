"""Other names of `tf.compat.v1`: TensorFlow 2's functions with TensorFlow 1's parameters."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import agc.runtime as runtime

from ..core.missing_names import missing_name
from .functions import OTHER, OWN
from .moved_names import moved
from .parameters import adapted, table

_MOVED = {
    "random_normal": "random.normal",
    "random_uniform": "random.uniform",
    "truncated_normal": "random.truncated_normal",
    "random_shuffle": "random.shuffle",
    "log": "math.log",
    "log1p": "math.log1p",
    "floordiv": "math.floordiv",
    "mod": "math.floormod",
    "reduce_logsumexp": "math.reduce_logsumexp",
    "matrix_inverse": "linalg.inv",
    "cholesky": "linalg.cholesky",
    "nn.softmax_cross_entropy_with_logits_v2": "nn.softmax_cross_entropy_with_logits",
    "nn.ctc_loss_v2": "nn.ctc_loss",
    "nn.ctc_beam_search_decoder_v2": "nn.ctc_beam_search_decoder",
    "zeros_initializer": "initializers.Zeros",
    "ones_initializer": "initializers.Ones",
    "constant_initializer": "initializers.Constant",
    "random_normal_initializer": "initializers.RandomNormal",
    "random_uniform_initializer": "initializers.RandomUniform",
    "truncated_normal_initializer": "initializers.TruncatedNormal",
    "glorot_normal_initializer": "initializers.GlorotNormal",
    "glorot_uniform_initializer": "initializers.GlorotUniform",
    "orthogonal_initializer": "initializers.Orthogonal",
    "variance_scaling_initializer": "initializers.VarianceScaling",
    **{
        f"initializers.{name}": f"initializers.{kind}"
        for name, kind in {
            "constant": "Constant", "glorot_normal": "GlorotNormal", "glorot_uniform": "GlorotUniform",
            "he_normal": "HeNormal", "he_uniform": "HeUniform", "identity": "Identity",
            "lecun_normal": "LecunNormal", "lecun_uniform": "LecunUniform", "ones": "Ones",
            "orthogonal": "Orthogonal", "random_normal": "RandomNormal", "random_uniform": "RandomUniform",
            "truncated_normal": "TruncatedNormal", "variance_scaling": "VarianceScaling", "zeros": "Zeros",
        }.items()
    },
}  # fmt: skip
"""Names that TensorFlow 2 has moved."""

_ONLY_IN_V1 = ("gfile", "manip", "python_io", "spectral")
"""Namespaces that TensorFlow 2 has dissolved."""


class Namespace(ModuleType):
    """A namespace of `tf.compat.v1`, such as `tf.compat.v1.nn`."""

    def __init__(self, path: str, module: ModuleType) -> None:
        super().__init__(f"agc.runtime.compat.v1.{path}", module.__doc__)
        self._path = path
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            value = member(self._module, name, f"{self._path}.")
        except AttributeError:
            pass  # raise this module's error instead
        else:
            self.__dict__[name] = value
            return value
        raise missing_name(self.__name__, name, among=dir(self))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._module) if f"{self._path}.{name}" not in OTHER]


_NAMESPACES: dict[str, Namespace] = {}


def member(module: Any, name: str, prefix: str = "") -> Any:
    """Return TensorFlow 1's form of a name in a runtime module; AttributeError if there is none."""
    path = prefix + name
    if path in OWN:
        return OWN[path]
    if path in OTHER:
        raise AttributeError(name)
    if path in moved():
        return _found(moved()[path])
    if not prefix and name in _ONLY_IN_V1:
        return _NAMESPACES.setdefault(path, Namespace(path, ModuleType(name)))
    value = _found(_MOVED[path]) if path in _MOVED else getattr(module, name)
    if path in table():
        return adapted(value, table()[path])
    if inspect.ismodule(value) and path != "keras":
        return _NAMESPACES.setdefault(path, Namespace(path, value))
    return value


def _found(path: str) -> Any:
    found: Any = runtime
    for part in path.split("."):
        found = getattr(found, part)
    return found
