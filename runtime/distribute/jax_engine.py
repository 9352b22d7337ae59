"""Collective operations over processes that JAX joins: gloo on CPUs, NCCL on GPUs.

all_reduce(flat)     rows of a global array, one in each process     ==>     one compiled psum

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
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from agc.autograph.api import running

from .. import errors
from ..executors.xla import AXIS
from ..kernels.collectives import Array
from .jax_cluster import joined, require_jax
from .worker_health import WorkerHealth, silence_limit


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
        limit = silence_limit()
        client, relay = joined(self.addresses, rank, timeout)
        self.health = WorkerHealth(client, self.addresses, rank, limit, relay)
        self._is_leaving = threading.Event()
        # It starts here: Python 3.12 starts no thread at the end of a process.
        self._closing = threading.Thread(target=self._close, name="closing", daemon=True)
        self._closing.start()
        atexit.register(self._leave)
        self._devices = self._one_device_each()
        self.mesh = self._jax.sharding.Mesh(np.array(self._devices), (AXIS,))
        rows = self._jax.sharding.PartitionSpec(AXIS)
        self._rows = self._jax.sharding.NamedSharding(self.mesh, rows)
        self._waiter = _Waiter()
        self._count = 0
        self._recent: tuple[str, ...] = ()
        self._known: set[tuple[str, ...]] = set()  # sequences of collectives
        self._failure: Exception | None = None
        self.all_gather(np.array([rank]))  # connects the processes to each other

    def _leave(self) -> None:
        """Close the client before the process ends, and let its threads return: they must not outlive Python.

        Threads that are stuck in JAX would abort when they returned to a finished Python.
        """
        self._is_leaving.set()
        while self._closing.is_alive() and not self.health.has_lost_store:
            self._closing.join(WATCH_EVERY)
            self.health.watch_store()
        if self._closing.is_alive() or not self._waiter.is_idle.wait(LAST):
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(1)

    def _close(self) -> None:
        self._is_leaving.wait()
        self.health.leave()
        self._jax.distributed.shutdown()

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

    def _call(self, kind: str, flat: Array) -> Array:
        def call(what: str) -> Any:
            return self._run(kind, flat, what)

        return np.array(self._waited(f"{kind} of {flat.dtype.name}[{flat.size}]", call))

    def run(self, what: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call that runs a program of all processes."""
        return self._waited(what, lambda numbered: call())

    def _waited(self, what: str, run: Callable[[str], Any]) -> Any:
        """Return the result of a collective, while the health of the other processes is watched."""
        if self._failure is not None:
            raise self._failure
        self._count += 1
        line = str(running()) if self._is_new(what) else ""
        what = f"{what}, the collective number {self._count}"

        def call() -> Any:
            if line:
                self.health.agree(self._count, what, line)
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

    def _is_new(self, what: str) -> bool:
        """Return whether this collective has not followed the last ones before.

        The processes agree about such a one before they run it: gloo ends a process that gets too much data.
        """
        self._recent = (*self._recent[1 - MEMORY :], what)
        if self._recent in self._known:
            return False
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(self._recent)
        return True

    def _run(self, kind: str, flat: Array, what: str) -> Any:
        jax = self._jax
        mark = _mark(what, flat.dtype)
        sent = np.concatenate([flat, mark])
        with jax.enable_x64(True):  # for this thread
            own = jax.device_put(sent[None], self._devices[self.rank])
            rows = jax.make_array_from_single_device_arrays((self.size, sent.size), self._rows, [own])
            found = np.asarray(self._program(kind)(rows).addressable_data(0))
        expected = mark * mark.dtype.type(self.size) if kind == "sum" else mark
        if not (found[..., -MARK:] == expected).all():
            raise errors.FailedPreconditionError(
                f"the workers run different collectives: worker {self.rank} runs {what}, and another one does not. All "
                "must run the same ones, in the same order, with the same shapes"
            )
        return found[..., :-MARK]

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
        suspects = self.health.suspects()
        if self.health.refusal:
            return errors.FailedPreconditionError(self.health.refusal)
        return errors.UnavailableError(f"{suspects}: worker {self.rank} waits for it in {what}. {reason}")


MEMORY = 8
"""The length of the sequences of collectives that are known."""

MOST_KNOWN = 10_000

MARK = 3
"""The numbers that travel with the data of a collective, so that one of another kind is detected."""


def _mark(what: str, dtype: np.dtype[Any]) -> Array:
    """Return small numbers that depend on the collective."""
    digest = zlib.crc32(what.encode())
    return np.array([digest // 251**place % 251 for place in range(MARK)], dtype)


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
