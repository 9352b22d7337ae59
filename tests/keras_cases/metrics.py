"""Metrics after two batches, with weights and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from .losses import data

PLAIN = (
    "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "LogCoshError", "Hinge", "SquaredHinge", "KLDivergence", "Poisson",
    "CosineSimilarity", "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "Accuracy",
    "BinaryAccuracy", "CategoricalAccuracy", "TopKCategoricalAccuracy", "Precision", "Recall", "AUC", "TruePositives",
    "FalsePositives", "TrueNegatives", "FalseNegatives", "F1Score", "FBetaScore", "R2Score", "BinaryIoU",
)  # fmt: skip
MATRICES_ONLY = ("TopKCategoricalAccuracy", "F1Score", "FBetaScore", "R2Score")
SPARSE = ("SparseCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "SparseCategoricalCrossentropy")


def cases(tf: Any) -> dict[str, Any]:
    d = data()
    right, guess, weight, labels = d["right"], d["guess"], d["weight"], d["labels"]
    found: dict[str, Any] = {}

    def add(kind: str, *batch: Any, **options: Any) -> None:
        def program() -> Any:
            metric = getattr(tf.keras.metrics, kind)(**options)
            metric.update_state(*batch)
            metric.update_state(*batch)
            return metric.result()

        found[f"{kind} {options} {[np.shape(part) for part in batch]}"] = program

    for kind in ("Mean", "Sum"):
        for second in ((), (weight,), (right,), (weight[:, None],)):
            add(kind, guess, *second)
        add(kind, guess[:, 0])
        add(kind, guess[0, 0])
    for kind in PLAIN:
        add(kind, right, guess)
        if kind != "BinaryIoU":  # which rounds weights to integers
            add(kind, right, guess, weight)
        if kind not in MATRICES_ONLY:
            add(kind, right[:, 0], guess[:, 0])
        if kind != "BinaryIoU":
            add(kind, right[:, :1], guess[:, :1], weight)
    for kind in SPARSE:
        add(kind, labels, guess)
        add(kind, labels, guess, weight)
        add(kind, labels[:, None], guess)
    add("SparseTopKCategoricalAccuracy", labels, guess, k=2)
    add("TopKCategoricalAccuracy", d["one_hot"], guess, k=2)
    add("Precision", right, guess, thresholds=[0.2, 0.5, 0.8])
    add("Recall", right, guess, top_k=2)
    add("Precision", right, guess, top_k=1)
    add("Precision", right, guess, class_id=1)
    for curve in ("ROC", "PR"):
        for method in ("interpolation", "minoring", "majoring"):
            add("AUC", right, guess, curve=curve, summation_method=method, num_thresholds=20)
            add("AUC", right, guess, weight, curve=curve, summation_method=method)
    add("AUC", right, guess, multi_label=True, num_labels=3)
    add("AUC", right, guess, multi_label=True)
    add("AUC", right, d["logits"], from_logits=True)
    add("AUC", right, guess, thresholds=[0.3, 0.6])
    add("SensitivityAtSpecificity", right, guess, specificity=0.5)
    add("SpecificityAtSensitivity", right, guess, sensitivity=0.5)
    add("PrecisionAtRecall", right, guess, recall=0.5)
    add("RecallAtPrecision", right, guess, precision=0.5)
    for average in ("micro", "macro", "weighted"):
        add("F1Score", d["one_hot"], guess, average=average)
        add("FBetaScore", right, guess, average=average, threshold=0.5, beta=2.0)
    other = np.array([0, 1, 1, 2])
    add("MeanIoU", labels, other, num_classes=3)
    add("IoU", labels, other, num_classes=3, target_class_ids=[0, 2])
    add("MeanIoU", labels, other, num_classes=3, ignore_class=1)
    add("R2Score", right, guess, class_aggregation="variance_weighted_average")
    add("R2Score", right, guess, class_aggregation=None)
    return found
