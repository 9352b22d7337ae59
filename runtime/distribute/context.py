"""The stack of scopes and replicas: in the scope of a strategy the program is across replicas, in `run` in one.

strategy.scope()          get_replica_context() is None        in_cross_replica_context() is True
    strategy.run(f)       in f it is a ReplicaContext          in f it is False
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import dtypes, nest
from ..autodiff.tape import GradientTape
from ..autodiff.tape_records import Pullback
from ..composite.indexed_slices import IndexedSlices
from ..core import variable_creators
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ir.builder import recorders, recording_by, stack
from ..ops.arrays.concat_split import split
from ..ops.arrays.shape_ops import shape
from ..ops.math.cast import identity
from .process_values import all_gathered
from .reduce_op import ReduceOp


class Place(NamedTuple):
    """A strategy, and the context of its replica; that is None across replicas."""

    strategy: Any
    replica: ReplicaContext | None
    updated: int | None = None  # the component of variables that an update across replicas reads


class _Places(threading.local):
    def __init__(self) -> None:
        self.stack: list[Place] = []


_places = _Places()


@contextlib.contextmanager
def entered(strategy: Any, replica: ReplicaContext | None, updated: int | None = None) -> Iterator[None]:
    """Run the block in a strategy: in a replica, or across replicas if that is None.

    `updated` is the replica whose components an update across replicas changes.
    """
    _places.stack.append(Place(strategy, replica, updated))
    try:
        yield
    finally:
        _places.stack.pop()


@contextlib.contextmanager
def graphs_for(replica: Any) -> Iterator[None]:
    """Let functions that the block calls have graphs of their own for a replica, which this key names."""
    outer, stack.replica = stack.replica, replica
    stack.settle()
    try:
        yield
    finally:
        stack.replica = outer
        stack.settle()


class Scope:
    """The block of a strategy, in which `creator` makes the variables.

    A program may call `__enter__` and keep no reference to this object: the block ends with `__exit__` only.
    """

    def __init__(self, strategy: Any, creator: variable_creators.Creator | None = None) -> None:
        self._strategy = strategy
        self._creator = creator
        self._are_new: list[bool] = []  # for each entry, whether the creator was not active before

    def __enter__(self) -> Any:
        self._strategy._check_across()
        _places.stack.append(Place(self._strategy, None))
        self._are_new.append(self._creator is not None and not variable_creators.is_active(self._creator))
        if self._creator is not None and self._are_new[-1]:
            variable_creators.creators.stack.append(self._creator)
        return self._strategy

    def __exit__(self, *exception: object) -> None:
        if self._are_new.pop():
            variable_creators.creators.stack.pop()
        _places.stack.pop()


def innermost() -> Place | None:
    """Return the innermost strategy and replica; None outside of all scopes."""
    return _places.stack[-1] if _places.stack else None


@export("distribute.ReplicaContext")
class ReplicaContext:
    """The view of one replica. If it is the only one, collective operations return its own values.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group).numpy()
    np.int32(0)
    """

    thread: Any = None  # the thread of this replica, if there are several
    variables: Any = None

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any = 0, component: int = 0) -> None:
        self.strategy = strategy
        self.replica_id = replica_id_in_sync_group  # an int, or a tensor in a graph that all replicas share
        self.component = component  # the number of this replica among those of this process

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica among those of all processes, a scalar of int32; 0 outside of all strategies."""
        return convert_to_tensor(self.replica_id, dtypes.int32) if _places.stack else self.replica_id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of the strategy."""
        return self.strategy.num_replicas_in_sync  # type: ignore[no-any-return]

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica, in a tuple."""
        return (self.strategy.extended.worker_devices[self.component],)

    def __enter__(self) -> ReplicaContext:
        _places.stack.append(Place(self.strategy, self))
        return self

    def __exit__(self, *exception: object) -> None:
        _places.stack.pop()

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the sum or mean of a nest of tensors over the replicas; its gradient is reduced alike."""
        chosen = ReduceOp.of(reduce_op)
        if self.num_replicas_in_sync == 1:
            return value
        if self.strategy.spans_processes:
            return self.strategy.all_reduce(chosen, value, options)
        leaves = nest.flatten(value)
        dense = [leaf for leaf in leaves if not isinstance(leaf, IndexedSlices)]
        totals = iter(self._all_reduce(chosen, dense) if dense else [])
        results = [
            self.merge_call(_reduced_to, (chosen, [leaf]))[0]
            if isinstance(leaf, IndexedSlices)
            else next(totals)
            for leaf in leaves
        ]
        return nest.pack_sequence_as(value, results)

    def _all_reduce(self, reduce_op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        def reduced(grads: Sequence[Any], wanted: Any) -> list[Any]:
            found = iter(self._all_reduce(reduce_op, [dy for dy in grads if dy is not None]))
            return [None if dy is None else next(found) for dy in grads]

        return self._collective(
            lambda strategy, parts: _reduced_to(strategy, reduce_op, parts), values, reduced
        )

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Return the tensors of all replicas joined along an axis; the gradient is the part of this replica."""
        if self.num_replicas_in_sync == 1:
            return value
        if self.strategy.spans_processes:
            return all_gathered(value, axis)
        return nest.map_structure(lambda x: self._all_gather(x, axis), value)

    def _all_gather(self, value: Any, axis: int) -> Any:
        tensor = convert_to_tensor(value)

        def own_part(dy: Any) -> Any:
            sizes = self._all_gather(shape(tensor)[axis : axis + 1 or None], 0)
            own = self.replica_id
            (total,) = self._all_reduce(ReduceOp.SUM, [dy])
            return split(total, sizes, axis, self.num_replicas_in_sync)[own]

        gathered = self._collective(
            lambda strategy, parts: [strategy.gather(parts[0], axis)],
            [tensor],
            lambda grads, wanted: [own_part(grads[0])],
        )
        return gathered[0]

    def _collective(
        self, merge_fn: Callable[..., Any], values: Sequence[Any], pullback: Callable[..., list[Any]]
    ) -> list[Any]:
        """Return the merged values of all replicas as new tensors.

        Tapes of this replica do not record what the merged call computes: they get `pullback`. Tapes around
        `Strategy.run` record it, with the parts of all replicas.
        """
        tensors = [convert_to_tensor(value) for value in values]
        totals = self.merge_call(merge_fn, (tensors,))
        around = self.thread.outer_recorders
        with recording_by(around):
            results = [identity(total) for total in totals]
        record = Pullback(tensors, results, pullback)
        for tape in recorders():
            if isinstance(tape, GradientTape) and tape not in around:
                tape.keep(record)
        return results

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Return `merge_fn(strategy, *args, **kwargs)`, called once across replicas, with `PerReplica` arguments."""
        if self.thread is not None:
            return self.thread.merged(merge_fn, args, kwargs or {})
        with entered(self.strategy, None):
            return merge_fn(self.strategy, *args, **(kwargs or {}))


def _reduced_to(strategy: Any, reduce_op: ReduceOp, parts: Sequence[Any]) -> Any:
    return strategy.extended.batch_reduce_to(reduce_op, [(part, None) for part in parts])
