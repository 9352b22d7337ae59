"""The stack of scopes and replicas: in the scope of a strategy the program is across replicas, in `run` in one.

strategy.scope()          get_replica_context() is None        in_cross_replica_context() is True
    strategy.run(f)       in f it is a ReplicaContext          in f it is False
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import errors, nest
from ..autodiff.custom_gradient import custom_gradient
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor
from ..ir.builder import current, stack
from ..ops.math.cast import identity
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


def innermost() -> Place | None:
    """Return the innermost strategy and replica; None outside of all scopes."""
    return _places.stack[-1] if _places.stack else None


@export("distribute.ReplicaContext")
class ReplicaContext:
    """The view of one replica. If it is the only one, collective operations return its own values."""

    thread: Any = None  # the thread of this replica, if there are several
    variables: Any = None

    def __init__(self, strategy: Any, replica_id_in_sync_group: int = 0) -> None:
        self.strategy = strategy
        self.replica_id_in_sync_group = replica_id_in_sync_group

    @property
    def num_replicas_in_sync(self) -> int:
        return self.strategy.num_replicas_in_sync  # type: ignore[no-any-return]

    @property
    def devices(self) -> tuple[str, ...]:
        return (f"/job:localhost/replica:0/task:0/device:CPU:{self.replica_id_in_sync_group}",)

    def __enter__(self) -> ReplicaContext:
        _places.stack.append(Place(self.strategy, self))
        return self

    def __exit__(self, *exception: object) -> None:
        _places.stack.pop()

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the sum or mean of a nest of tensors over the replicas; its gradient is reduced alike.

        Raises UnimplementedError for several replicas in the block of a tape in a `tf.function`.
        """
        chosen = ReduceOp.of(reduce_op)
        if self.num_replicas_in_sync == 1:
            return value
        return nest.map_structure(lambda x: self._all_reduce(chosen, convert_to_tensor(x)), value)

    def _all_reduce(self, reduce_op: ReduceOp, tensor: Any) -> Any:
        if current() is not None and stack.recorders:
            raise errors.UnimplementedError(
                "all_reduce of several replicas has no gradient in a tf.function: call it outside of the block of the "
                "tape, or run the step eagerly."
            )
        total = self.merge_call(
            lambda strategy, parts: strategy.extended.reduce_to(reduce_op, parts, None), (tensor,)
        )

        if current() is not None:
            return _own(total)

        @custom_gradient
        def reduced(x: Any) -> Any:
            return _own(total), lambda dy: self._all_reduce(reduce_op, dy)

        return reduced(tensor)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Return the tensors of all replicas joined along an axis. With several replicas it has no gradient."""
        if self.num_replicas_in_sync == 1:
            return value

        def gathered(strategy: Any, parts: Any) -> Any:
            return nest.map_structure(lambda part: strategy.gather(part, axis), parts)

        return nest.map_structure(
            _own, self.merge_call(gathered, (nest.map_structure(convert_to_tensor, value),))
        )

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Return `merge_fn(strategy, *args, **kwargs)`, called once across replicas, with `PerReplica` arguments."""
        if self.thread is not None:
            return self.thread.merged(merge_fn, args, kwargs or {})
        with entered(self.strategy, None):
            return merge_fn(self.strategy, *args, **(kwargs or {}))


def _own(tensor: Any) -> Any:
    """Return a tensor object of this replica, so that results of replicas are not the same object."""
    return EagerTensor(tensor._array) if isinstance(tensor, EagerTensor) else identity(tensor)
