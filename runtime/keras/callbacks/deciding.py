"""Callbacks that change how training goes on: EarlyStopping, TerminateOnNaN, and those that set the learning rate.

>>> stopping = EarlyStopping(monitor="loss", patience=2)
>>> stopping.is_better(0.5, 0.7)
True
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Callback


class Monitor(Callback):
    """Base class of those that look at one result. `is_better` compares two values.

    Args:
        monitor: the name of the result.
        mode: "min" or "max": which is better; "auto" goes by the name.
        min_delta: a change must be larger to count.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"mode '{mode}' is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        name = monitor.removeprefix("val_")
        grows = any(word in name for word in ("acc", "auc", "precision", "recall", "f1_score", "iou", "r2"))
        self.monitor, self.mode = monitor, mode
        self.is_max = mode == "max" or (mode == "auto" and grows)
        self.min_delta = abs(min_delta)

    @property
    def worst(self) -> float:
        return -math.inf if self.is_max else math.inf

    def is_better(self, value: float, than: float) -> bool:
        """Whether a value is better, by more than `min_delta`."""
        return value - self.min_delta > than if self.is_max else value + self.min_delta < than

    def watched(self, logs: Any) -> float | None:
        """The result; None, with a warning, when there is no such one."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            warnings.warn(
                f"{type(self).__name__} conditioned on metric `{self.monitor}` which is not available. "
                f"Available metrics are: {','.join(logs or ())}",
                stacklevel=3,
            )
        return value


class EarlyStopping(Monitor):
    """Stop when a result has not become better for some epochs.

    Args:
        patience: for so many epochs.
        baseline: the result must be better than this.
        restore_best_weights: in the end, give the model the weights of its best epoch.
        start_from_epoch: look at nothing before.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.worst
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        value = self.watched(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self.is_better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self.is_better(value, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class TerminateOnNaN(Callback):
    """Stop when the loss is no number."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class LearningRateScheduler(Callback):
    """Before each epoch, the learning rate is `schedule(epoch, rate)`."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        before = float(np.asarray(self.model.optimizer.learning_rate))
        try:
            rate = self.schedule(epoch, before)
        except TypeError:  # a schedule of older programs takes the epoch only
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.floating, int)) and not hasattr(rate, "numpy"):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        self.model.optimizer.learning_rate = float(np.asarray(rate))
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(np.asarray(rate))}."
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))


class ReduceLROnPlateau(Monitor):
    """Multiply the learning rate by `factor` when a result has not become better for `patience` epochs.

    Args:
        cooldown: so many epochs are waited after that.
        min_lr: the rate does not fall below.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        super().__init__(monitor, mode, min_delta)
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        self.best, self.wait, self.cooldown_counter = self.worst, 0, 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        rate = float(np.asarray(self.model.optimizer.learning_rate))
        logs["learning_rate"] = rate
        value = self.watched(logs)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_better(value, self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                new = max(rate * self.factor, self.min_lr)
                self.model.optimizer.learning_rate = new
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
                self.cooldown_counter, self.wait = self.cooldown, 0
