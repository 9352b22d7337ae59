"""Options of `tf.distribute`, which programs pass: with one process they have no effect."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

from .. import errors
from ..core.export import export


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """The number of pipelines that `distribute_datasets_from_function` makes.

    >>> InputOptions(experimental_replication_mode=InputReplicationMode.PER_REPLICA)[1].name
    'PER_REPLICA'
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@export("distribute.InputOptions")
class InputOptions(NamedTuple):
    """Options of `experimental_distribute_dataset` and `distribute_datasets_from_function`.

    >>> InputOptions(experimental_fetch_to_device=False).experimental_fetch_to_device
    False
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


@export("distribute.RunOptions")
class RunOptions(NamedTuple):
    """Options of `tf.distribute.Strategy.run`.

    >>> RunOptions().experimental_enable_dynamic_batch_size
    True
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


@export("distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Ways to add the values of replicas, which programs pass: here each of them adds the values in order.

    >>> issubclass(NcclAllReduce, CrossDeviceOps)
    True
    """


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """The reduction on one device, then copies. Raises UnimplementedError for an `accumulation_fn`.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(cross_device_ops=ReductionToOneDevice())
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        if accumulation_fn is not None:
            raise errors.UnimplementedError(
                "The values of replicas are added, without an `accumulation_fn`: reduce them with "
                "`tf.distribute.ReplicaContext.merge_call`."
            )


@export("distribute.NcclAllReduce")
class NcclAllReduce(CrossDeviceOps):
    """The reduction of NCCL; `num_packs` has no effect.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(cross_device_ops=NcclAllReduce())
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(NcclAllReduce):
    """The reduction along a hierarchy of devices; `num_packs` has no effect.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(cross_device_ops=HierarchicalCopyAllReduce())
    """


@export(
    "distribute.experimental.CollectiveCommunication", "distribute.experimental.CommunicationImplementation"
)
class CommunicationImplementation(enum.Enum):
    """The library of collective operations.

    >>> CommunicationOptions(implementation=CommunicationImplementation.RING).implementation.name
    'RING'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@export("distribute.experimental.CollectiveHints", "distribute.experimental.CommunicationOptions")
@dataclasses.dataclass(frozen=True)
class CommunicationOptions:
    """Options of collective operations. Raises ValueError for a number below 0, and for an unknown implementation.

    >>> CommunicationOptions(timeout_seconds=60.0).timeout_seconds
    60.0
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {self.bytes_per_pack}.")
        object.__setattr__(self, "implementation", CommunicationImplementation(self.implementation))


@export("distribute.experimental.ValueContext")
class ValueContext(NamedTuple):
    """The argument of a function for `experimental_distribute_values_from_function`.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> numbered = lambda context: context.replica_id_in_sync_group
    >>> strategy.experimental_distribute_values_from_function(numbered)
    0
    """

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1
