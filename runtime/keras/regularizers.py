"""Regularizers: what a weight adds to the loss.

>>> L2(0.5)([1.0, 2.0]).numpy()
np.float32(2.5)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from ..core.missing_names import explain as _explain
from .registry import Room


class Regularizer:
    """Base class: `__call__(x)` gives a scalar."""

    def __call__(self, x: Any) -> Any:
        raise NotImplementedError("Regularizer subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} does not implement get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of the sizes, and `l2` times the sum of the squares."""

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1 = _factor("l1", l1 or 0.0)
        self.l2 = _factor("l2", l2 or 0.0)

    def __call__(self, x: Any) -> Any:
        x = tf.convert_to_tensor(x)
        total = tf.zeros([], x.dtype)
        if self.l1:
            total += self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total += self.l2 * tf.reduce_sum(tf.square(x))
        return total

    def get_config(self) -> dict[str, Any]:
        return {"l1": self.l1, "l2": self.l2}


class L1(L1L2):
    """`l1` times the sum of the sizes."""

    def __init__(self, l1: float | None = 0.01) -> None:
        super().__init__(l1=0.01 if l1 is None else l1)

    def get_config(self) -> dict[str, Any]:
        return {"l1": self.l1}


class L2(L1L2):
    """`l2` times the sum of the squares."""

    def __init__(self, l2: float | None = 0.01) -> None:
        super().__init__(l2=0.01 if l2 is None else l2)

    def get_config(self) -> dict[str, Any]:
        return {"l2": self.l2}


class OrthogonalRegularizer(Regularizer):
    """Rows (or columns) of a matrix that are not at right angles cost: `factor` times their mean cosine.

    Args:
        mode: "rows" or "columns".
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        if mode not in ("rows", "columns"):
            raise ValueError(
                f'Invalid value for argument `mode`. Expected one of {{"rows", "columns"}}. Received: mode={mode}'
            )
        self.factor = _factor("factor", factor)
        self.mode = mode

    def __call__(self, x: Any) -> Any:
        x = tf.convert_to_tensor(x)
        if x.shape.rank != 2:
            raise ValueError(
                f"Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape={x.shape}"
            )
        rows = x if self.mode == "rows" else tf.transpose(x)
        rows = tf.math.l2_normalize(rows, axis=1)
        cosines = tf.abs(tf.matmul(rows, tf.transpose(rows)))
        count = tf.cast(tf.shape(rows)[0], x.dtype)
        others = tf.reduce_sum(cosines) - tf.linalg.trace(cosines)
        return self.factor * 0.5 * others / (count * (count - 1) / 2)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "mode": self.mode}


def _factor(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or value < 0 or value != value or value == float("inf"):
        raise ValueError(
            f"Invalid value for argument `{name}`: expected a non-negative float. Received: {name}={value}"
        )
    return float(value)


_room = Room("regularizer", "keras.regularizers", [L1, L2, L1L2, OrthogonalRegularizer], {"l1_l2": L1L2})

get, serialize, deserialize = _room.get, _room.serialize, _room.deserialize

l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer

_explain(__name__)
