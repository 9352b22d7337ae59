"""`create_file_writer`: event files, and the writer that summaries go to by default."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from ..data.tfrecord_writer import TFRecordWriter
from . import events, state


class SummaryWriter:
    """Where summaries go. This one drops them; `create_file_writer` makes one that keeps them."""

    keeps = False

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Let summaries in the block go here; with `step` they have that step, unless they say another."""
        self._demand_open()
        with (
            state.changed(writer=self),
            state.changed(step=step) if step is not None else contextlib.nullcontext(),
        ):
            yield self
        self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """Let summaries go here from now on."""
        self._demand_open()
        state.current().writer = self
        if step is not None:
            state.current().step = step

    def _demand_open(self) -> None:
        """RuntimeError for a writer that is closed."""

    def write(self, event: bytes) -> None:
        """Take an event."""

    def init(self) -> None:
        """Nothing is left to do: files are made with their writer."""

    def flush(self) -> None:
        """Write to the disk what has been kept back."""

    def close(self) -> None:
        """Write everything, and take nothing more."""


class FileWriter(SummaryWriter):
    """Writes events to a file, many at once; threads may share it."""

    keeps = True
    _numbers = itertools.count()

    def __init__(self, folder: str, max_queue: int, flush_millis: float, suffix: str) -> None:
        os.makedirs(folder, exist_ok=True)
        number = next(self._numbers)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{number}{suffix}"
        self.path = os.path.join(folder, name)
        self._records = TFRecordWriter(self.path)
        self._lock = threading.RLock()
        self._most, self._seconds = max_queue, flush_millis / 1000
        self._waiting, self._flushed = 0, time.monotonic()
        self.closed = False
        self._finish = weakref.finalize(self, self._records.close)  # at the exit of the program as well
        self.write(events.version_event(time.time()))
        self.flush()

    def _demand_open(self) -> None:
        if self.closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def write(self, event: bytes) -> None:
        with self._lock:
            if self.closed:
                return
            self._records.write(event)
            self._waiting += 1
            if self._waiting > self._most or time.monotonic() - self._flushed > self._seconds:
                self.flush()

    def flush(self) -> None:
        with self._lock:
            if not self.closed:
                self._records.flush()
                self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        with self._lock:
            self.closed = True
            self._finish()

    def __repr__(self) -> str:
        return f"<SummaryWriter of {self.path!r}>"


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: float | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new event file in a folder, which TensorBoard reads.

    Args:
        logdir: the folder; it is made if it does not exist.
        max_queue: how many summaries may wait before they are written to the disk; default 10.
        flush_millis: how long they may wait, in milliseconds; default two minutes.
        filename_suffix: the end of the file's name; default ".v2".
        name, experimental_trackable, experimental_mesh: accepted.

    Raises ValueError for no folder.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    suffix = ".v2" if filename_suffix is None else filename_suffix
    millis = 120_000.0 if flush_millis is None else float(flush_millis)
    return FileWriter(os.fspath(logdir), 10 if max_queue is None else int(max_queue), millis, suffix)


def create_noop_writer() -> SummaryWriter:
    """A writer that drops everything."""
    return SummaryWriter()
