"""`CentralStorageStrategy`: several replicas, and one copy of each variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.export import export
from ..core.variable import Variable
from ..core.variable_enums import VariableAggregation
from .mirrored import MirroredStrategy
from .variables import DistributedVariable, MirroredVariable, distributed


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(MirroredStrategy):
    """A strategy whose replicas share variables; an update in replicas needs an aggregation.

    Args:
        compute_devices: names of logical CPUs, one for each replica. Default: the first one.
        parameter_device: accepted, no effect.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"])
    >>> with strategy.scope():
    ...     total = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    >>> _ = strategy.run(lambda: total.assign_add(2.0 * tf.constant(1.0)))
    >>> total.numpy()
    np.float32(5.0)
    """

    def __init__(
        self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None
    ) -> None:
        super().__init__(["CPU:0"] if compute_devices is None else compute_devices)

    def _runs_by_xla(self, fn: Callable[..., Any]) -> bool:
        return False  # the replicas share variables, and take turns

    def _distributed(
        self, next_creator: Callable[..., Variable], kwargs: dict[str, Any]
    ) -> DistributedVariable:
        return distributed(self, next_creator, kwargs, 1, AggregatingVariable)


class AggregatingVariable(MirroredVariable):
    """A variable with one component, which all replicas share."""

    def _check_aggregation(self) -> None:
        is_shared = self._replica is not None and self.distribute_strategy.num_replicas_in_sync > 1
        if is_shared and self.aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"You must specify an aggregation method to update a {type(self).__name__} in Replica Context: make "
                f"{self.name} with `aggregation=tf.VariableAggregation.SUM` or another one."
            )

    def _update(self, method: str, value: Any, read_value: bool) -> Any:
        self._check_aggregation()
        return super()._update(method, value, read_value)

    def _change(self, change: Callable[[Variable], Any]) -> Any:
        self._check_aggregation()
        return super()._change(change)
