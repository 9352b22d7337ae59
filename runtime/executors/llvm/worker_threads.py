"""The threads of the pool (codegen/thread_pool_ir.py) when a process forks: they end before, and restart on demand.

    os.fork()    before                the threads finish their work, and end; no other thread is started
                 after, in the parent  threads may be started again
                 after, in the child   the pool is in its initial state

A fork outside of Python goes unnoticed: the child has no threads, and does all work itself. A process exits
without a wait for its threads: they sleep or work, and their code stays loaded.
"""

from __future__ import annotations

import ctypes
import os

from .codegen.thread_pool_ir import PoolField


def begin(address: int) -> None:
    """Initialize a pool without threads."""
    pool = Pool(address)
    pool.begin()
    os.register_at_fork(
        before=pool.end_threads, after_in_parent=pool.allow_threads, after_in_child=pool.begin
    )


class Pool:
    """The memory of a pool. These methods hold the GIL, which pool threads never need."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._system = ctypes.PyDLL(None)

    def begin(self) -> None:
        """Reset the pool: no threads, and no requests."""
        ctypes.memset(self._address, 0, PoolField.END)
        self._call("pthread_mutex_init", PoolField.LOCK)
        for field in (PoolField.CALL, PoolField.DONE):
            self._call("pthread_cond_init", field)

    def end_threads(self) -> None:
        """End all threads and wait for them. In the meantime, callers do all work themselves."""
        self._system.pthread_mutex_lock(self._at(PoolField.LOCK))
        self._word(PoolField.ENDS).value = 1
        self._word(PoolField.CALLS).value += 1
        self._system.pthread_cond_broadcast(self._at(PoolField.CALL))
        self._system.pthread_mutex_unlock(self._at(PoolField.LOCK))
        count = self._word(PoolField.STARTED).value
        for thread in (ctypes.c_uint64 * count).from_address(self._address + PoolField.THREADS):
            self._system.pthread_join(ctypes.c_void_p(thread), None)
        self._word(PoolField.STARTED).value = 0

    def allow_threads(self) -> None:
        """Allow threads to be started again."""
        self._word(PoolField.ENDS).value = 0

    def _call(self, name: str, field: PoolField) -> None:
        if getattr(self._system, name)(self._at(field), None):
            raise OSError(f"{name} failed")

    def _at(self, field: PoolField) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._address + field)

    def _word(self, field: PoolField) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._address + field)
