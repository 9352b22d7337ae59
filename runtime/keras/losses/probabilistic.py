"""How improbable the right answer is by the predictions: crossentropies and their kin.

>>> sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy()
array([0.6931472], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .. import notes, settings
from .regression import both


def _clipped(probabilities: Any) -> Any:
    return tf.clip_by_value(probabilities, settings.epsilon(), 1.0 - settings.epsilon())


def _source(y_pred: Any, from_logits: bool) -> tuple[Any, bool]:
    """Predictions that a layer computed of logits count as these: that is more exact."""
    if from_logits:
        return y_pred, True
    logits = notes.logits.get(y_pred)
    return (y_pred, False) if logits is None else (logits, True)


def _elementwise_binary(y_true: Any, y_pred: Any, from_logits: bool) -> Any:
    source, is_logits = _source(y_pred, from_logits)
    if is_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=source)
    p = _clipped(source)
    return -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


def _smoothed(y_true: Any, label_smoothing: float, others: Any) -> Any:
    return y_true * (1.0 - label_smoothing) + label_smoothing / others if label_smoothing else y_true


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """The mean of `-log(p)` for labels 1 and `-log(1 - p)` for labels 0."""
    y_true, y_pred = _with_logits(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, 2.0)
    return tf.reduce_mean(_elementwise_binary(y_true, y_pred, from_logits), axis=axis)


def _with_logits(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """`both`, for predictions that may have logits."""
    y_pred = tf.convert_to_tensor(y_pred)
    logits = notes.logits.get(y_pred)
    y_true, fitted = both(y_true, y_pred)
    if logits is not None and fitted is not y_pred:
        notes.logits[fitted] = tf.reshape(logits, tf.shape(fitted))
    return y_true, fitted


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Any:
    """`-sum(y_true * log(p))`, with one-hot labels or probabilities."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(tf.convert_to_tensor(y_true), y_pred.dtype)
    if (
        y_true.shape.rank is not None
        and y_pred.shape.rank is not None
        and y_true.shape.rank != y_pred.shape.rank
    ):
        raise ValueError(
            "Arguments `target` and `output` must have the same rank (ndim). Received: "
            f"target.shape={y_true.shape}, output.shape={y_pred.shape}"
        )
    classes = tf.cast(tf.shape(y_pred)[-1], y_pred.dtype) if label_smoothing else 1.0
    y_true = _smoothed(y_true, label_smoothing, classes)
    source, is_logits = _source(y_pred, from_logits)
    if is_logits:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=source, axis=axis)
    p = _clipped(source / tf.reduce_sum(source, axis=axis, keepdims=True))
    return -tf.reduce_sum(y_true * tf.math.log(p), axis=axis)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Any:
    """`-log(p)` of the class that the integer label names; 0 for `ignore_class`."""
    y_pred = tf.convert_to_tensor(y_pred)
    labels = tf.convert_to_tensor(y_true)
    if labels.shape.rank == y_pred.shape.rank and labels.shape[-1] == 1:
        labels = tf.squeeze(labels, [-1])
    labels = tf.cast(labels, tf.int64)
    source, is_logits = _source(y_pred, from_logits)
    logits = source if is_logits else tf.math.log(_clipped(source))
    if axis not in (-1, (logits.shape.rank or 0) - 1):
        logits = _last(logits, axis)
    if ignore_class is None:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    valid = tf.not_equal(labels, ignore_class)
    chosen = tf.where(valid, labels, tf.zeros_like(labels))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=chosen, logits=logits)
    losses = tf.where(valid, losses, tf.zeros_like(losses))
    notes.masks[losses] = valid
    return losses


def _last(x: Any, axis: int) -> Any:
    """`x` with a dimension moved to the end."""
    order = list(range(x.shape.rank))
    order.append(order.pop(axis))
    return tf.transpose(x, order)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """`sum(y_true * log(y_true / y_pred))`."""
    y_true, y_pred = both(y_true, y_pred)
    p, q = (tf.clip_by_value(y, settings.epsilon(), 1.0) for y in (y_true, y_pred))
    return tf.reduce_sum(p * tf.math.log(p / q), axis=-1)


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """A crossentropy in which what is easy counts little: times `(1 - p of the right label) ** gamma`."""
    y_true, y_pred = both(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, 2.0)
    p = tf.sigmoid(y_pred) if from_logits else y_pred
    right = y_true * p + (1.0 - y_true) * (1.0 - p)
    losses = (1.0 - right) ** gamma * _elementwise_binary(y_true, p, False)
    if apply_class_balancing:
        losses *= y_true * alpha + (1.0 - y_true) * (1.0 - alpha)
    return tf.reduce_mean(losses, axis=axis)


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """`sum(-alpha * (1 - p) ** gamma * y_true * log(p))`, with one-hot labels."""
    y_true, y_pred = both(y_true, y_pred)
    classes = tf.cast(tf.shape(y_pred)[-1], y_pred.dtype) if label_smoothing else 1.0
    y_true = _smoothed(y_true, label_smoothing, classes)
    p = tf.nn.softmax(y_pred, axis=axis) if from_logits else y_pred
    p = _clipped(p / tf.reduce_sum(p, axis=axis, keepdims=True))
    return tf.reduce_sum(-alpha * (1.0 - p) ** gamma * y_true * tf.math.log(p), axis=axis)


def dice(y_true: Any, y_pred: Any, axis: Any = None) -> Any:
    """1 minus twice what both have in common, by what they have together."""
    y_true, y_pred = both(y_true, y_pred)
    common = tf.reduce_sum(y_true * y_pred, axis=axis)
    together = tf.reduce_sum(y_true, axis=axis) + tf.reduce_sum(y_pred, axis=axis) + settings.epsilon()
    return 1.0 - tf.math.divide_no_nan(2.0 * common, together)


def tversky(y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Any = None) -> Any:
    """1 minus the share that is right, with `alpha` and `beta` for what is wrongly there and wrongly missing."""
    y_true, y_pred = both(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=axis)
    there = tf.reduce_sum((1.0 - y_true) * y_pred, axis=axis)
    missing = tf.reduce_sum((1.0 - y_pred) * y_true, axis=axis)
    return 1.0 - tf.math.divide_no_nan(right, right + there * alpha + missing * beta + settings.epsilon())
