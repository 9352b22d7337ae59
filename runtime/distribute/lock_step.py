"""Run a function in several replicas, each in a thread of its own, of which one runs at a time.

replica 0:  ── x ──┐             ┌── …          A replica runs until it calls `merge_call` or returns.
replica 1:         └── x ──┐     │              When all have called it, the calling thread runs the
caller:                    └─ merge_fn          merged function once, and then replica 0 goes on.

The threads record operations in the graph of the calling thread, if that is building one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core import devices, variable_creators
from ..ir import name_scopes
from ..ir.builder import Builder, current, stack
from ..tracing.cache_key import Identity
from . import context
from .values import regroup, select


class MergeCall(NamedTuple):
    """A call of `merge_call` in one replica."""

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]


class _Stopped(BaseException):
    """Ends the thread of a replica after another one has failed."""


class _ThreadState(NamedTuple):
    """The state of the calling thread that the replicas share: its graph, tapes, devices and scopes."""

    builders: list[Builder | None]
    recorders: list[Any]
    names: list[Any]
    creators: list[Any]
    scope: str

    @classmethod
    def captured(cls) -> _ThreadState:
        creators = list(variable_creators.creators.stack)
        return cls(
            stack.builders[1:],
            list(stack.recorders),
            list(devices.device_blocks.names),
            creators,
            name_scopes.eager_scope.scope,
        )

    def enter(self) -> None:
        for builder in self.builders:
            stack.push(builder)
        stack.recorders.extend(self.recorders)
        stack.settle()
        devices.device_blocks.names[:] = self.names
        variable_creators.creators.stack[:] = self.creators
        name_scopes.eager_scope.scope = self.scope

    def leave(self) -> None:
        stack.recorders.clear()
        del stack.builders[1:]
        stack.replica = None
        stack.settle()


class Replica(threading.Thread):
    """The thread of one replica. `step` lets it run until its next merge call, its result or its error."""

    def __init__(self, place: context.ReplicaContext, call: Callable[[], Any], state: _ThreadState) -> None:
        super().__init__(name=f"replica {place.replica_id}", daemon=True)
        self.place = place
        self.merge: MergeCall | None = None
        self.result: Any = None
        self.error: BaseException | None = None
        self._call = call
        self._state = state
        self._graph = current()
        self._resumed = threading.Semaphore(0)
        self._paused = threading.Semaphore(0)
        self._stopped = False

    def run(self) -> None:
        """Call the function in the replica's context."""
        try:
            self._wait()
            self._state.enter()
            stack.replica = Identity(self.place.strategy), self.place.replica_id
            stack.settle()
            with context.entered(self.place.strategy, self.place):
                self.result = self._call()
        except _Stopped:
            pass  # the error of the other replica is the one to raise
        except BaseException as error:
            self.error = error
        finally:
            self._state.leave()
            self._paused.release()

    @property
    def outer_recorders(self) -> list[Any]:
        """The tapes around the call of `Strategy.run`, which record the operations of all replicas."""
        return self._state.recorders

    def step(self) -> None:
        """Let the replica run until it pauses; raise its error."""
        self.merge = None
        self._resumed.release()
        self._paused.acquire()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """End the thread if it is paused."""
        self._stopped = True
        self._resumed.release()
        self.join()

    def merged(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Pause for a merge call, and return the part of its result for this replica."""
        if current() is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. This can often happen if the "
                "function `fn` passed to `strategy.run()` contains a nested `@tf.function` or a condition or loop "
                "on tensors, and this contains a synchronization point, such as `all_reduce`, an optimizer's update, "
                "or a variable's assignment with an aggregation. Move it out of the nested function, condition or loop."
            )
        self.merge = MergeCall(function, args, kwargs)
        self._paused.release()
        self._wait()
        return self.result

    def _wait(self) -> None:
        self._resumed.acquire()
        if self._stopped:
            raise _Stopped


def run_in_lock_step(
    places: Sequence[context.ReplicaContext], calls: Sequence[Callable[[], Any]]
) -> list[Any]:
    """Return the results of the calls, each in its replica. An error in one replica stops all, and is raised."""
    state = _ThreadState.captured()
    replicas = [Replica(place, call, state) for place, call in zip(places, calls, strict=True)]
    for replica in replicas:
        replica.place.thread = replica
        replica.start()
    try:
        while True:
            for replica in replicas:
                replica.step()
            merges = [replica.merge for replica in replicas if replica.merge is not None]
            if not merges:
                return [replica.result for replica in replicas]
            if len(merges) < len(replicas):
                raise RuntimeError(
                    "Some replicas called `merge_call` or `all_reduce`, and others returned: all must."
                )
            _merge(replicas, merges)
    finally:
        for replica in replicas:
            replica.stop()
            replica.place.thread = None


def _merge(replicas: Sequence[Replica], merges: Sequence[MergeCall]) -> None:
    strategy = replicas[0].place.strategy
    with context.entered(strategy, None):
        args, kwargs = regroup([(tuple(merge.args), dict(merge.kwargs)) for merge in merges])
        result = merges[0].function(strategy, *args, **kwargs)
    for index, replica in enumerate(replicas):
        replica.result = select(index, result)
