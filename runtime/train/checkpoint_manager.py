"""`CheckpointManager`: keeps the last few checkpoints of a folder, and deletes the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from ..core.export import export
from ..core.variable import Variable
from . import checkpoint_format
from .checkpoint import Checkpoint, refuse_in_functions
from .checkpoint_state import CheckpointState
from .restore import LoadStatus
from .written_once import written_once


@export("train.CheckpointManager")
class CheckpointManager:
    """Saves checkpoints repeatedly, and keeps `max_to_keep` of them.

    Args:
        checkpoint: the `Checkpoint` to save.
        directory: the folder; made if it does not exist. Its state file lists checkpoints of an earlier run.
        max_to_keep: the number to keep; None for all. Only checkpoints in `directory` with `checkpoint_name`
            and a number are deleted; others in the state file are only removed from it.
        keep_checkpoint_every_n_hours: keep one checkpoint per this many hours permanently.
        checkpoint_name: the name before the number.
        step_counter: a variable that counts steps, for `checkpoint_interval`.
        checkpoint_interval: save only when `step_counter` has grown by at least this since the last save.
        init_fn: called by `restore_or_initialize` when there is nothing to restore.

    Raises ValueError for `max_to_keep` below 1, and for an interval without a `step_counter`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = CheckpointManager(Checkpoint(v=Variable(1.0)), folder, max_to_keep=2)
    ...     for _ in range(3):
    ...         path = manager.save()
    ...     [os.path.basename(path) for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep < 1:
            raise ValueError(f"Expected a positive integer or None for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        state = CheckpointState.of(self._directory)
        self._last_preserved = time.time() if state.last_preserved is None else state.last_preserved
        known = [state.absolute(path) for path in state.all_paths]
        self._kept = {path: saved for path in known if (saved := checkpoint_format.time_of(path)) is not None}

    @property
    def directory(self) -> str:
        """The folder of the checkpoints."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """The `Checkpoint` that is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The number of steps between two checkpoints, or None."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the kept checkpoints, the oldest first."""
        return list(self._kept)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, for `Checkpoint.restore`; None when there is none."""
        return self.checkpoints[-1] if self._kept else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Save, and delete checkpoints that are too old. Return the path, or None before the end of the interval.

        Args:
            checkpoint_number: the number to save under; default: a count of saves.
            check_interval: whether to wait for the interval; a step is never saved twice.
        """
        refuse_in_functions("CheckpointManager.save")
        step = None if self._step_counter is None else int(self._step_counter.numpy())
        if not self._is_due(step, check_interval):
            return None
        counter = self._checkpoint.save_counter.assign_add(1)
        number = int(counter.numpy() if checkpoint_number is None else checkpoint_number)
        path = f"{self._prefix}-{number}"
        write = self._checkpoint._writing(path, options)
        if not written_once(path, lambda: self._write_and_drop(path, write)):
            self._keep(path)
        self._last_step = step
        return path

    def _write_and_drop(self, path: str, write: Callable[[], None]) -> None:
        write()
        dropped = self._keep(path)
        CheckpointState(self._directory).with_paths(self.checkpoints, self._last_preserved).write()
        for old in filter(self._is_own, dropped):  # the state file no longer names them
            checkpoint_format.remove(old)

    def _keep(self, path: str) -> list[str]:
        """Add a path to the list; return those to delete."""
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        return self._dropped()

    def _is_own(self, path: str) -> bool:
        """Return whether a manager like this one has written the checkpoint: a state file may name others, too."""
        folder, name = os.path.split(path)
        stem, _, number = name.rpartition("-")
        is_here = os.path.abspath(folder) == os.path.abspath(self._directory)
        return is_here and stem == os.path.basename(self._prefix) and number.isdecimal()

    def _is_due(self, step: int | None, check_interval: bool) -> bool:
        if self._interval is None or self._last_step is None or step is None:
            return True
        return step != self._last_step and not (check_interval and step < self._last_step + self._interval)

    def _dropped(self) -> list[str]:
        """Remove the oldest checkpoints above the maximum from the list; return those to delete."""
        dropped = []
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, saved = next(iter(self._kept.items()))
            del self._kept[path]
            if self._hours is not None and saved >= self._last_preserved + self._hours * 3600:
                self._last_preserved = saved  # kept permanently
            else:
                dropped.append(path)
        return dropped

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, else call `init_fn`. Return the restored path, or None."""
        if self.latest_checkpoint is not None:
            status = self._checkpoint.restore(self.latest_checkpoint)
            assert isinstance(status, LoadStatus)
            status.assert_nontrivial_match()
            if self._step_counter is not None:
                self._last_step = int(self._step_counter.numpy())
            return self.latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
        return None
