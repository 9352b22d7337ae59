"""Collective operations over processes that JAX joins: gloo on CPUs, NCCL on GPUs.

all_reduce(flat)     rows of a global array, one in each process     ==>     one compiled psum

JAX's coordination service runs in process 0. It joins the processes, and notices by heartbeats when one has ended.
A compiled collective waits in a thread of its own, so that the program can be interrupted and lost workers reported.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..executors.xla import AXIS
from ..kernels.collectives import Array
from .worker_health import WorkerHealth

INSTALL = "pip install 'agc-autograph[jax]'"


def require_jax() -> Any:
    """Return the module jax; raise ImportError with the extra that installs it."""
    os.environ.setdefault(
        "TF_CPP_MIN_LOG_LEVEL", "2"
    )  # no warning of the experimental recovery, which is used here
    try:
        import jax
    except ImportError:
        raise ImportError(f"strategies of several processes need JAX: {INSTALL}") from None
    return jax


class JaxEngine:
    """The engine of this process among `addresses`, those of all processes; the first one coordinates them.

    Args:
        addresses: "host:port" of each process.
        rank: the number of this process.
        timeout: the most seconds for which a collective waits; None for no limit while all processes live.

    Raises UnavailableError when a process is missing at the start, RuntimeError when JAX is in use already.
    """

    def __init__(self, addresses: Sequence[str], rank: int, timeout: float | None = None) -> None:
        self.addresses = list(addresses)
        self.rank, self.size = rank, len(addresses)
        self.timeout = timeout
        self._jax = require_jax()
        self.health = WorkerHealth(self._connected(), self.addresses, rank)
        atexit.register(self._leave)
        self._devices = self._one_device_each()
        self.mesh = self._jax.sharding.Mesh(np.array(self._devices), (AXIS,))
        rows = self._jax.sharding.PartitionSpec(AXIS)
        self._rows = self._jax.sharding.NamedSharding(self.mesh, rows)
        self._waiter = _Waiter()
        self._count = 0
        self._known: set[tuple[str, str, int]] = set()
        self._failure: Exception | None = None
        self.all_gather(np.array([rank]))  # connects the processes to each other

    def _connected(self) -> Any:
        """Join the processes, and return JAX's client of the coordination service."""
        jax = self._jax
        from jax._src import distributed  # the client has no public name

        if distributed.global_state.client is None:
            jax.config.update("jax_enable_recoverability", True)  # a lost worker ends no other
            jax.config.update("jax_enable_preemption_service", False)  # SIGTERM ends the program, as usual
            try:
                jax.distributed.initialize(
                    self.addresses[0],
                    self.size,
                    self.rank,
                    cluster_detection_method="deactivate",
                    coordinator_bind_address=self._bound_address(),
                    initialization_timeout=int(self.timeout or START_LIMIT),
                )
            except jax.errors.JaxRuntimeError as error:
                raise errors.UnavailableError(
                    f"worker {self.rank} of {self.size} cannot join the others at {self.addresses[0]}, the address of "
                    f"worker 0: {str(error).splitlines()[0]}"
                ) from None
        if (jax.process_index(), jax.process_count()) != (self.rank, self.size):
            raise RuntimeError(
                f"JAX has joined this process as {jax.process_index()} of {jax.process_count()}; the cluster says "
                f"{self.rank} of {self.size}"
            )
        return distributed.global_state.client

    def _bound_address(self) -> str | None:
        """Return the address on which the service listens: not on the network if the workers are on this machine."""
        host = self.addresses[0].rpartition(":")[0]
        return self.addresses[0] if host in ("localhost", "127.0.0.1") else None

    def _leave(self) -> None:
        """Before the process ends: close the client, and let the threads return, which must not outlive Python."""
        self.health.leave()
        self._jax.distributed.shutdown()
        if not self._waiter.is_idle.wait(LAST):
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(
                1
            )  # a collective that failed is stuck, and would abort when it returned to a finished Python

    def _one_device_each(self) -> list[Any]:
        first: dict[int, Any] = {}
        for device in self._jax.devices():
            first.setdefault(device.process_index, device)
        return [first[index] for index in range(self.size)]

    def all_reduce(self, flat: Array, reduction: str) -> Array:
        """Return the vector reduced over the processes: `reduction` is sum, min or max."""
        return self._call(reduction, flat)

    def all_gather(self, flat: Array) -> Array:
        """Return a matrix with the vector of each process as a row."""
        return self._call("gather", flat)

    def announce(self, topic: str, text: str) -> None:
        """Give the other processes the next text about a topic."""
        self.health.announce(topic, text)

    def awaited(self, topic: str) -> str:
        """Wait for the next text about a topic, and return it. Raises as a collective operation does."""
        what = f"the wait for the {topic} of worker 0"
        text: str = self._waiter.result(lambda: self.health.awaited(topic), self._watch(what))
        return text

    def _call(self, kind: str, flat: Array) -> Array:
        key = (kind, flat.dtype.name, flat.size)
        is_new = key not in self._known
        self._known.add(key)

        def call(what: str) -> Any:
            if is_new:
                self.health.agree(self._count, what)
            return self._run(kind, flat)

        return np.array(self._waited(f"{kind} of {flat.dtype.name}[{flat.size}]", call))

    def run(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call that runs a program of all processes, which they have agreed about."""
        return self._waited(what, lambda numbered: call())

    def _waited(self, what: str, run: Callable[[str], Any]) -> Any:
        """Return the result of a collective, while the health of the other processes is watched."""
        if self._failure is not None:
            raise self._failure
        self._count += 1
        what = f"{what}, the collective number {self._count}"

        def call() -> Any:
            return run(what)

        try:
            result = self._waiter.result(call, self._watch(what))
        except BaseException as error:
            self._failure = self._explained(error, what)
            if isinstance(error, Exception):
                raise self._failure from None
            raise
        self.health.clear()
        return result

    def _run(self, kind: str, flat: Array) -> Any:
        jax = self._jax
        with jax.enable_x64(True):  # for this thread
            own = jax.device_put(flat[None], self._devices[self.rank])
            rows = jax.make_array_from_single_device_arrays((self.size, flat.size), self._rows, [own])
            return np.asarray(self._program(kind)(rows).addressable_data(0))

    @functools.cache  # noqa: B019  (one engine for the life of the process)
    def _program(self, kind: str) -> Callable[[Any], Any]:
        jax, axis = self._jax, AXIS
        reduce = {"sum": jax.lax.psum, "min": jax.lax.pmin, "max": jax.lax.pmax}
        whole = jax.sharding.PartitionSpec()

        def body(rows: Any) -> Any:
            if kind == "gather":
                return jax.lax.all_gather(rows[0], axis)
            return reduce[kind](rows[0], axis)

        mapped = jax.shard_map(
            body, mesh=self.mesh, in_specs=self._rows.spec, out_specs=whole, check_vma=False
        )
        program: Callable[[Any], Any] = jax.jit(mapped)
        return program

    def _watch(self, what: str) -> Callable[[float], None]:
        """Return a function that raises when a collective has waited for too long, or in vain."""

        def watch(waited: float) -> None:
            self.health.check(what, waited)
            if self.timeout is not None and waited > self.timeout:
                raise errors.DeadlineExceededError(
                    f"worker {self.rank} has waited for {self.timeout:g} s in {what}: {self.health.suspects()}"
                )

        return watch

    def _explained(self, error: BaseException, what: str) -> Any:
        """Return the error of this and of later calls: JAX's own say not which worker is lost."""
        if isinstance(error, errors.OpError):
            return error
        if not isinstance(error, Exception):
            return errors.CancelledError(f"the program was interrupted in {what}")
        reason = str(error).splitlines()[0]
        return errors.UnavailableError(
            f"{self.health.suspects()}: worker {self.rank} waits for it in {what}. {reason}"
        )


START_LIMIT = 300
"""The seconds for which a process waits at the start for the others to join."""


class _Waiter:
    """A thread that runs one call at a time, while the caller watches."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.is_idle = threading.Event()
        self.is_idle.set()
        threading.Thread(target=self._serve, name="collectives", daemon=True).start()

    def result(self, call: Callable[[], Any], watch: Callable[[float], None]) -> Any:
        """Return the result of the call, or raise its error; `watch` gets the seconds waited, now and then."""
        with self._lock:
            start = time.monotonic()
            self._calls.put(call)
            while (found := self._next_result()) is None:
                watch(time.monotonic() - start)
            value, error = found
            if error is not None:
                raise error
            return value

    def _next_result(self) -> tuple[Any, BaseException | None] | None:
        try:
            return self._results.get(timeout=WATCH_EVERY)
        except queue.Empty:
            return None

    def _serve(self) -> None:
        while True:
            call = self._calls.get()
            self.is_idle.clear()
            try:
                self._results.put((call(), None))
            except BaseException as error:
                self._results.put((None, error))
            del call  # with its arrays
            self.is_idle.set()


LAST = 3.0
"""The seconds that the end of the program waits for a collective that has failed."""

WATCH_EVERY = 0.5
"""The seconds after which a waiting collective looks whether all workers live."""
