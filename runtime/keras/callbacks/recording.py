"""Callbacks that tell others how training goes: CSVLogger, LambdaCallback.

>>> LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch)).on_epoch_end(3, {})
3
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .base import Callback


class LambdaCallback(Callback):
    """Functions in place of methods."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {name: value for name, value in locals().items() if name.startswith("on_")}
        for name, function in {**given, **kwargs}.items():
            if function is not None:
                setattr(self, name, function)


class CSVLogger(Callback):
    """Writes the results of each epoch as a line of a file.

    Args:
        append: go on with a file that is there.
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = Path(filename), separator, append
        self._file: Any = None
        self._writer: Any = None
        self._keys: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        is_new = not (self.append and self.filename.exists() and self.filename.stat().st_size)
        self._file = self.filename.open("a" if self.append else "w", newline="")
        self._writer, self._keys, self._is_new = None, None, is_new

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = logs or {}
        if self._keys is None:
            self._keys = sorted(logs)
            self._writer = csv.writer(self._file, delimiter=self.separator)
            if self._is_new:
                self._writer.writerow(["epoch", *self._keys])
        self._writer.writerow([epoch, *(logs.get(key, "NA") for key in self._keys)])
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        self._file.close()
        self._writer = None
