"""The module `tf.keras`: layers, models and what trains them. Each room is loaded when it is first asked for.

>>> from agc import runtime as tf
>>> tf.keras.losses.get("mse")([[1.0]], [[3.0]]).numpy().tolist()
[4.0]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import activations, constraints, initializers, losses, metrics, optimizers, random, regularizers

_ROOMS = frozenset({
    "activations", "constraints", "initializers", "losses", "metrics", "optimizers", "random", "regularizers",
})  # fmt: skip

_MEMBERS = {
    "Initializer": ".initializers", "Loss": ".losses", "Metric": ".metrics", "Optimizer": ".optimizers",
    "Regularizer": ".regularizers",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MEMBERS:
        value = globals()[name] = getattr(importlib.import_module(_MEMBERS[name], __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "activations", "constraints", "initializers", "losses", "metrics", "optimizers", "random", "regularizers",
    *_MEMBERS,
]  # fmt: skip
