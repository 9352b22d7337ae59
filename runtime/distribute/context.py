"""The stack of scopes and replicas: in the scope of a strategy the program is across replicas, in `run` in one.

strategy.scope()          get_replica_context() is None        in_cross_replica_context() is True
    strategy.run(f)       in f it is a ReplicaContext          in f it is False
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.export import export
from .reduce_op import ReduceOp


class Place(NamedTuple):
    """A strategy, and the context of its replica; that is None across replicas."""

    strategy: Any
    replica: ReplicaContext | None


class _Places(threading.local):
    def __init__(self) -> None:
        self.stack: list[Place] = []


_places = _Places()


@contextlib.contextmanager
def entered(strategy: Any, replica: ReplicaContext | None) -> Iterator[None]:
    """Run the block in a strategy: in a replica, or across replicas if that is None."""
    _places.stack.append(Place(strategy, replica))
    try:
        yield
    finally:
        _places.stack.pop()


def innermost() -> Place | None:
    """Return the innermost strategy and replica; None outside of all scopes."""
    return _places.stack[-1] if _places.stack else None


@export("distribute.ReplicaContext")
class ReplicaContext:
    """The view of one replica, the only one: collective operations return its own values."""

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    def __init__(self, strategy: Any, replica_id_in_sync_group: int = 0) -> None:
        self.strategy = strategy

    @property
    def devices(self) -> tuple[str, ...]:
        return ("/job:localhost/replica:0/task:0/device:CPU:0",)

    def __enter__(self) -> ReplicaContext:
        _places.stack.append(Place(self.strategy, self))
        return self

    def __exit__(self, *exception: object) -> None:
        _places.stack.pop()

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the sum or mean of a nest of tensors over the replicas: the tensors themselves."""
        ReduceOp.of(reduce_op)
        return value

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Return the tensors of all replicas joined along an axis: those of the one replica."""
        return value

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Return `merge_fn(strategy, *args, **kwargs)`, called across replicas."""
        with entered(self.strategy, None):
            return merge_fn(self.strategy, *args, **(kwargs or {}))
