"""Losses on predictions of every kind, with weights, reductions and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

PLAIN = (
    "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "LogCosh",
    "Hinge", "SquaredHinge", "KLDivergence", "Poisson", "Huber", "CosineSimilarity", "BinaryCrossentropy",
    "BinaryFocalCrossentropy", "Dice", "Tversky", "CategoricalHinge",
)  # fmt: skip
REDUCTIONS = ("sum_over_batch_size", "sum", "none", "mean_with_sample_weight", "mean")
FUNCTIONS = (
    "mse", "mae", "mape", "msle", "hinge", "squared_hinge", "categorical_hinge", "kld", "poisson", "logcosh",
    "cosine_similarity", "huber", "binary_crossentropy", "categorical_crossentropy", "dice",
)  # fmt: skip


def data() -> dict[str, Any]:
    r = np.random.RandomState(0)
    right = r.randint(0, 2, (4, 3)).astype("f")
    guess = (r.rand(4, 3) * 0.9 + 0.05).astype("f")
    return {
        "right": right,
        "guess": guess,
        "one_hot": np.eye(3, dtype="f")[[0, 2, 1, 1]],
        "labels": np.array([0, 2, 1, 1]),
        "logits": r.randn(4, 3).astype("f"),
        "weight": np.array([0.5, 1, 0, 2], "f"),
    }


def cases(tf: Any) -> dict[str, Any]:
    d = data()
    found: dict[str, Any] = {}

    def add(name: str, kind: str, right: Any, guess: Any, weight: Any = None, **options: Any) -> None:
        found[name] = lambda: getattr(tf.keras.losses, kind)(**options)(right, guess, weight)

    right, guess, weight = d["right"], d["guess"], d["weight"]
    for kind in PLAIN:
        for reduction in REDUCTIONS:
            add(f"{kind} {reduction}", kind, right, guess, reduction=reduction)
            add(f"{kind} {reduction} weighted", kind, right, guess, weight, reduction=reduction)
        add(f"{kind} scalar weight", kind, right, guess, 2.0)
        add(f"{kind} column of weights", kind, right, guess, weight[:, None])
        add(f"{kind} vector beside column", kind, right[:, 0], guess[:, :1])
        add(f"{kind} int and float64", kind, right.astype("i4"), guess.astype("f8"))
        if kind != "CategoricalHinge":
            add(f"{kind} empty", kind, right[:0], guess[:0])
    logits, labels, one_hot = d["logits"], d["labels"], d["one_hot"]
    add(
        "binary, logits, smoothed", "BinaryCrossentropy", right, logits, from_logits=True, label_smoothing=0.2
    )
    add("binary, smoothed", "BinaryCrossentropy", right, guess, label_smoothing=0.2)
    balanced = {"from_logits": True, "apply_class_balancing": True}
    add("binary focal, balanced", "BinaryFocalCrossentropy", right, logits, **balanced)
    for smoothing in (0.0, 0.1):
        options: dict[str, Any] = {"label_smoothing": smoothing}
        add(f"categorical {smoothing}", "CategoricalCrossentropy", one_hot, guess, **options)
        add(f"categorical focal {smoothing}", "CategoricalFocalCrossentropy", one_hot, guess, **options)
        options["from_logits"] = True
        add(f"categorical, logits {smoothing}", "CategoricalCrossentropy", one_hot, logits, **options)
    sparse = "SparseCategoricalCrossentropy"
    add("sparse", sparse, labels, guess)
    add("sparse, column of labels", sparse, labels[:, None], guess)
    add("sparse, logits", sparse, labels, logits, from_logits=True, reduction="none")
    add("sparse, ignored class", sparse, labels, logits, from_logits=True, ignore_class=1)
    some = np.array([0, -1, 1, 2])
    add("sparse, ignored, each", sparse, some, logits, from_logits=True, ignore_class=-1, reduction="none")
    add("Huber's delta", "Huber", right, guess, delta=0.2)
    add("hinge, signs", "Hinge", right * 2 - 1, logits)
    keras = tf.keras
    found["softmax remembers its logits"] = lambda: keras.losses.SparseCategoricalCrossentropy()(
        labels, keras.activations.softmax(tf.constant(logits * 40))
    )
    found["sigmoid remembers its logits"] = lambda: keras.losses.BinaryCrossentropy()(
        right, keras.activations.sigmoid(tf.constant(logits * 40))
    )
    for name in FUNCTIONS:
        found[f"function {name}"] = lambda name=name: getattr(keras.losses, name)(right, guess)
    return found
