"""`ModelCheckpoint`: the model, or its weights, in a file after each epoch, or after those that were the best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .deciding import Monitor


class ModelCheckpoint(Monitor):
    """Save the model while it is trained.

    Args:
        filepath: where; `{epoch}` and names of results may be in it, as in "net-{epoch:02d}-{val_loss:.2f}".
        save_best_only: only when the result `monitor` is better than ever before.
        save_weights_only: the weights, as `save_weights` writes them; otherwise the model, as `save` does.
        save_freq: "epoch", or a number of batches.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values"
            )
        self.filepath, self.verbose, self.save_freq = str(filepath), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.best = self.worst if initial_value_threshold is None else initial_value_threshold
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % self.save_freq == 0:
            self._save(self._epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs: Any) -> None:
        if self.save_best_only:
            value = self.watched(logs)
            if value is None or not self.is_better(value, self.best):
                return
            self.best = value
        path = Path(self.filepath.format(epoch=epoch + 1, **logs))
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path)
        else:
            self.model.save(path)
