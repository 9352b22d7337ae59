"""The losses and metrics of a compiled model: those of each output, by what the user gave for it.

losses(y, y_pred, sample_weight)         one scalar, and means of the parts where there are several outputs
metrics.update(y, y_pred, sample_weight) each metric sees its output
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc import runtime as tf
from agc.autograph import api

from .. import losses as losses_room
from .. import metrics as metrics_room
from ..losses.base import Loss, LossFunctionWrapper
from ..metrics.base import Mean, MeanMetricWrapper, Metric


class Losses:
    """The losses of a model, and how much each weighs."""

    def __init__(self, given: Any, weights: Any, names: Sequence[str] | None) -> None:
        self._given, self._weights, self._names = given, weights, names
        self._parts: list[tuple[str, Any, Any]] | None = None
        self.trackers: list[Mean] = []

    def _build(self, y_pred: Any) -> None:
        count = len(tf.nest.flatten(y_pred))
        names = _names(self._names, y_pred, count)
        chosen = _for_outputs(self._given, names, "loss", spread=True)
        weights = _for_outputs(self._weights, names, "loss_weights", spread=False)
        self._parts = [
            (name, _loss(one), weight) for name, one, weight in zip(names, chosen, weights, strict=True)
        ]
        if count > 1:
            self.trackers = [Mean(f"{name}_loss") for name, one, _ in self._parts if one is not None]

    def __call__(
        self, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The weighted sum of the losses of all outputs; None if there are none."""
        if self._parts is None:
            self._build(y_pred)
        assert self._parts is not None
        names = [name for name, _, _ in self._parts]
        outputs, targets, weights = _leaves(y_pred, names), _leaves(y, names), _leaves(sample_weight, names)
        total: list[Any] = []
        trackers = iter(self.trackers)
        for (_, loss, share), guess, right, weight in zip(
            self._parts, outputs, targets, weights, strict=True
        ):
            if loss is None or right is None:
                continue
            value = api.converted_call(loss, (right, guess, weight))
            if self.trackers:
                next(trackers).update_state(value)
            total.append(value if share is None else value * share)
        total += list(regularization_losses or ())
        if not total:
            return None
        return total[0] if len(total) == 1 else tf.add_n(total)


def _loss(given: Any) -> Any:
    if given is None or isinstance(given, Loss):
        return given
    found = losses_room.get(given)
    if isinstance(found, Loss):
        return found
    return LossFunctionWrapper(found, name=getattr(found, "__name__", None))


class Metrics:
    """The metrics of a model; `weighted` are those that see the weights of samples."""

    def __init__(self, given: Any, weighted: Any, names: Sequence[str] | None) -> None:
        self._given, self._weighted, self._names = given, weighted, names
        self._parts: list[tuple[int, str, Metric, bool]] | None = None

    @property
    def metrics(self) -> list[Metric]:
        return [metric for _, _, metric, _ in self._parts or ()]

    @property
    def names(self) -> list[str]:
        """The metrics' names in logs."""
        return [name for _, name, _, _ in self._parts or ()]

    def _build(self, y: Any, y_pred: Any) -> None:
        outputs = tf.nest.flatten(y_pred)
        names = _names(self._names, y_pred, len(outputs))
        targets = _leaves(y, names)
        self._parts = []
        for given, is_weighted in ((self._given, False), (self._weighted, True)):
            for i, each in enumerate(_for_outputs(given, names, "metrics", spread=False)):
                for one in [] if each is None else each if isinstance(each, (list, tuple)) else [each]:
                    if one is None:
                        continue
                    metric, name = _metric(one, targets[i], outputs[i])
                    shown = name if len(outputs) == 1 else f"{names[i]}_{name}"
                    taken = {other for _, other, _, _ in self._parts}
                    number, unique = 1, f"weighted_{shown}" if is_weighted and shown in taken else shown
                    while unique in taken:
                        unique, number = f"{shown}_{number}", number + 1
                    self._parts.append((i, unique, metric, is_weighted))

    def update(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Let every metric see a batch."""
        if self._parts is None:
            self._build(y, y_pred)
        assert self._parts is not None
        outputs = tf.nest.flatten(y_pred)
        names = _names(self._names, y_pred, len(outputs))
        targets, weights = _leaves(y, names), _leaves(sample_weight, names)
        for i, _, metric, is_weighted in self._parts:
            if targets[i] is not None:
                weight = (weights[i],) if is_weighted and weights[i] is not None else ()
                api.converted_call(metric.update_state, (targets[i], outputs[i], *weight))

    update_state = update

    def results(self) -> dict[str, Any]:
        """The results by their names."""
        found: dict[str, Any] = {}
        for _, name, metric, _ in self._parts or ():
            result = api.converted_call(metric.result)
            found.update(result if isinstance(result, dict) else {name: result})
        return found


def _metric(given: Any, y: Any, y_pred: Any) -> tuple[Metric, Any]:
    """The metric that a name, function or object stands for, and its name in logs."""
    if isinstance(given, Metric):
        return given, given.name
    name = given if isinstance(given, str) else None
    if name in ("accuracy", "acc"):
        return MeanMetricWrapper(_fitting(y, y_pred, _ACCURACIES), name), str(name)
    if name in ("crossentropy", "ce"):
        return MeanMetricWrapper(_fitting(y, y_pred, _CROSSENTROPIES), name), str(name)
    found = metrics_room.get(given)
    if isinstance(found, Metric):
        return found, name or found.name
    own = name or getattr(found, "__name__", "metric")
    return MeanMetricWrapper(found, own), own


_ACCURACIES = (
    metrics_room.binary_accuracy, metrics_room.sparse_categorical_accuracy, metrics_room.categorical_accuracy,
)  # fmt: skip
_CROSSENTROPIES = (
    losses_room.binary_crossentropy, losses_room.sparse_categorical_crossentropy, losses_room.categorical_crossentropy,
)  # fmt: skip


def _fitting(y: Any, y_pred: Any, kinds: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    """By the shapes: the one for two classes, for integer labels, or for one-hot labels."""
    binary, sparse, categorical = kinds
    y_rank, rank = len(y.shape), len(y_pred.shape)
    if y_pred.shape[-1] == 1:
        return binary
    return sparse if y_rank < rank or y.shape[-1] == 1 else categorical


def _names(given: Sequence[str] | None, y_pred: Any, count: int) -> list[str]:
    if isinstance(y_pred, dict):
        return sorted(y_pred)
    if given is not None and len(given) == count:
        return list(given)
    return [f"output_{i}" for i in range(count)]


def _for_outputs(given: Any, names: Sequence[str], what: str, spread: bool) -> list[Any]:
    """What was given for each output: by name, in order, or one for all."""
    if isinstance(given, dict):
        strange = set(given) - set(names)
        if strange:
            raise ValueError(
                f"In the dict argument `{what}`, key '{min(strange)}' does not correspond to any model output. "
                f"Expected keys: {list(names)}. Received: {what}={given}"
            )
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)):
        if len(names) == 1:
            return [given[0] if what != "metrics" and len(given) == 1 else given]
        if len(given) != len(names):
            raise ValueError(
                f"When providing the `{what}` argument as a list, it should have as many entries as the model has "
                f"outputs. Received:\n{what}={given} of length {len(given)}\nThe model has {len(names)} outputs."
            )
        return list(given)
    if given is None or spread or len(names) == 1:
        return [given] * len(names)
    return [given] * len(names)


def _leaves(value: Any, names: Sequence[str]) -> list[Any]:
    """The part of targets or weights for each output; one of them goes for all."""
    if value is None:
        return [None] * len(names)
    if isinstance(value, dict):
        return [value.get(name) for name in names]
    leaves = tf.nest.flatten(value)
    return leaves * len(names) if len(leaves) == 1 and len(names) > 1 else leaves
