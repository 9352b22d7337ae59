"""Files of Keras under a strategy of several processes: all compute them, and the first process writes them.

model.save("m.keras") in two processes     ==>     one file; the other process writes a temporary one
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from ...kernels import collectives
from ...train.written_once import computed_by_all


def writes_once(save: Callable[..., None]) -> Callable[..., None]:
    """Return a function of Keras that saves a model, such that processes with the same path write one file."""

    @functools.wraps(save)
    def wrapped(model: Any, filepath: Any, *args: Any, **kwargs: Any) -> None:
        if collectives.active.engine.size == 1 or not isinstance(filepath, (str, os.PathLike)):
            return save(model, filepath, *args, **kwargs)
        return computed_by_all(os.fspath(filepath), lambda path: save(model, path, *args, **kwargs))

    return wrapped


def saves_in_first(save: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return `BackupAndRestore._save_model`, such that the first process alone writes the number of the epoch."""

    @functools.wraps(save)
    def wrapped(callback: Any) -> None:
        if collectives.active.engine.rank == 0:
            save(callback)
        else:
            callback.model.save_weights(callback._weights_path)

    return wrapped


def deletes_in_first(end: Callable[..., None]) -> Callable[..., None]:
    """Return `BackupAndRestore.on_train_end`, which deletes the backup, such that the first process alone does."""

    @functools.wraps(end)
    def wrapped(callback: Any, logs: Any = None) -> None:
        if collectives.active.engine.rank == 0:
            end(callback, logs)

    return wrapped
