"""The processes that are measured, each with an interpreter that has the library.

agc = Process("agc", "agc.runtime", sys.executable, ["benchmarks.compiler.worker", "agc.runtime"])
agc.import_seconds()               0.031, over NumPy's own
agc.ask("measure", "power")        {"seconds": 0.00011, "result": [[...]]}
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import select
import subprocess
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]

SILENCE = "no answer within"
"""The beginning of the error of a process that takes too long."""

NOT_INHERITED = ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_", "OMP_", "MKL_")
"""The beginnings of variables that the processes do not get: BLAS chooses its code for the processor by itself."""

_IMPORT = """
import time
import numpy
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


class Process:
    """A library and the worker that runs its cases, started by the first question.

    `worker` is the module that answers questions, and its arguments.
    """

    def __init__(self, name: str, module: str, python: str, worker: Sequence[str]) -> None:
        self.name = name
        self.library = module
        self._python = python
        self._arguments = worker
        self._folder = tempfile.TemporaryDirectory()
        self._complaints = pathlib.Path(self._folder.name, "stderr")
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            assert self._worker.stdin is not None
            self._worker.stdin.close()
            self._worker.wait()
        self._folder.cleanup()

    @functools.cached_property
    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(NOT_INHERITED)}
        # Imports find bytecode, but nothing is found that was compiled in another process.
        own = {"AGC_CACHE": "0", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
        return inherited | own | {"TF_CPP_MIN_LOG_LEVEL": "3"}

    def import_seconds(self) -> float:
        """What importing the library takes in a fresh process that has imported NumPy."""
        command = [self._python, "-c", _IMPORT.format(module=self.library)]
        # From a folder without a `runtime` or `cli` of its own, as users do.
        done = subprocess.run(
            command, env=self._environment, cwd=self._folder.name, check=True, text=True, capture_output=True
        )
        return float(done.stdout.split()[-1])

    def ask(self, *request: str, within: float | None = None) -> dict[str, Any]:
        """The worker's answer; RuntimeError with what it complained of when it has none.

        A worker that does not answer `within` so many seconds is ended, and answers with an error. The next question
        starts a new one, as it does after a worker that has come to its end by itself.
        """
        if self._worker is None:
            self._worker = self._started()
        assert self._worker.stdin is not None and self._worker.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # a process that has ended gives no line
            self._worker.stdin.write(json.dumps(request) + "\n")
            self._worker.stdin.flush()
        if within is not None and not select.select([self._worker.stdout], [], [], within)[0]:
            self._end()
            return {"error": f"{SILENCE} {within:g} s"}
        line = self._worker.stdout.readline()
        if not line:
            self._end()
            raise RuntimeError(f"{self.name} cannot {' '.join(request)}:\n{self._complaints.read_text()}")
        return json.loads(line)  # type: ignore[no-any-return]

    def _end(self) -> None:
        assert self._worker is not None
        self._worker.kill()
        self._worker.communicate()  # closes the pipes, too
        self._worker = None

    def _started(self) -> subprocess.Popen[str]:
        command = [self._python, "-m", *self._arguments]
        pipe = subprocess.PIPE
        with self._complaints.open("w") as complaints:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment,
                text=True,
                stdin=pipe,
                stdout=pipe,
                stderr=complaints,
            )
