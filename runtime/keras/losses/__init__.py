"""The module `tf.keras.losses`, also `tf.losses`: how wrong predictions are, as functions and as classes.

>>> from agc import runtime as tf
>>> tf.keras.losses.MeanSquaredError()([[0.0], [1.0]], [[1.0], [1.0]]).numpy()
np.float32(0.5)
"""

from __future__ import annotations

from typing import Any

from ...core.missing_names import explain as _explain
from ..registry import Room
from .base import Loss, LossFunctionWrapper
from .classes import (
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Dice,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    Tversky,
)
from .probabilistic import (
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    dice,
    kl_divergence,
    sparse_categorical_crossentropy,
    tversky,
)
from .regression import (
    categorical_hinge,
    cosine_similarity,
    hinge,
    huber,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    squared_hinge,
)

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh

FUNCTIONS = {
    **{f.__name__: f for f in (
        mean_squared_error, mean_absolute_error, mean_absolute_percentage_error, mean_squared_logarithmic_error,
        cosine_similarity, huber, log_cosh, poisson, hinge, squared_hinge, categorical_hinge, binary_crossentropy,
        binary_focal_crossentropy, categorical_crossentropy, categorical_focal_crossentropy, dice, kl_divergence,
        sparse_categorical_crossentropy, tversky,
    )},
    "mse": mse, "MSE": mse, "mae": mae, "MAE": mae, "mape": mape, "MAPE": mape, "msle": msle, "MSLE": msle,
    "kld": kld, "KLD": kld, "kullback_leibler_divergence": kld, "logcosh": log_cosh, "bce": binary_crossentropy,
    "BCE": binary_crossentropy, "huber_loss": huber,
}  # fmt: skip


class Reduction:
    """The names of reductions, as TensorFlow 2.3 wrote them."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: Any) -> None:
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key: {key}. Expected keys are {cls.all()}")


_room = Room(
    "loss",
    "keras.losses",
    [
        BinaryCrossentropy, BinaryFocalCrossentropy, CategoricalCrossentropy, CategoricalFocalCrossentropy,
        CategoricalHinge, CosineSimilarity, Dice, Hinge, Huber, KLDivergence, LogCosh, MeanAbsoluteError,
        MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError, Poisson,
        SparseCategoricalCrossentropy, SquaredHinge, Tversky,
    ],
    FUNCTIONS,
)  # fmt: skip

get, serialize, deserialize = _room.get, _room.serialize, _room.deserialize

__all__ = [
    "BinaryCrossentropy", "BinaryFocalCrossentropy", "CategoricalCrossentropy", "CategoricalFocalCrossentropy",
    "CategoricalHinge", "CosineSimilarity", "Dice", "Hinge", "Huber", "KLD", "KLDivergence", "LogCosh", "Loss",
    "LossFunctionWrapper", "MAE", "MAPE", "MSE", "MSLE", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson", "Reduction", "SparseCategoricalCrossentropy",
    "SquaredHinge", "Tversky", "binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy",
    "categorical_focal_crossentropy", "categorical_hinge", "cosine_similarity", "deserialize", "dice", "get", "hinge",
    "huber", "kl_divergence", "kld", "kullback_leibler_divergence", "log_cosh", "logcosh", "mae", "mape",
    "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error",
    "mse", "msle", "poisson", "serialize", "sparse_categorical_crossentropy", "squared_hinge", "tversky",
]  # fmt: skip

_explain(__name__)
