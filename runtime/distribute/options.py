"""Options of `tf.distribute`, which programs pass: with one process they have no effect."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from ..core.export import export


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """The number of pipelines that `distribute_datasets_from_function` makes."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@export("distribute.InputOptions")
class InputOptions(NamedTuple):
    """Options of `experimental_distribute_dataset` and `distribute_datasets_from_function`."""

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


@export("distribute.RunOptions")
class RunOptions(NamedTuple):
    """Options of `tf.distribute.Strategy.run`."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None
