"""`MultiWorkerMirroredStrategy`: one replica in each of several processes, on one machine or on many.

TF_CONFIG names the workers     ==>     JAX joins them     ==>     variables start equal, and updates are added up
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.export import export
from ..core.variable_enums import VariableSynchronization
from ..kernels import collectives
from ..tracing.cache_key import Identity
from . import process_values, sharding
from .cluster_resolvers import ClusterResolver, TFConfigClusterResolver
from .context import Scope, graphs_for
from .mirrored import MirroredExtended
from .options import CommunicationImplementation, CommunicationOptions, ValueContext
from .reduce_op import ReduceOp
from .strategy import InputContext, Strategy
from .variables import DistributedVariable, MirroredVariable, SyncOnReadVariable, distributed


class MultiWorkerExtended(MirroredExtended):
    """Members for optimizers and libraries."""

    _strategy: MultiWorkerMirroredStrategy

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Return the sum or mean over the workers."""
        return self._strategy.all_reduce(ReduceOp.of(reduce_op), value, options)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """Return the sum or mean of all values over the workers, in one collective operation."""
        values = [value for value, _ in value_destination_pairs]
        reduced: list[Any] = self._strategy.all_reduce(ReduceOp.of(reduce_op), values, options)
        return reduced

    def _in_multi_worker_mode(self) -> bool:
        return self._strategy.num_replicas_in_sync > 1

    @property
    def should_checkpoint(self) -> bool:
        """True for the chief, the worker that writes checkpoints."""
        return self._strategy.rank == 0

    should_save_summary = should_checkpoint

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._strategy.devices

    worker_devices = parameter_devices


@export("distribute.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """A strategy with a replica in each of several processes, which run the same program.

    Variables that are made in its scope start with the values of the first worker. Gradients and updates with an
    aggregation are added up over the workers. Without a cluster, the strategy has one replica. Needs the extra `jax`.

    Args:
        cluster_resolver: names the workers, and this one. Default: `TFConfigClusterResolver()`, which reads TF_CONFIG.
            The address of the first task must be free: JAX's coordination service listens there.
        communication_options: `timeout_seconds` limits the time for which a collective operation waits;
            `bytes_per_pack` the size of its buffers.

    Raises UnavailableError when workers are missing at the start, or are lost later. Raises ValueError for a cluster
    without this task, ImportError without JAX.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
    >>> strategy.num_replicas_in_sync
    1
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        super().__init__(MultiWorkerExtended(self))
        self.cluster_resolver = cluster_resolver or TFConfigClusterResolver()  # type: ignore[assignment]
        self._options = communication_options or CommunicationOptions()
        addresses, self.rank = _members(self.cluster_resolver)
        self.num_replicas_in_sync = len(addresses)
        self.spans_processes = len(addresses) > 1
        if self.spans_processes:
            _join(addresses, self.rank, self._options.timeout_seconds)

    @property
    def devices(self) -> tuple[str, ...]:
        """The name of the device of this worker."""
        resolver: Any = self.cluster_resolver
        job = f"{resolver.task_type}/replica:0/task:{resolver.task_id}" if self.spans_processes else None
        return (f"/job:{job or 'localhost/replica:0/task:0'}/device:CPU:0",)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Make this the current strategy in the block; the variables that it makes start equal in all workers."""
        return Scope(self, self._created)

    def _created(self, next_creator: Callable[..., Any], **kwargs: Any) -> DistributedVariable:
        is_on_read = kwargs["synchronization"] is VariableSynchronization.ON_READ
        kind = SyncOnReadVariable if is_on_read else MirroredVariable
        made = distributed(self, next_creator, kwargs, 1, kind)
        (component,) = made.values
        if self.spans_processes and component._array.dtype.kind != "O":
            component._array = collectives.copied(component._array, 0)
        return made

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Return `fn(*args, **kwargs)`, called in the replica of this worker."""
        # A graph for this replica does not aggregate the variables that it reads.
        own = graphs_for((Identity(self), self.rank)) if self.spans_processes else contextlib.nullcontext()
        with own:
            return super().run(fn, args, kwargs, options)

    def all_reduce(self, reduce_op: ReduceOp, value: Any, options: Any = None) -> Any:
        """Return the sum or mean of a nest of tensors over the workers."""
        if not self.spans_processes:
            return value
        size = (options or self._options).bytes_per_pack
        return process_values.all_reduced(reduce_op, value, self.num_replicas_in_sync, size)

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Return the sum or mean over the workers, and over an axis of each tensor if `axis` is not None."""
        if not self.spans_processes:
            return super().reduce(reduce_op, value, axis)
        self._check_across()
        return process_values.reduced(ReduceOp.of(reduce_op), value, axis, self.num_replicas_in_sync)

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of the workers joined along an axis, for each leaf of a nest."""
        self._check_across()
        return process_values.all_gathered(value, axis) if self.spans_processes else value

    def of_first_replica(self, value: Any) -> Any:
        """Return the value of the first worker, whose shape is the same in all workers."""
        return process_values.broadcast(value, 0) if self.spans_processes else value

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the part of this worker of each global batch, or of the files; see `AutoShardPolicy`."""
        if not self.spans_processes:
            return dataset
        return sharding.sharded(dataset, self.num_replicas_in_sync, self.rank)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """Return the dataset of `dataset_fn(InputContext(workers, this worker, replicas))`.

        A worker whose dataset ends before those of others gets empty batches until all have ended.
        """
        workers = self.num_replicas_in_sync
        dataset = dataset_fn(InputContext(workers, self.rank, workers))
        return sharding.together(dataset) if self.spans_processes else dataset

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Return the value of this worker: `value_fn` of its `ValueContext`."""
        return value_fn(ValueContext(self.rank, self.num_replicas_in_sync))


@export("distribute.experimental.MultiWorkerMirroredStrategy")
class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """`MultiWorkerMirroredStrategy` with the arguments of older programs; `communication` has no effect.

    >>> ExperimentalMultiWorkerMirroredStrategy().num_replicas_in_sync
    1
    """

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


def _members(resolver: Any) -> tuple[list[str], int]:
    """Return the addresses of the workers, the chief first, and the number of this one.

    An evaluator is in no cluster. Raises ValueError if this task is not in the cluster, or in a job for something else.
    """
    spec = resolver.cluster_spec()
    job, index = resolver.task_type, resolver.task_id
    if not spec or job == "evaluator":
        return ["localhost"], 0
    members = [
        (each, number)
        for each in ("chief", "worker")
        if each in spec.jobs
        for number in spec.task_indices(each)
    ]
    if (job, index) not in members:
        raise ValueError(
            f"the task of this process, type {job!r} with index {index}, is not a chief or worker of the cluster "
            f"{spec.as_dict()}: set `task` in TF_CONFIG, or give `cluster_resolver`"
        )
    return [spec.task_address(*member) for member in members], members.index((job, index))


class _Joined:
    members: tuple[list[str], int] | None = None
    engine: Any = None


_joined = _Joined()  # the cluster of this process, once it has joined one


def _join(addresses: list[str], rank: int, timeout: float | None) -> None:
    """Join the workers, once in a process. Raises RuntimeError if the process is in another cluster."""
    from .jax_engine import JaxEngine

    if _joined.members not in (None, (addresses, rank)):
        raise RuntimeError(
            f"this process is in the cluster {_joined.members} already, and cannot join {addresses}: a program has one "
            "cluster"
        )
    if _joined.engine is None:
        _joined.engine = collectives.active.engine = JaxEngine(addresses, rank, timeout)
        _joined.members = addresses, rank
    elif timeout is not None:
        _joined.engine.timeout = timeout
