"""`create_file_writer`: event files, and the default writer of summaries."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref
from typing import Any

from ..core.export import export
from ..data.tfrecord_writer import TFRecordWriter
from ..storage.gfile import makedirs
from . import events
from .state import SummaryWriter


class FileWriter(SummaryWriter):
    """A writer of events to a file, with a buffer; threads may share it."""

    keeps = True
    _numbers = itertools.count()

    def __init__(self, folder: str, max_queue: int, flush_millis: float, suffix: str) -> None:
        makedirs(folder)
        number = next(self._numbers)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{number}{suffix}"
        self.path = os.path.join(folder, name)
        self._records = TFRecordWriter(self.path)
        self._lock = threading.RLock()
        self._most, self._seconds = max_queue, flush_millis / 1000
        self._waiting, self._flushed = 0, time.monotonic()
        self.closed = False
        self._finish = weakref.finalize(self, self._records.close)  # also runs at the exit of the program
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


@export("summary.create_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: float | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """Return a writer of a new event file in a folder, which TensorBoard reads.

    Args:
        logdir: the folder; it is made if it does not exist.
        max_queue: the maximum number of buffered summaries; default 10.
        flush_millis: the maximum time in the buffer, in milliseconds; default two minutes.
        filename_suffix: the end of the file's name; default ".v2".
        name, experimental_trackable, experimental_mesh: accepted.

    Raises ValueError if `logdir` is None.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> writer = tf.summary.create_file_writer(folder)
    >>> with writer.as_default(step=1):
    ...     print(tf.summary.scalar("loss", 0.5).numpy())
    True
    >>> writer.close()
    >>> len(tf.io.gfile.glob(f"{folder}/events*"))
    1
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    suffix = ".v2" if filename_suffix is None else filename_suffix
    millis = 120_000.0 if flush_millis is None else float(flush_millis)
    return FileWriter(os.fspath(logdir), 10 if max_queue is None else int(max_queue), millis, suffix)


@export("summary.create_noop_writer")
def create_noop_writer() -> SummaryWriter:
    """Return a writer that drops everything.

    >>> import agc.runtime as tf
    >>> with create_noop_writer().as_default():
    ...     tf.summary.scalar("loss", 0.5, step=0).numpy()
    np.False_
    """
    return SummaryWriter()
