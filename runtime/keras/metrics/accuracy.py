"""The share of predictions that are right.

>>> metric = SparseCategoricalAccuracy()
>>> metric([1, 0], [[0.2, 0.8], [0.1, 0.9]]).numpy()
np.float32(0.5)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .. import settings
from ..losses.reducing import same_rank
from .base import MeanMetricWrapper


def _matches(one: Any, other: Any) -> Any:
    return tf.cast(tf.equal(one, other), settings.floatx())


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where prediction and target are equal, 0 elsewhere."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true, y_pred = same_rank(tf.cast(tf.convert_to_tensor(y_true), y_pred.dtype), y_pred)
    return _matches(y_true, y_pred)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """1 where the prediction is on the right side of `threshold`, 0 elsewhere."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true, y_pred = same_rank(tf.cast(tf.convert_to_tensor(y_true), y_pred.dtype), y_pred)
    return _matches(y_true, tf.cast(y_pred > threshold, y_pred.dtype))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the highest prediction is that of the one-hot label's class."""
    return _matches(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))


def _labels(y_true: Any, y_pred: Any) -> Any:
    labels = tf.convert_to_tensor(y_true)
    if labels.shape.rank == y_pred.shape.rank and labels.shape[-1] == 1:
        labels = tf.squeeze(labels, [-1])
    return tf.cast(labels, tf.int64)


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the highest prediction is that of the label's class."""
    y_pred = tf.convert_to_tensor(y_pred)
    return _matches(_labels(y_true, y_pred), tf.argmax(y_pred, axis=-1))


def _is_among_top(labels: Any, y_pred: Any, k: int) -> Any:
    """Whether fewer than `k` predictions are higher than that of the label's class, all being finite there."""
    own = tf.gather(y_pred, labels, batch_dims=labels.shape.rank)
    higher = tf.reduce_sum(tf.cast(y_pred > tf.expand_dims(own, -1), tf.int32), axis=-1)
    return tf.cast(tf.logical_and(higher < k, tf.math.is_finite(own)), settings.floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the one-hot label's class is among the `k` highest predictions."""
    return _is_among_top(tf.argmax(y_true, axis=-1), tf.convert_to_tensor(y_pred), k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the label's class is among the `k` highest predictions."""
    y_pred = tf.convert_to_tensor(y_pred)
    return _is_among_top(_labels(y_true, y_pred), y_pred, k)


class Accuracy(MeanMetricWrapper):
    """How often predictions equal the targets."""

    def __init__(self, name: str | None = "accuracy", dtype: Any = None) -> None:
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the right side of `threshold`."""

    def __init__(
        self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5
    ) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the highest prediction is right, for one-hot labels."""

    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the highest prediction is right, for integer labels."""

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the right class is among the `k` highest predictions, for one-hot labels."""

    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the right class is among the `k` highest predictions, for integer labels."""

    def __init__(
        self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)
