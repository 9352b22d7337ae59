"""`PreemptionCheckpointHandler`: a worker that must end soon lets all workers save a checkpoint and exit.

worker 1 gets SIGTERM     ==>     before their next step all workers save a checkpoint, and exit with code 42
"""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .. import dtypes, errors
from ..core.export import export
from ..core.variable import Variable
from ..kernels import collectives
from ..train.checkpoint_manager import CheckpointManager

RESTART_CODE = 42
"""The exit code of a program that has saved a checkpoint and should be started again."""

POLL_EVERY = 1.0
"""The seconds between calls of `termination_watcher_fn`."""

MARGIN = 6
"""The number of steps before the end of the grace period at which the last checkpoint is saved."""


def _exit() -> None:
    sys.exit(RESTART_CODE)


@export("distribute.experimental.TerminationConfig")
class TerminationConfig:
    """Options of a `PreemptionCheckpointHandler`.

    Args:
        termination_watcher_fn: called once a second, in a thread, until it returns True: the process must end soon.
            Default: the signal SIGTERM says so.
        exit_fn: called when the checkpoint has been saved. Default: `sys.exit(42)`.
        grace_period: the seconds from the notice to the end of the process, in which it may train on. It saves a
            checkpoint at once, and another one before the end. Default: it exits after the first one.
        save_fn: called in place of the manager's `save`.

    >>> TerminationConfig(grace_period=60).grace_period
    60
    """

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.termination_watcher_fn = termination_watcher_fn
        self.exit_fn = exit_fn
        self.grace_period = grace_period
        self.save_fn = save_fn


@export("distribute.experimental.PreemptionCheckpointHandler")
class PreemptionCheckpointHandler:
    """Saves a checkpoint in all workers when one of them must end soon. It restores the latest one when it is made.

    Before each step the workers tell each other, in a collective operation, whether one of them has got SIGTERM.

    Args:
        cluster_resolver: accepted, no effect: the workers are those of the strategy.
        checkpoint_or_checkpoint_manager: a `tf.train.CheckpointManager`, or a `tf.train.Checkpoint`.
        checkpoint_dir: the folder for a `tf.train.Checkpoint`, of which the last one is kept.
        termination_config: a `TerminationConfig`.

    Raises InvalidArgumentError for a `tf.train.Checkpoint` without `checkpoint_dir`, ValueError in another thread
    than the main one, which alone gets signals.

    >>> import agc.runtime as tf, tempfile
    >>> step = tf.Variable(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     handler = PreemptionCheckpointHandler(None, tf.train.Checkpoint(step=step), folder)
    ...     for _ in range(3):
    ...         _ = handler.run(step.assign_add, 1)
    >>> handler.total_run_calls
    3
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Any,
        checkpoint_dir: str | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        manager = checkpoint_or_checkpoint_manager
        if not isinstance(manager, CheckpointManager):
            if not checkpoint_dir:
                raise errors.InvalidArgumentError(
                    "When a checkpoint is passed, a checkpoint_dir must be passed as well."
                )
            manager = CheckpointManager(manager, checkpoint_dir, max_to_keep=1)
        self._manager = manager
        config = termination_config or TerminationConfig()
        self._save = config.save_fn or manager.save
        self._exit = config.exit_fn or _exit
        self._grace = config.grace_period or 0
        self._deadline = math.inf  # the time of the last save, once this process must end
        self._is_noticed = False
        self._is_last = self._grace <= 0  # whether the program exits after the next save
        self._step_seconds = 0.0
        checkpoint: Any = manager.checkpoint
        if not hasattr(checkpoint, "checkpointed_runs"):
            checkpoint.checkpointed_runs = Variable(0, dtype=dtypes.int64, trainable=False)
        self._checkpointed_runs = checkpoint.checkpointed_runs
        manager.restore_or_initialize()
        self.total_run_calls = int(self._checkpointed_runs)
        """The number of calls of `run`, with those before the program was restarted."""
        if config.termination_watcher_fn is None:
            signal.signal(signal.SIGTERM, lambda number, frame: self._note())
        else:
            threading.Thread(target=self._poll, args=(config.termination_watcher_fn,), daemon=True).start()

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return the result of a step. If a worker must end soon, save a checkpoint and exit instead."""
        self._save_if_noticed()
        start = time.monotonic()
        result = distributed_train_function(*args, **kwargs)
        self._step_seconds = time.monotonic() - start
        self.total_run_calls += 1
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint and exit if a worker must end soon. For programs that do not call `run`, after a step.

        The arguments are those of `tf.train.CheckpointManager.save`.
        """
        self._save_if_noticed(*args, **kwargs)
        self.total_run_calls += 1

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Any:
        """Change nothing in the block: on TPUs, TensorFlow's programs save in it."""
        yield

    def _note(self) -> None:
        """Note that this process must end soon."""
        if not self._is_noticed:
            self._is_noticed = True
            self._deadline = time.monotonic() + self._grace

    def _poll(self, is_ending: Callable[[], bool]) -> None:
        while not is_ending():
            time.sleep(POLL_EVERY)
        self._note()

    def _save_if_noticed(self, *args: Any, **kwargs: Any) -> None:
        is_due = self._is_noticed
        if self._is_last and self._grace > 0:
            is_due = time.monotonic() > self._deadline - MARGIN * self._step_seconds
        if not any(collectives.sizes_of(int(is_due))):
            return
        self._checkpointed_runs.assign(self.total_run_calls)
        self._save(*args, **kwargs)
        if self._is_last:
            self._exit()
        self._is_last = True
