"""The threads of the pool (codegen/thread_pool_ir.py) and the process: they end before it forks, and begin
anew when there is work.

    os.fork()    before                the threads finish what they do, and end; no other is started
                 after, parent         they may be started again
                 after, child          the pool is as it was in the beginning

What forks without Python is not told to: its child has no threads, and does all work itself. Nobody waits for threads
where a process exits: they sleep, or work for somebody, and their code stays where it is.
"""

from __future__ import annotations

import ctypes
import os

from .codegen.thread_pool_ir import Place


def begin(address: int) -> None:
    """Make a pool ready, which has no threads yet."""
    pool = Pool(address)
    pool.begin()
    os.register_at_fork(
        before=pool.end_threads, after_in_parent=pool.allow_threads, after_in_child=pool.begin
    )


class Pool:
    """The memory of a pool. Python's lock is kept meanwhile, which its threads never need."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._system = ctypes.PyDLL(None)

    def begin(self) -> None:
        """There are no threads, and nobody has asked for anything."""
        ctypes.memset(self._address, 0, Place.END)
        self._call("pthread_mutex_init", Place.LOCK)
        for place in (Place.CALL, Place.DONE):
            self._call("pthread_cond_init", place)

    def end_threads(self) -> None:
        """Have all threads end, and wait for them. Who asks meanwhile does the work itself."""
        self._system.pthread_mutex_lock(self._at(Place.LOCK))
        self._word(Place.ENDS).value = 1
        self._word(Place.CALLS).value += 1
        self._system.pthread_cond_broadcast(self._at(Place.CALL))
        self._system.pthread_mutex_unlock(self._at(Place.LOCK))
        count = self._word(Place.STARTED).value
        for thread in (ctypes.c_uint64 * count).from_address(self._address + Place.THREADS):
            self._system.pthread_join(ctypes.c_void_p(thread), None)
        self._word(Place.STARTED).value = 0

    def allow_threads(self) -> None:
        """Let threads be started again."""
        self._word(Place.ENDS).value = 0

    def _call(self, name: str, place: Place) -> None:
        if getattr(self._system, name)(self._at(place), None):
            raise OSError(f"{name} failed")

    def _at(self, place: Place) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._address + place)

    def _word(self, place: Place) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._address + place)
