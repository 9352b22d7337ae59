"""How well regions of classes overlap (IoU), and the harmonic mean of precision and recall (F scores).

>>> MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1]).numpy().round(4)
np.float32(0.3333)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .. import settings
from .base import Metric


class IoU(Metric):
    """What targets and predictions of a class have in common, by what they have together: the mean of some classes.

    Args:
        num_classes: how many classes there are.
        target_class_ids: those that count.
        ignore_class: a label that does not count.
        sparse_y_true, sparse_y_pred: integer labels, rather than one-hot vectors or probabilities.
        axis: the dimension of those.
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Any,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(dtype or settings.floatx(), name)
        if max(target_class_ids, default=-1) >= num_classes:
            raise ValueError(
                f"Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes})."
            )
        self.num_classes, self.target_class_ids = num_classes, list(target_class_ids)
        self.ignore_class, self.axis = ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.total_cm = self.add_weight((num_classes, num_classes), name="total_confusion_matrix")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        labels = tf.reshape(y_true if self.sparse_y_true else tf.argmax(y_true, axis=self.axis), [-1])
        found = tf.reshape(y_pred if self.sparse_y_pred else tf.argmax(y_pred, axis=self.axis), [-1])
        labels, found = tf.cast(labels, tf.int64), tf.cast(found, tf.int64)
        weight = tf.ones_like(labels, self._dtype)
        if sample_weight is not None:
            given = tf.cast(sample_weight, self._dtype)
            weight = tf.reshape(given, [-1]) if given.shape.rank else weight * given
        if self.ignore_class is not None:
            counts = tf.not_equal(labels, self.ignore_class)
            weight *= tf.cast(counts, self._dtype)
            labels = tf.where(counts, labels, tf.zeros_like(labels))
            found = tf.where(counts, found, tf.zeros_like(found))
        rows = tf.one_hot(labels, self.num_classes, dtype=self._dtype) * tf.expand_dims(weight, 1)
        columns = tf.one_hot(found, self.num_classes, dtype=self._dtype)
        self.total_cm.assign_add(tf.matmul(tf.transpose(rows), columns))

    def result(self) -> Any:
        table = tf.identity(self.total_cm)
        common = tf.linalg.diag_part(table)
        together = tf.reduce_sum(table, axis=0) + tf.reduce_sum(table, axis=1) - common
        common, together = (
            tf.gather(common, self.target_class_ids),
            tf.gather(together, self.target_class_ids),
        )
        present = tf.reduce_sum(tf.cast(tf.greater(together, 0), self._dtype))
        return tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(common, together)), present)

    def get_config(self) -> dict[str, Any]:
        own = {
            "num_classes": self.num_classes,
            "target_class_ids": self.target_class_ids,
            "ignore_class": self.ignore_class,
            "sparse_y_true": self.sparse_y_true,
            "sparse_y_pred": self.sparse_y_pred,
            "axis": self.axis,
        }
        return {**super().get_config(), **own}


class MeanIoU(IoU):
    """The mean IoU of all classes that there are."""

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ) -> None:
        super().__init__(
            num_classes, range(num_classes), name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis
        )

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["target_class_ids"]
        return config


class BinaryIoU(IoU):
    """The IoU of two classes, of which predictions above `threshold` are the second."""

    def __init__(
        self,
        target_class_ids: Any = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        found = tf.cast(tf.cast(y_pred, self._dtype) >= self.threshold, tf.int32)
        super().update_state(y_true, found, sample_weight)

    def get_config(self) -> dict[str, Any]:
        own = {"target_class_ids": self.target_class_ids, "threshold": self.threshold}
        return {"name": self.name, "dtype": self.dtype, **own}


class FBetaScore(Metric):
    """The weighted harmonic mean of precision and recall, which counts `beta` times as much.

    Args:
        average: None for a score of each class, "micro" (of all decisions), "macro" (the mean), "weighted" (by how
            often classes occur).
        threshold: above which predictions are positive; by default only the highest one is.
    """

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = "fbeta_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
                f"Received: average={average}"
            )
        if beta <= 0.0:
            raise ValueError(f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self._built = False

    def _build(self, classes: int) -> None:
        shape = () if self.average == "micro" else (classes,)
        self.true_positives = self.add_weight(shape, name="true_positives")
        self.false_positives = self.add_weight(shape, name="false_positives")
        self.false_negatives = self.add_weight(shape, name="false_negatives")
        self.intermediate_weights = self.add_weight(shape, name="intermediate_weights")
        self._built = True

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        if not self._built:
            self._build(int(y_pred.shape[-1]))
        if self.threshold is None:
            highest = y_pred >= tf.reduce_max(y_pred, axis=-1, keepdims=True)
            chosen = tf.logical_and(highest, tf.abs(y_pred) > 1e-7)
        else:
            chosen = y_pred > self.threshold
        found = tf.cast(chosen, self._dtype)
        axis = None if self.average == "micro" else 0
        weight = tf.ones_like(y_true[:, :1])
        if sample_weight is not None:
            weight = tf.expand_dims(tf.cast(sample_weight, self._dtype), 1)
        for variable, part in (
            (self.true_positives, found * y_true),
            (self.false_positives, found * (1 - y_true)),
            (self.false_negatives, (1 - found) * y_true),
            (self.intermediate_weights, y_true),
        ):
            variable.assign_add(tf.reduce_sum(part * weight, axis=axis))

    def result(self) -> Any:
        found = tf.identity(self.true_positives)
        precision = tf.math.divide_no_nan(found, found + self.false_positives)
        recall = tf.math.divide_no_nan(found, found + self.false_negatives)
        square = self.beta**2
        scores = tf.math.divide_no_nan((1 + square) * precision * recall, square * precision + recall)
        if self.average == "weighted":
            shares = tf.math.divide_no_nan(
                tf.identity(self.intermediate_weights), tf.reduce_sum(self.intermediate_weights)
            )
            return tf.reduce_sum(scores * shares)
        return tf.reduce_mean(scores) if self.average is not None else scores

    def get_config(self) -> dict[str, Any]:
        own = {"average": self.average, "beta": self.beta, "threshold": self.threshold}
        return {**super().get_config(), **own}


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = "f1_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["beta"]
        return config
