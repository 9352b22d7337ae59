"""`python -m agc.cli` in a process of its own that need not import agc first, which takes longer than most commands.

    run(("convert", "x.py"), cwd=folder)    →  what subprocess.run gives

The first call starts a process that imports what commands need, and waits. Each call has it fork: the copy takes the
arguments, the environment, the folder and the streams, runs the module, and ends as any process does. Where there is no
fork, and where the environment is for Python itself, a new process is started.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MODULE = "agc.cli"
NEEDED = """
    agc.cli.main agc.autograph.operators agc.autograph.import_hook.compile_module agc.autograph.side_effects.retrace
    agc.runtime.tracing agc.runtime.autograph_backend agc.runtime.optimize agc.runtime.executors.plan.plan
"""
STREAMS = ("in", "out", "err")
# The only such names that matter later than at the start.
TAKEN_OVER = ("PYTHON_COLORS", "PYTHONDONTWRITEBYTECODE")


def run(
    arguments: Sequence[object],
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",
    one_stream: bool = False,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """What the command prints, and its exit code. With `one_stream`, what goes to stderr stands in `stdout`, too."""
    command = [sys.executable, "-m", MODULE, *map(str, arguments)]
    environment = dict(os.environ if env is None else env)
    if not hasattr(os, "fork") or _of_python(environment) != _of_python(_environment()):
        err = subprocess.STDOUT if one_stream else subprocess.PIPE
        return subprocess.run(
            command, input=input, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=err,
            encoding="utf-8", timeout=timeout,
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        files = {stream: Path(name, stream) for stream in STREAMS}
        files["in"].write_text(input, "utf-8")
        if one_stream:
            files["err"] = files["out"]
        request = {
            "arguments": command[3:],
            "folder": os.fspath(cwd or os.getcwd()),
            "environment": environment,
            "files": [os.fspath(files[stream]) for stream in STREAMS],
        }
        code = _asked(request, timeout)
        out, err = (files[stream].read_text("utf-8") for stream in STREAMS[1:])
    return subprocess.CompletedProcess(command, code, out, "" if one_stream else err)


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    """What an environment says to Python when it starts."""
    named = {name: value for name, value in environment.items() if name.startswith("PYTHON")}
    return {name: value for name, value in named.items() if name not in TAKEN_OVER}


def _asked(request: dict[str, Any], timeout: float) -> int:
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    if not select.select([server.stdout], [], [], timeout)[0]:
        os.killpg(server.pid, signal.SIGKILL)
        _server.cache_clear()
        raise subprocess.TimeoutExpired(request["arguments"], timeout)
    return int(server.stdout.readline())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8"}


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        env=_environment(), start_new_session=True,
    )  # fmt: skip
    atexit.register(server.communicate)
    return server


def _become(request: dict[str, Any]) -> None:
    """Take what makes a process another one."""
    for stream, name in enumerate(request["files"]):
        handle = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        os.dup2(handle, stream)
        os.close(handle)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
    sys.path[0] = request["folder"]
    sys.argv[1:] = request["arguments"]


def _serve() -> None:
    """Fork for each request, and say with what code the copy has ended; only copies return."""
    gc.freeze()  # what is here stays: no copy has to look at it
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            return _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)


if __name__ == "__main__":
    import importlib
    import runpy

    for needed in NEEDED.split():
        importlib.import_module(needed)
    _serve()
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
