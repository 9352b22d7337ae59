"""Losses as metrics, and what is computed from sums of errors.

>>> RootMeanSquaredError()([[0.0], [0.0]], [[3.0], [3.0]]).numpy()
np.float32(3.0)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .. import losses
from ..losses.reducing import same_rank
from .base import Mean, MeanMetricWrapper, Metric


class MeanSquaredError(MeanMetricWrapper):
    """The mean of squared errors."""

    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_squared_error, name, dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of sizes of errors."""

    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_absolute_error, name, dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of errors in percent."""

    def __init__(self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_absolute_percentage_error, name, dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of squared errors of logarithms."""

    def __init__(self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean of logarithms of the errors' hyperbolic cosines."""

    def __init__(self, name: str | None = "logcosh", dtype: Any = None) -> None:
        super().__init__(losses.log_cosh, name, dtype)


class Hinge(MeanMetricWrapper):
    """The mean of hinge losses."""

    def __init__(self, name: str | None = "hinge", dtype: Any = None) -> None:
        super().__init__(losses.hinge, name, dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of squared hinge losses."""

    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None) -> None:
        super().__init__(losses.squared_hinge, name, dtype)


class CategoricalHinge(MeanMetricWrapper):
    """The mean of categorical hinge losses."""

    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None) -> None:
        super().__init__(losses.categorical_hinge, name, dtype)


class KLDivergence(MeanMetricWrapper):
    """The mean of Kullback-Leibler divergences."""

    def __init__(self, name: str | None = "kl_divergence", dtype: Any = None) -> None:
        super().__init__(losses.kl_divergence, name, dtype)


class Poisson(MeanMetricWrapper):
    """The mean of Poisson losses."""

    def __init__(self, name: str | None = "poisson", dtype: Any = None) -> None:
        super().__init__(losses.poisson, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of crossentropies."""

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            losses.binary_crossentropy, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean of crossentropies."""

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(
            losses.categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean of crossentropies."""

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        arguments = {"from_logits": from_logits, "ignore_class": ignore_class, "axis": axis}
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype, **arguments)


def _cosine(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    return -losses.cosine_similarity(y_true, y_pred, axis)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between targets and predictions: 1 for the same direction."""

    def __init__(self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        super().__init__(_cosine, name, dtype, axis=axis)


class RootMeanSquaredError(Mean):
    """The root of the mean of squared errors."""

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        y_true, y_pred = same_rank(tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype))
        super().update_state(tf.math.squared_difference(y_true, y_pred), sample_weight)

    def result(self) -> Any:
        return tf.sqrt(super().result())


class R2Score(Metric):
    """The share of the targets' variance that predictions explain: 1 is perfect, 0 as good as the mean.

    Args:
        class_aggregation: "uniform_average" of the outputs, "variance_weighted_average", or None for all of them.
        num_regressors: how many variables predict; above 0 for the adjusted score.
    """

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = "r2_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(dtype, name)
        if class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise ValueError(f"Invalid value for argument `class_aggregation`: {class_aggregation}")
        if num_regressors < 0:
            raise ValueError(f"Invalid value for argument `num_regressors`: {num_regressors}")
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_weight(name="num_samples", dtype="int32")
        self._built = False

    def _build(self, outputs: int) -> None:
        self.squared_sum = self.add_weight((outputs,), name="squared_sum")
        self.sum = self.add_weight((outputs,), name="sum")
        self.total_mse = self.add_weight((outputs,), name="residual")
        self.count = self.add_weight((outputs,), name="count")
        self._built = True

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        if not self._built:
            self._build(int(y_pred.shape[-1]))
        weight = tf.ones_like(y_true[:, :1]) if sample_weight is None else tf.cast(sample_weight, self._dtype)
        weight = tf.expand_dims(weight, 1) if weight.shape.rank == 1 else weight
        self.sum.assign_add(tf.reduce_sum(y_true * weight, axis=0))
        self.squared_sum.assign_add(tf.reduce_sum(tf.square(y_true) * weight, axis=0))
        self.total_mse.assign_add(tf.reduce_sum(tf.math.squared_difference(y_true, y_pred) * weight, axis=0))
        self.count.assign_add(tf.reduce_sum(weight * tf.ones_like(y_true), axis=0))
        self.num_samples.assign_add(tf.shape(y_true)[0])

    def result(self) -> Any:
        mean = self.sum / self.count
        total = self.squared_sum - self.sum * mean
        scores = 1 - self.total_mse / total
        scores = tf.where(tf.math.is_inf(scores), tf.zeros_like(scores), scores)
        if self.class_aggregation == "uniform_average":
            scores = tf.reduce_mean(scores)
        elif self.class_aggregation == "variance_weighted_average":
            scores = tf.reduce_sum(scores * total / tf.reduce_sum(total))
        if not self.num_regressors:
            return scores
        n = tf.cast(self.num_samples, self._dtype)
        return 1 - (1 - scores) * (n - 1) / (n - self.num_regressors - 1)

    def get_config(self) -> dict[str, Any]:
        own = {"class_aggregation": self.class_aggregation, "num_regressors": self.num_regressors}
        return {**super().get_config(), **own}
