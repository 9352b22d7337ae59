"""How many predictions above a threshold are right and wrong, and what is computed from these four numbers.

>>> Precision()([1, 0, 1], [0.9, 0.8, 0.1]).numpy(), Recall()([1, 0, 1], [0.9, 0.8, 0.1]).numpy()
(np.float32(0.5), np.float32(0.5))
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from agc import runtime as tf

from .. import notes
from ..losses.reducing import masked_weight, same_rank
from .base import Metric


def counts(
    y_true: Any, y_pred: Any, sample_weight: Any, thresholds: Any, dtype: Any, is_multi_label: bool = False
) -> dict[str, Any]:
    """For each threshold the weight of the true and false positives and negatives: "tp", "fp", "tn", "fn".

    With `is_multi_label`, for each threshold and each label, which are the last dimension.
    """
    weights = sample_weight
    y_true, y_pred = same_rank(tf.cast(y_true, dtype), tf.cast(y_pred, dtype))
    weight = tf.ones_like(y_pred)
    if weights is not None:
        given = tf.cast(weights, dtype)
        missing = y_pred.shape.rank - given.shape.rank
        weight *= tf.reshape(given, tf.concat([tf.shape(given), [1] * missing], 0)) if missing > 0 else given
    shape = [1, -1, y_pred.shape[-1]] if is_multi_label else [1, -1]
    y_true, y_pred, weight = (tf.reshape(x, shape) for x in (y_true, y_pred, weight))
    edges = tf.reshape(tf.constant(np.asarray(thresholds), dtype), [-1, *[1] * (len(shape) - 1)])
    chosen = tf.cast(y_pred > edges, dtype)
    right = tf.cast(tf.not_equal(y_true, 0), dtype)
    table = {"tp": chosen * right, "fp": chosen * (1 - right), "fn": (1 - chosen) * right}
    table["tn"] = (1 - chosen) * (1 - right)
    return {name: tf.reduce_sum(found * weight, axis=1) for name, found in table.items()}


_LOWEST = [-1e30]
"""The threshold where only the order of predictions counts: above minus infinity, below all others."""


def _checked(thresholds: Any) -> list[float]:
    values = [0.5] if thresholds is None else [*np.atleast_1d(thresholds).tolist()]
    wrong = [value for value in values if value is None or not 0 <= value <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {wrong}")
    return values


def only_top(y_pred: Any, k: int) -> Any:
    """The predictions, but minus infinity for all but the `k` highest."""
    _, places = tf.math.top_k(y_pred, k=k, sorted=False)
    chosen = tf.reduce_sum(tf.one_hot(places, tf.shape(y_pred)[-1], dtype=y_pred.dtype), axis=-2)
    return tf.where(chosen > 0, y_pred, tf.zeros_like(y_pred) - float("inf"))


class _Counted(Metric):
    """Base class of what counts at one or more thresholds. `kinds` are the numbers that it needs."""

    kinds: ClassVar[dict[str, str]]

    def __init__(
        self,
        thresholds: Any = None,
        name: str | None = None,
        dtype: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
    ) -> None:
        super().__init__(dtype, name)
        self.init_thresholds = thresholds
        self.top_k, self.class_id = top_k, class_id
        self.thresholds = _LOWEST if thresholds is None and top_k is not None else _checked(thresholds)
        for attribute in self.kinds.values():
            setattr(self, attribute, self.add_weight((len(self.thresholds),), name=attribute))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_pred = tf.convert_to_tensor(y_pred)
        weight = masked_weight(sample_weight, notes.masks.get(y_pred), self._dtype, "sum")
        y_true, y_pred = same_rank(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        if self.top_k is not None:
            y_pred = only_top(y_pred, self.top_k)
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        found = counts(y_true, y_pred, weight, self.thresholds, self._dtype)
        for kind, attribute in self.kinds.items():
            getattr(self, attribute).assign_add(found[kind])

    def _single(self, values: Any) -> Any:
        """All values, or the one that there is."""
        return values[0] if len(self.thresholds) == 1 else tf.identity(values)

    def get_config(self) -> dict[str, Any]:
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


class Precision(_Counted):
    """The share of those predicted positive that are.

    Args:
        thresholds: above which predictions are positive: a number or several in [0, 1] (default 0.5).
        top_k: count only the highest predictions of each sample.
        class_id: count only this class.
    """

    kinds = {"tp": "true_positives", "fp": "false_positives"}
    true_positives: Any
    false_positives: Any

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(thresholds, name, dtype, top_k, class_id)

    def result(self) -> Any:
        found = tf.identity(self.true_positives)
        return self._single(tf.math.divide_no_nan(found, found + self.false_positives))


class Recall(_Counted):
    """The share of the positive that are predicted so. Arguments as those of `Precision`."""

    kinds = {"tp": "true_positives", "fn": "false_negatives"}
    true_positives: Any
    false_negatives: Any

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(thresholds, name, dtype, top_k, class_id)

    def result(self) -> Any:
        found = tf.identity(self.true_positives)
        return self._single(tf.math.divide_no_nan(found, found + self.false_negatives))


class _Count(_Counted):
    """Base class of those that are one of the four numbers."""

    accumulator: Any

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(thresholds, name, dtype)

    def result(self) -> Any:
        return self._single(self.accumulator)

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype, "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """How many are predicted positive, and are."""

    kinds = {"tp": "accumulator"}


class FalsePositives(_Count):
    """How many are predicted positive, and are not."""

    kinds = {"fp": "accumulator"}


class TrueNegatives(_Count):
    """How many are predicted negative, and are."""

    kinds = {"tn": "accumulator"}


class FalseNegatives(_Count):
    """How many are predicted negative, and are not."""

    kinds = {"fn": "accumulator"}
