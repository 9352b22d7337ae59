"""The losses as classes: each is a function of `regression` or `probabilistic` with its arguments.

>>> BinaryCrossentropy(from_logits=True)([[1.0]], [[0.0]]).numpy().round(4)
np.float32(0.6931)
"""

from __future__ import annotations

from typing import Any

from . import probabilistic, regression
from .base import FunctionLoss


class MeanSquaredError(FunctionLoss):
    """`mean_squared_error` as a loss."""

    usual = staticmethod(regression.mean_squared_error)


class MeanAbsoluteError(FunctionLoss):
    """`mean_absolute_error` as a loss."""

    usual = staticmethod(regression.mean_absolute_error)


class MeanAbsolutePercentageError(FunctionLoss):
    """`mean_absolute_percentage_error` as a loss."""

    usual = staticmethod(regression.mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(FunctionLoss):
    """`mean_squared_logarithmic_error` as a loss."""

    usual = staticmethod(regression.mean_squared_logarithmic_error)


class LogCosh(FunctionLoss):
    """`log_cosh` as a loss."""

    usual = staticmethod(regression.log_cosh)


class Hinge(FunctionLoss):
    """`hinge` as a loss."""

    usual = staticmethod(regression.hinge)


class SquaredHinge(FunctionLoss):
    """`squared_hinge` as a loss."""

    usual = staticmethod(regression.squared_hinge)


class CategoricalHinge(FunctionLoss):
    """`categorical_hinge` as a loss."""

    usual = staticmethod(regression.categorical_hinge)


class KLDivergence(FunctionLoss):
    """`kl_divergence` as a loss."""

    usual = staticmethod(probabilistic.kl_divergence)


class Poisson(FunctionLoss):
    """`poisson` as a loss."""

    usual = staticmethod(regression.poisson)


class Huber(FunctionLoss):
    """`huber` with its arguments as a loss."""

    usual = staticmethod(regression.huber)

    def __init__(
        self,
        delta: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "huber_loss",
        dtype: Any = None,
    ) -> None:
        super().__init__(reduction, name, dtype, delta=delta)


class CosineSimilarity(FunctionLoss):
    """`cosine_similarity` with its arguments as a loss."""

    usual = staticmethod(regression.cosine_similarity)

    def __init__(
        self,
        axis: int = -1,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "cosine_similarity",
        dtype: Any = None,
    ) -> None:
        super().__init__(reduction, name, dtype, axis=axis)


class BinaryCrossentropy(FunctionLoss):
    """`binary_crossentropy` with its arguments as a loss."""

    usual = staticmethod(probabilistic.binary_crossentropy)

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            reduction, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing, axis=axis
        )


class CategoricalCrossentropy(FunctionLoss):
    """`categorical_crossentropy` with its arguments as a loss."""

    usual = staticmethod(probabilistic.categorical_crossentropy)

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            reduction, name, dtype, from_logits=from_logits, label_smoothing=label_smoothing, axis=axis
        )


class SparseCategoricalCrossentropy(FunctionLoss):
    """`sparse_categorical_crossentropy` with its arguments as a loss."""

    usual = staticmethod(probabilistic.sparse_categorical_crossentropy)

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: str | None = "sum_over_batch_size",
        axis: int = -1,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        arguments = {"from_logits": from_logits, "ignore_class": ignore_class, "axis": axis}
        super().__init__(reduction, name, dtype, **arguments)


class BinaryFocalCrossentropy(FunctionLoss):
    """`binary_focal_crossentropy` with its arguments as a loss."""

    usual = staticmethod(probabilistic.binary_focal_crossentropy)

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "binary_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            reduction,
            name,
            dtype,
            apply_class_balancing=apply_class_balancing,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class CategoricalFocalCrossentropy(FunctionLoss):
    """`categorical_focal_crossentropy` with its arguments as a loss."""

    usual = staticmethod(probabilistic.categorical_focal_crossentropy)

    def __init__(
        self,
        alpha: Any = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "categorical_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        super().__init__(
            reduction,
            name,
            dtype,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class Dice(FunctionLoss):
    """`dice` with its arguments as a loss."""

    usual = staticmethod(probabilistic.dice)

    def __init__(
        self,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "dice",
        axis: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(reduction, name, dtype, axis=axis)


class Tversky(FunctionLoss):
    """`tversky` with its arguments as a loss."""

    usual = staticmethod(probabilistic.tversky)

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = "tversky",
        axis: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(reduction, name, dtype, alpha=alpha, beta=beta, axis=axis)
