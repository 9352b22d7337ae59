"""What is gathered at many thresholds: the area under a curve, and one rate at a given value of another.

>>> AUC()([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]).numpy()
np.float32(0.75)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc import runtime as tf

from .. import notes, settings
from ..losses.reducing import masked_weight
from .base import Metric
from .counting import counts


def evenly(num_thresholds: int) -> list[float]:
    """Thresholds from just below 0 to just above 1."""
    inner = [i / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
    return [-settings.epsilon(), *inner, 1.0 + settings.epsilon()]


class _Curve(Metric):
    """Base class: true and false positives and negatives at each of many thresholds."""

    def __init__(
        self, thresholds: list[float], name: str | None, dtype: Any, labels: int | None = None
    ) -> None:
        super().__init__(dtype, name)
        self.thresholds = thresholds
        self._make(labels)

    def _make(self, labels: int | None) -> None:
        shape = (len(self.thresholds), *([] if labels is None else [labels]))
        self.true_positives = self.add_weight(shape, name="true_positives")
        self.false_positives = self.add_weight(shape, name="false_positives")
        self.true_negatives = self.add_weight(shape, name="true_negatives")
        self.false_negatives = self.add_weight(shape, name="false_negatives")

    def _count(self, y_true: Any, y_pred: Any, sample_weight: Any, is_multi_label: bool = False) -> None:
        y_pred = tf.convert_to_tensor(y_pred)
        weight = masked_weight(sample_weight, notes.masks.get(y_pred), self._dtype, "sum")
        found = counts(y_true, y_pred, weight, self.thresholds, self._dtype, is_multi_label)
        self.true_positives.assign_add(found["tp"])
        self.false_positives.assign_add(found["fp"])
        self.true_negatives.assign_add(found["tn"])
        self.false_negatives.assign_add(found["fn"])


def _rate(part: Any, rest: Any) -> Any:
    return tf.math.divide_no_nan(tf.identity(part), part + rest)


class AUC(_Curve):
    """The area under the ROC curve (recall by false positive rate) or the PR curve (precision by recall).

    Args:
        num_thresholds: into how many steps the curve is cut; `thresholds` gives them one by one.
        curve: "ROC" or "PR".
        summation_method: "interpolation" (trapezoids; for PR, that of Davis and Goadrich 2006), "minoring", "majoring".
        multi_label: an area for each label, the last dimension; the result is their mean, by `label_weights`.
        from_logits: predictions are logits.
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        for what, given, allowed in (
            ("curve", curve, ("ROC", "PR")),
            ("summation_method", summation_method, ("interpolation", "minoring", "majoring")),
        ):
            if given not in allowed:
                raise ValueError(f"Invalid `{what}` argument value {given!r}. Expected one of: {allowed}")
        if num_thresholds <= 1 and thresholds is None:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 1. Received: {num_thresholds}")
        if thresholds is not None and any(not 0 <= edge <= 1 for edge in thresholds):
            raise ValueError(f"Threshold values must be in [0, 1]. Received: {thresholds}")
        self._given_thresholds = None if thresholds is None else list(thresholds)
        self.curve, self.summation_method = curve, summation_method
        self.multi_label, self.num_labels, self.label_weights = multi_label, num_labels, label_weights
        self._from_logits = from_logits
        edges = evenly(num_thresholds)
        if thresholds is not None:
            edges = [edges[0], *sorted(thresholds), edges[-1]]
        self.num_thresholds = len(edges)
        super().__init__(edges, name, dtype, num_labels if multi_label else None)
        self._built = not multi_label or num_labels is not None
        if not self._built:
            self._variables.clear()  # made with the first batch, which shows how many labels there are

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_pred = tf.convert_to_tensor(y_pred)
        if not self._built:
            self._make(int(y_pred.shape[-1]))
            self._built = True
        self._count(
            y_true, tf.sigmoid(y_pred) if self._from_logits else y_pred, sample_weight, self.multi_label
        )

    def result(self) -> Any:
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = self._interpolated_pr()
        else:
            recall = _rate(self.true_positives, self.false_negatives)
            if self.curve == "ROC":
                x, y = _rate(self.false_positives, self.true_negatives), recall
            else:
                x, y = recall, _rate(self.true_positives, self.false_positives)
            before, after = y[:-1], y[1:]
            choices: dict[str, Callable[[], Any]] = {
                "interpolation": lambda: (before + after) / 2.0,
                "minoring": lambda: tf.minimum(before, after),
                "majoring": lambda: tf.maximum(before, after),
            }
            areas = (x[:-1] - x[1:]) * choices[self.summation_method]()
        if not self.multi_label:
            return tf.reduce_sum(areas)
        each = tf.reduce_sum(areas, axis=0)
        if self.label_weights is None:
            return tf.reduce_mean(each)
        weights = tf.cast(self.label_weights, self._dtype)
        return tf.math.divide_no_nan(tf.reduce_sum(each * weights), tf.reduce_sum(weights))

    def _interpolated_pr(self) -> Any:
        """Between two thresholds precision is not a straight line: true positives are, by all positives."""
        found, missed = tf.identity(self.true_positives), tf.identity(self.false_negatives)
        positives = found + self.false_positives
        slope = tf.math.divide_no_nan(found[:-1] - found[1:], tf.maximum(positives[:-1] - positives[1:], 0))
        intercept = found[1:] - slope * positives[1:]
        both = tf.logical_and(positives[:-1] > 0, positives[1:] > 0)
        ratio = tf.math.divide_no_nan(positives[:-1], tf.maximum(positives[1:], 0))
        ratio = tf.where(both, ratio, tf.ones_like(ratio))
        return tf.math.divide_no_nan(
            slope * (found[:-1] - found[1:] + intercept * tf.math.log(ratio)),
            tf.maximum(found[1:] + missed[1:], 0),
        )

    def get_config(self) -> dict[str, Any]:
        own = {
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "multi_label": self.multi_label,
            "num_labels": self.num_labels,
            "label_weights": self.label_weights,
            "from_logits": self._from_logits,
        }
        if self._given_thresholds is not None:
            own["thresholds"] = self._given_thresholds
        return {**super().get_config(), **own}


class _RateAtRate(_Curve):
    """Base class: the best of one rate where another is at least `value`."""

    argument = ""

    def __init__(
        self, value: float, num_thresholds: int, class_id: int | None, name: str | None, dtype: Any
    ) -> None:
        if not 0 <= value <= 1:
            raise ValueError(f"Argument `{self.argument}` must be in the range [0, 1]. Received: {value}")
        if num_thresholds <= 0:
            raise ValueError(f"Argument `num_thresholds` must be an integer > 0. Received: {num_thresholds}")
        self.value, self.class_id, self.num_thresholds = value, class_id, num_thresholds
        super().__init__([0.5] if num_thresholds == 1 else evenly(num_thresholds), name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        if self.class_id is not None:
            y_true, y_pred = (tf.convert_to_tensor(y)[..., self.class_id] for y in (y_true, y_pred))
        self._count(y_true, y_pred, sample_weight)

    def _best(self, wanted: Any, bounded: Any) -> Any:
        fitting = bounded >= self.value
        return tf.reduce_max(tf.where(fitting, wanted, tf.zeros_like(wanted)))

    def _recall(self) -> Any:
        return _rate(self.true_positives, self.false_negatives)

    def _precision(self) -> Any:
        return _rate(self.true_positives, self.false_positives)

    def _specificity(self) -> Any:
        return _rate(self.true_negatives, self.false_positives)

    def get_config(self) -> dict[str, Any]:
        own = {"num_thresholds": self.num_thresholds, self.argument: self.value, "class_id": self.class_id}
        return {**super().get_config(), **own}


class SensitivityAtSpecificity(_RateAtRate):
    """The highest recall where specificity is at least `specificity`."""

    argument = "specificity"

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(specificity, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        return self._best(self._recall(), self._specificity())


class SpecificityAtSensitivity(_RateAtRate):
    """The highest specificity where recall is at least `sensitivity`."""

    argument = "sensitivity"

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        return self._best(self._specificity(), self._recall())


class PrecisionAtRecall(_RateAtRate):
    """The highest precision where recall is at least `recall`."""

    argument = "recall"

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(recall, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        return self._best(self._precision(), self._recall())


class RecallAtPrecision(_RateAtRate):
    """The highest recall where precision is at least `precision`."""

    argument = "precision"

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(precision, num_thresholds, class_id, name, dtype)

    def result(self) -> Any:
        return self._best(self._recall(), self._precision())
