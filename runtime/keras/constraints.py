"""Constraints: what a weight is turned into after each update.

>>> NonNeg()([-1.0, 2.0]).numpy().tolist()
[0.0, 2.0]
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from ..core.missing_names import explain as _explain
from . import settings
from .registry import Room


class Constraint:
    """Base class: `__call__(w)` gives the weight that takes its place."""

    def __call__(self, w: Any) -> Any:
        raise NotImplementedError("Constraint subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Constraint:
        return cls(**config)


class NonNeg(Constraint):
    """Negative numbers become 0."""

    def __call__(self, w: Any) -> Any:
        return tf.nn.relu(tf.convert_to_tensor(w))


class _Norm(Constraint):
    """Base class of those about the norm along `axis`: for a Dense layer's kernel that of each unit's weights."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def _norm(self, w: Any) -> Any:
        return tf.sqrt(tf.reduce_sum(tf.square(w), axis=self.axis, keepdims=True))


class MaxNorm(_Norm):
    """Norms above `max_value` are cut down to it."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        super().__init__(axis)
        self.max_value = max_value

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norm = self._norm(w)
        return w * (tf.clip_by_value(norm, 0.0, float(self.max_value)) / (settings.epsilon() + norm))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


class UnitNorm(_Norm):
    """Norms become 1."""

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        return w / (settings.epsilon() + self._norm(w))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


class MinMaxNorm(_Norm):
    """Norms are brought between two bounds; with a `rate` below 1 only so much of the way."""

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        super().__init__(axis)
        self.min_value, self.max_value, self.rate = min_value, max_value, rate

    def __call__(self, w: Any) -> Any:
        w = tf.convert_to_tensor(w)
        norm = self._norm(w)
        wanted = self.rate * tf.clip_by_value(norm, float(self.min_value), float(self.max_value))
        return w * ((wanted + (1 - self.rate) * norm) / (settings.epsilon() + norm))

    def get_config(self) -> dict[str, Any]:
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


_room = Room("constraint", "keras.constraints", [MaxNorm, NonNeg, UnitNorm, MinMaxNorm])

get, serialize, deserialize = _room.get, _room.serialize, _room.deserialize

max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm

_explain(__name__)
