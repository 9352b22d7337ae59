"""The module `tf.distribute`: replicas of a model, on the devices of one process or in several processes.

>>> import agc.runtime as tf
>>> strategy = tf.distribute.MirroredStrategy()
>>> strategy.num_replicas_in_sync
1
>>> strategy.run(lambda x: x + 1, args=(2,))
3
"""
# Namespace distribute: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from . import cluster_resolver, experimental
from .context import ReplicaContext
from .input import DistributedDataset, DistributedIterator
from .mirrored import MirroredStrategy
from .multi_worker import MultiWorkerMirroredStrategy
from .options import (
    CrossDeviceOps, HierarchicalCopyAllReduce, InputOptions, InputReplicationMode, NcclAllReduce,
    ReductionToOneDevice, RunOptions,
)
from .reduce_op import ReduceOp
from .strategy import (
    InputContext, OneDeviceStrategy, ParameterServerStrategy, Strategy, StrategyExtended, TPUStrategy,
    experimental_set_strategy, get_replica_context, get_strategy, has_strategy, in_cross_replica_context,
)
from .values import DistributedValues

__all__ = [
    "CrossDeviceOps", "DistributedDataset", "DistributedIterator", "DistributedValues",
    "HierarchicalCopyAllReduce", "InputContext", "InputOptions", "InputReplicationMode", "MirroredStrategy",
    "MultiWorkerMirroredStrategy", "NcclAllReduce", "OneDeviceStrategy", "ParameterServerStrategy",
    "ReduceOp", "ReductionToOneDevice", "ReplicaContext", "RunOptions", "Strategy", "StrategyExtended",
    "TPUStrategy", "cluster_resolver", "experimental", "experimental_set_strategy", "get_replica_context",
    "get_strategy", "has_strategy", "in_cross_replica_context",
]

_explain(__name__)
