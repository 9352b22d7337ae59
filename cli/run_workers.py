"""`agc run --workers N PROGRAM`: N processes of a program on this machine, each a worker of one cluster.

[worker 0] step 1     the workers' lines, with a prefix
[worker 1] step 1     a worker that fails ends the others; so do Ctrl-C and the end of this process

With `--restarts K` all workers start again after a failure, at most K times.

Each worker is started with the same command line. Two variables of its environment say which one it is: TF_CONFIG, and
AGC_LAUNCHER, the end of a pipe that closes when this process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any

from .errors import BAD_USAGE, FAILED, INTERRUPTED, OK, problem

FIRST_PORT = 29500
"""The port of worker 0 when workers are started one by one."""

PATIENCE = 3.0
"""The seconds that workers have to end after a signal, before they are killed."""

GRACE = 30.0
"""The seconds that workers have to end after SIGTERM, on which a program may save a checkpoint."""

LINGER = 1.0
"""The seconds that the others have to end by themselves after a worker has failed."""


def is_worker() -> bool:
    """Return whether this process was started by a launcher."""
    return "AGC_LAUNCHER" in os.environ


def addresses(workers: str) -> list[str] | int:
    """Return the number of workers, or the addresses of a list with commas. Refuse something else."""
    if workers.isdecimal() and int(workers) > 0:
        return int(workers)
    listed = workers.split(",")
    if all(one.rpartition(":")[0] and one.rpartition(":")[2].isdecimal() for one in listed):
        return listed
    raise problem(
        BAD_USAGE,
        f"--workers takes a number or addresses, not `{workers}`",
        fix="--workers 2, or --workers HOST:PORT,HOST:PORT --worker-index 0",
    )


def become(workers: str, index: int) -> None:
    """Make this process the worker `index`: set TF_CONFIG."""
    found = addresses(workers)
    members = [f"127.0.0.1:{FIRST_PORT + i}" for i in range(found)] if isinstance(found, int) else found
    if not 0 <= index < len(members):
        raise problem(
            BAD_USAGE, f"--worker-index {index} is none of {len(members)} workers", fix="count from 0"
        )
    os.environ["TF_CONFIG"] = config(members, index)


def config(members: Sequence[str], index: int) -> str:
    """Return the text of TF_CONFIG for a worker."""
    return json.dumps({"cluster": {"worker": list(members)}, "task": {"type": "worker", "index": index}})


def follow_launcher() -> None:
    """End this process when its launcher has ended, however that was."""
    pipe = int(os.environ["AGC_LAUNCHER"])

    def follow() -> None:
        while os.read(pipe, 1):
            pass
        os._exit(FAILED)

    threading.Thread(target=follow, name="launcher", daemon=True).start()


def launch(workers: str, restarts: int, arguments: Sequence[str]) -> int:
    """Run `agc run ARGUMENTS` in each worker; return the exit code of the first one that fails, or 0.

    After a failure all workers start again, at most `restarts` times.
    """
    count = addresses(workers)
    if not isinstance(count, int):
        raise problem(
            BAD_USAGE,
            "--workers with addresses starts one of them",
            fix="add --worker-index, on each machine",
        )
    if os.name != "posix":
        raise problem(
            BAD_USAGE, "--workers N needs a POSIX system", fix="start each worker with --worker-index"
        )
    with _ended_by_signals(), _pipe() as pipe:
        for left in reversed(range(restarts + 1)):
            code = _run_all(count, arguments, pipe)
            if code in (OK, INTERRUPTED) or not left:
                break
            print(f"agc run: all workers start again ({left - 1} restarts are left)", file=sys.stderr)
    return code


def _run_all(count: int, arguments: Sequence[str], pipe: int) -> int:
    """Start the workers, wait for them, and return the exit code; none is left when this returns."""
    started: list[_Worker] = []
    number = signal.SIGINT
    with reserved_ports(count) as ports:
        members = [f"127.0.0.1:{port}" for port in ports]
        try:
            for index in range(count):
                started.append(_Worker(index, config(members, index), arguments, pipe))
            return _watch(started)
        except KeyboardInterrupt as interrupt:
            number = next(iter(interrupt.args), number)
            return INTERRUPTED
        finally:
            _end(started, number)


class _Worker:
    """One process, whose lines two threads copy."""

    def __init__(self, index: int, cluster: str, arguments: Sequence[str], pipe: int) -> None:
        self.name = f"worker {index}"
        environment = {**os.environ, "TF_CONFIG": cluster, "AGC_LAUNCHER": str(pipe), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agc.cli", "run", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[pipe],
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends the workers
        )
        streams = ((self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr))
        self._copiers = [threading.Thread(target=self._copy, args=pair, daemon=True) for pair in streams]
        for thread in self._copiers:
            thread.start()

    def _copy(self, source: IO[bytes], target: Any) -> None:
        for line in source:
            text = line.decode(errors="replace").rstrip("\n")
            with _printing, contextlib.suppress(BrokenPipeError):
                target.write(f"[{self.name}] {text}\n")
                target.flush()

    def signal(self, number: int) -> None:
        """Send a signal to the process and to what it has started, if it lives."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def finish(self) -> None:
        """Wait for the end of the process and of its output."""
        self.process.wait()
        for thread in self._copiers:
            thread.join(PATIENCE)


_printing = threading.Lock()


def _watch(workers: Sequence[_Worker]) -> int:
    """Wait until all have ended, or one has failed; return the exit code."""
    running = list(workers)
    while running:
        for worker in [one for one in running if one.process.poll() is not None]:
            running.remove(worker)
            worker.finish()
            code = worker.process.returncode
            if code:
                _wait(running, LINGER)
                running = [one for one in running if one.process.poll() is None]
                how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
                others = ": the other workers are ended" if running else ""
                print(f"agc run: {worker.name} {how}{others}", file=sys.stderr)
                return 128 - code if code < 0 else code
        time.sleep(0.05)
    return OK


def _end(workers: Sequence[_Worker], number: int) -> None:
    """End the workers that still run: they get the signal, and are killed after a while."""
    for worker in workers:
        if worker.process.poll() is None:
            worker.signal(number)
    _wait(workers, GRACE if number == signal.SIGTERM else PATIENCE)
    for worker in workers:
        worker.signal(signal.SIGKILL)
        worker.finish()


def _wait(workers: Sequence[_Worker], seconds: float) -> None:
    """Wait until the processes have ended, for this time at most."""
    limit = time.monotonic() + seconds
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(limit - time.monotonic(), 0))


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does, with its workers, which get the same signal."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt(number)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """Choose free ports and hold them, so that no other program gets them; JAX's service shares its port."""
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(count):
            one = held.enter_context(socket.socket())
            if hasattr(socket, "SO_REUSEPORT"):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        if not hasattr(socket, "SO_REUSEPORT"):
            held.close()
        yield ports


@contextlib.contextmanager
def _pipe() -> Iterator[int]:
    """Open a pipe, and give the end that workers read; it closes when this process ends."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)
