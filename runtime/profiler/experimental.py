"""The module `tf.profiler.experimental`: TensorFlow's functions to start and stop profiles, written to a folder.

logdir/plugins/profile/2026_11_22_10_30_00/
    host.xplane.pb          for TensorBoard's profile plug-in
    host.trace.json.gz      for chrome://tracing and ui.perfetto.dev
    host.profile.txt        the tables
    host.flame.html         the flame graph
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any, NamedTuple

from ..core.missing_names import explain as _explain
from ..ir.source_location import caller
from ..storage import gfile
from . import xplane
from .recorder import ProfilePoint
from .report import Report
from .session import begin, finish, running


class ProfilerOptions(NamedTuple):
    """TensorFlow's options. Profiles of graphs have one level of detail, so the options have no effect.

    >>> ProfilerOptions(host_tracer_level=3).host_tracer_level
    3
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


_folders: list[str] = []  # the output folder of the active profile


def start(logdir: str, options: ProfilerOptions | None = None) -> None:
    """Start a profile of all graphs that run. Raises AlreadyExistsError while one is active.

    Args:
        logdir: the folder that `stop` writes to.
        options: a ProfilerOptions; no effect.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     start(folder)
    ...     stop()
    ...     os.listdir(folder + "/plugins")
    ['profile']
    """
    begin()
    _folders[:] = [os.fspath(logdir)]


def stop(save: bool = True) -> None:
    """Stop the profile, and write it. Raises UnavailableError when none is active.

    >>> start("unused")
    >>> stop(save=False)
    """
    stopped(save)


def stopped(save: bool) -> Report:
    """Stop the profile, write it if `save` is true, and return its report."""
    report = finish()
    if save and _folders:
        _save(report, _folders[0])
    _folders.clear()
    return report


def _save(report: Report, logdir: str) -> None:
    folder = os.path.join(logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    gfile.makedirs(folder)
    stem = os.path.join(folder, socket.gethostname())
    with gfile.GFile(f"{stem}.xplane.pb", "wb") as plane:
        plane.write(xplane.encoded(report))
    report.write_trace(f"{stem}.trace.json.gz")
    report.write_page(f"{stem}.flame.html")
    with gfile.GFile(f"{stem}.profile.txt", "w") as file:
        file.write(report.text())


class Profile:
    """A profiled block: `start(logdir, options)` at its beginning, `stop()` at its end.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Profile(folder):
    ...         pass
    ...     os.listdir(folder)
    ['plugins']
    """

    def __init__(self, logdir: str, options: ProfilerOptions | None = None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *exception: object) -> None:
        stop()


class Trace:
    """A block that a profile shows under a name, with its metadata.

    >>> with Trace("train", step_num=3, _r=1):
    ...     pass
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name
        self._metadata = kwargs
        self._depth: int | None = None
        self._spot = ProfilePoint("trace", name)

    def __enter__(self) -> Trace:
        session = running()
        if session is not None:
            recorder = session.recorder()
            self._recorder, self._depth = recorder, recorder.depth()
            self._spot = ProfilePoint("trace", self._name, caller(), _described(self._metadata))
            recorder.enter(self._spot)
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Add metadata to the block."""
        self._metadata.update(kwargs)
        self._spot.result = _described(self._metadata)

    def __exit__(self, *exception: object) -> None:
        if self._depth is not None:
            self._recorder.leave_to(self._depth)


def _described(metadata: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in metadata.items() if not key.startswith("_"))


__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]

_explain(__name__)
