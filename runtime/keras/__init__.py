"""The module `tf.keras`: layers, models and what trains them. Each room is loaded when it is first asked for.

>>> from agc import runtime as tf
>>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
>>> model(tf.constant([[1.0, 2.0]])).numpy().tolist()
[[3.0]]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..core.missing_names import missing_name

if TYPE_CHECKING:
    from . import (
        activations,
        backend,
        callbacks,
        config,
        constraints,
        initializers,
        layers,
        losses,
        metrics,
        models,
        optimizers,
        random,
        regularizers,
        utils,
    )
    from .initializers import Initializer as Initializer
    from .layers import Input as Input
    from .layers import InputSpec as InputSpec
    from .layers import Layer as Layer
    from .losses import Loss as Loss
    from .metrics import Metric as Metric
    from .models import Model as Model
    from .models import Sequential as Sequential
    from .optimizers import Optimizer as Optimizer
    from .regularizers import Regularizer as Regularizer
    from .symbolic import KerasTensor as KerasTensor

__version__ = "3.15.1"
"""The Keras whose names and behavior this is."""

_ROOMS = frozenset({
    "activations", "backend", "callbacks", "config", "constraints", "initializers", "layers", "losses", "metrics",
    "models", "optimizers", "random", "regularizers", "utils",
})  # fmt: skip

_MEMBERS = {
    "Initializer": ".initializers", "Input": ".layers", "InputSpec": ".layers", "KerasTensor": ".symbolic",
    "Layer": ".layers", "Loss": ".losses", "Metric": ".metrics", "Model": ".models", "Optimizer": ".optimizers",
    "Regularizer": ".regularizers", "Sequential": ".models",
}  # fmt: skip


if not TYPE_CHECKING:  # for mypy only the names that are imported above exist

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"{__name__}.{name}")
        if name in _MEMBERS:
            value = globals()[name] = getattr(importlib.import_module(_MEMBERS[name], __name__), name)
            return value
        raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "activations", "backend", "callbacks", "config", "constraints", "initializers", "layers", "losses", "metrics",
    "models", "optimizers", "random", "regularizers", "utils",
    *_MEMBERS,
]  # fmt: skip
