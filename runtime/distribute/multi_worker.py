"""`MultiWorkerMirroredStrategy`: replicas in several processes, on one machine or on many.

TF_CONFIG names the workers     ==>     JAX joins them     ==>     variables start equal, and updates are added up
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.export import export
from ..executors import xla
from ..kernels import collectives
from ..ops.collective.reductions import replica_id
from ..tracing.cache_key import Identity
from . import sharding
from .cluster_resolvers import ClusterResolver, TFConfigClusterResolver
from .context import graphs_for
from .input import DistributedDataset, split
from .mirrored import MirroredExtended, MirroredStrategy
from .options import CommunicationImplementation, CommunicationOptions
from .strategy import InputContext
from .variables import DistributedVariable


class MultiWorkerExtended(MirroredExtended):
    """Members for optimizers and libraries."""

    _strategy: MultiWorkerMirroredStrategy

    def _in_multi_worker_mode(self) -> bool:
        return self._strategy.workers > 1

    @property
    def should_checkpoint(self) -> bool:
        """True for the chief, the worker that writes checkpoints."""
        return self._strategy.worker == 0


@export("distribute.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(MirroredStrategy):
    """A strategy with replicas in each of several processes, which run the same program.

    A process has a replica for each device of JAX: for each of its GPUs or TPUs, or for the CPU. A program that gives
    JAX several CPUs (by XLA_FLAGS=--xla_force_host_platform_device_count=2, for example) has a replica for each.

    Variables that are made in its scope start with the values of the first worker. Gradients and updates with an
    aggregation are added up over the replicas. Without a cluster, the strategy has one process. Needs the extra `jax`.

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
        resolver = cluster_resolver or TFConfigClusterResolver()
        options = communication_options or CommunicationOptions()
        addresses, self.worker = _members(resolver)
        self.workers = len(addresses)
        if self.workers > 1:
            _join(addresses, self.worker, options.timeout_seconds)
            self.job = f"{resolver.task_type}/replica:0/task:{resolver.task_id}"
        super().__init__(xla.started_devices() if self.workers > 1 else xla.chosen_devices())
        self.extended = MultiWorkerExtended(self)
        self.cluster_resolver = resolver  # type: ignore[assignment]
        self._options = options
        self._check_counts()
        self.num_replicas_in_sync = self.workers * self.local_count

    def _check_counts(self) -> None:
        """Raise ValueError if the workers have different numbers of devices."""
        counts = collectives.sizes_of(self.local_count)
        if len(set(counts)) > 1:
            raise ValueError(
                f"the workers have different numbers of devices: {counts}. Give each process as many, for example by "
                "CUDA_VISIBLE_DEVICES"
            )

    @property
    def spans_processes(self) -> bool:  # type: ignore[override]
        """True if this process has one of several replicas, or while this thread traces a graph for all."""
        return (self.workers > 1 and self.local_count == 1) or super().spans_processes

    @property
    def rank(self) -> Any:  # type: ignore[override]
        """The number of the first replica in this process; a tensor in a graph that all replicas share."""
        return replica_id() if super().spans_processes else self.worker * self.local_count

    def _distributed(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> DistributedVariable:
        made = super()._distributed(next_creator, kwargs)
        if self.workers > 1 and made.values[0]._array.dtype.kind != "O":
            initial = collectives.copied(made.values[0]._array, 0)
            for component in made.values:
                component._array = initial.copy()
        return made

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Call `fn` in each replica of this worker, and return the results as `MirroredStrategy.run` does."""
        if self.local_count > 1 or self.workers == 1:
            return super().run(fn, args, kwargs, options)
        with graphs_for((Identity(self), self.rank)):  # which do not aggregate the variables that they read
            return super().run(fn, args, kwargs, options)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the part of this worker of each global batch, or of the files; see `AutoShardPolicy`."""
        if self.workers == 1:
            return super().experimental_distribute_dataset(dataset, options)
        own = sharding.sharded(dataset, self.workers, self.worker)
        return DistributedDataset(own) if self.local_count == 1 else split(own, self.local_count)

    def _pipeline(self, dataset_fn: Callable[[InputContext], Any], pipelines: int, index: int) -> Any:
        """Return the dataset of one of the pipelines of this process.

        If it ends before those of other workers, it has empty batches until all have ended.
        """
        number = self.worker * pipelines + index
        dataset = dataset_fn(InputContext(self.workers * pipelines, number, self.num_replicas_in_sync))
        if self.workers == 1:
            return dataset
        own = sharding.together(dataset)
        return DistributedDataset(own) if self.local_count == 1 else own


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
