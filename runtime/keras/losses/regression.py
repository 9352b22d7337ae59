"""How far numbers are from those that are right: one loss for each sample, the mean over the last dimension.

>>> mean_squared_error([[0.0, 1.0]], [[1.0, 3.0]]).numpy().tolist()
[2.5]
"""

from __future__ import annotations

import math
from typing import Any

from agc import runtime as tf

from .. import settings
from .reducing import same_rank


def both(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Targets and predictions as tensors of the predictions' dtype and of one rank."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(tf.convert_to_tensor(y_true), y_pred.dtype)
    return same_rank(y_true, y_pred)


def _mean(values: Any) -> Any:
    return tf.reduce_mean(values, axis=-1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """`mean((y_true - y_pred)²)`."""
    y_true, y_pred = both(y_true, y_pred)
    return _mean(tf.math.squared_difference(y_pred, y_true))


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """`mean(|y_true - y_pred|)`."""
    y_true, y_pred = both(y_true, y_pred)
    return _mean(tf.abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """`100 * mean(|y_true - y_pred| / |y_true|)`."""
    y_true, y_pred = both(y_true, y_pred)
    return 100.0 * _mean(tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), settings.epsilon())))


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """`mean((log(y_true + 1) - log(y_pred + 1))²)`; negative numbers count as 0."""
    y_true, y_pred = both(y_true, y_pred)
    logs = [tf.math.log(tf.maximum(y, settings.epsilon()) + 1.0) for y in (y_true, y_pred)]
    return _mean(tf.square(logs[0] - logs[1]))


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """Minus the cosine of the angle between the two: -1 for the same direction."""
    y_true, y_pred = both(y_true, y_pred)
    return -tf.reduce_sum(tf.math.l2_normalize(y_true, axis) * tf.math.l2_normalize(y_pred, axis), axis=axis)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """`error² / 2` up to `delta`, a straight line from there on."""
    y_true, y_pred = both(y_true, y_pred)
    size = tf.abs(y_pred - y_true)
    return _mean(tf.where(size <= delta, 0.5 * tf.square(size), delta * size - 0.5 * delta * delta))


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """`mean(log(cosh(y_pred - y_true)))`."""
    y_true, y_pred = both(y_true, y_pred)
    error = y_pred - y_true
    return _mean(error + tf.nn.softplus(-2.0 * error) - math.log(2.0))


def poisson(y_true: Any, y_pred: Any) -> Any:
    """`mean(y_pred - y_true * log(y_pred))`."""
    y_true, y_pred = both(y_true, y_pred)
    return _mean(y_pred - y_true * tf.math.log(y_pred + settings.epsilon()))


def _signs(y_true: Any) -> Any:
    """Labels 0 and 1 as -1 and 1; others stay as they are."""
    is_binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return tf.where(is_binary, 2.0 * y_true - 1.0, y_true)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """`mean(max(1 - y_true * y_pred, 0))`, with labels -1 and 1 (0 counts as -1)."""
    y_true, y_pred = both(y_true, y_pred)
    return _mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0))


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """`mean(max(1 - y_true * y_pred, 0)²)`."""
    y_true, y_pred = both(y_true, y_pred)
    return _mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)))


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """`max(highest wrong - right + 1, 0)`, with one-hot labels."""
    y_true, y_pred = both(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, 0.0)
