"""The module `tf.keras.optimizers`, also `tf.optimizers`: from gradients to new values of variables.

>>> from agc import runtime as tf
>>> v = tf.Variable([1.0])
>>> tf.keras.optimizers.get("sgd").apply_gradients([(tf.constant([1.0]), v)])
>>> v.numpy().tolist()
[0.9900000095367432]
"""

from __future__ import annotations

from ...core.missing_names import explain as _explain
from ..registry import Room
from . import schedules
from .adam import Adam, Adamax, AdamW, Nadam
from .adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from .base import Optimizer
from .descent import SGD, Lion

_room = Room(
    "optimizer",
    "keras.optimizers",
    [SGD, Adam, AdamW, Adamax, Nadam, Adadelta, Adagrad, Ftrl, RMSprop, Lion],
)

get, serialize, deserialize = _room.get, _room.serialize, _room.deserialize

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lion", "Nadam", "Optimizer", "RMSprop", "SGD",
    "deserialize", "get", "schedules", "serialize",
]  # fmt: skip

_explain(__name__)
