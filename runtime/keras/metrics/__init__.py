"""The module `tf.keras.metrics`, also `tf.metrics`: numbers that are gathered from batch to batch.

>>> mean = Mean()
>>> mean.update_state([1.0, 3.0])
>>> mean(5.0).numpy()
np.float32(3.0)
"""

from __future__ import annotations

from typing import Any

from ...core.missing_names import explain as _explain
from .. import losses
from ..losses import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from ..registry import Room
from .accuracy import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from .base import Mean, MeanMetricWrapper, MeanTensor, Metric, Sum
from .counting import FalseNegatives, FalsePositives, Precision, Recall, TrueNegatives, TruePositives
from .curves import (
    AUC,
    PrecisionAtRecall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
)
from .errors import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    R2Score,
    RootMeanSquaredError,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)
from .overlap import BinaryIoU, F1Score, FBetaScore, IoU, MeanIoU

_CLASSES = (
    AUC, Accuracy, BinaryAccuracy, BinaryCrossentropy, BinaryIoU, CategoricalAccuracy, CategoricalCrossentropy,
    CategoricalHinge, CosineSimilarity, F1Score, FBetaScore, FalseNegatives, FalsePositives, Hinge, IoU, KLDivergence,
    LogCoshError, Mean, MeanAbsoluteError, MeanAbsolutePercentageError, MeanIoU, MeanSquaredError,
    MeanSquaredLogarithmicError, MeanTensor, Poisson, Precision, PrecisionAtRecall, R2Score, Recall, RecallAtPrecision,
    RootMeanSquaredError, SensitivityAtSpecificity, SparseCategoricalAccuracy, SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy, SpecificityAtSensitivity, SquaredHinge, Sum, TopKCategoricalAccuracy,
    TrueNegatives, TruePositives,
)  # fmt: skip

_room = Room("metric", "keras.metrics", _CLASSES, losses.FUNCTIONS)
_room.functions.update({
    f.__name__: f
    for f in (
        binary_accuracy, categorical_accuracy, sparse_categorical_accuracy, sparse_top_k_categorical_accuracy,
        top_k_categorical_accuracy,
    )
})  # fmt: skip

_SHORT = {"mse": MeanSquaredError, "mae": MeanAbsoluteError, "mape": MeanAbsolutePercentageError,
          "msle": MeanSquaredLogarithmicError, "bce": BinaryCrossentropy}  # fmt: skip


def get(identifier: Any) -> Any:
    """The metric that a name, a config, a class or a callable stands for: an object where there is a class for it."""
    if isinstance(identifier, str):
        chosen = _SHORT.get(identifier.lower()) or _room.classes.get(identifier)
        if chosen is not None:
            return chosen()
    return _room.get(identifier)


serialize, deserialize = _room.serialize, _room.deserialize

__all__ = [
    *(cls.__name__ for cls in _CLASSES), "MeanMetricWrapper", "Metric", "KLD", "MAE", "MAPE", "MSE", "MSLE",
    "binary_accuracy", "binary_crossentropy", "binary_focal_crossentropy", "categorical_accuracy",
    "categorical_crossentropy", "categorical_focal_crossentropy", "categorical_hinge", "deserialize", "get", "hinge",
    "huber", "kld", "kullback_leibler_divergence", "logcosh", "mae", "mape", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error", "mse", "msle", "poisson",
    "serialize", "sparse_categorical_accuracy", "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy", "squared_hinge", "top_k_categorical_accuracy",
]  # fmt: skip

_explain(__name__)
