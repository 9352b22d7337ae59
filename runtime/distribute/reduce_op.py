"""`tf.distribute.ReduceOp`: how values of several replicas become one."""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Sequence
from typing import Any

from ..composite.indexed_slices import IndexedSlices
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.variable_enums import VariableAggregation
from ..ops.arrays.concat_split import concat


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """The sum or the mean.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> strategy.reduce(ReduceOp.SUM, tf.constant([1, 2]), axis=0).numpy()
    np.int32(3)
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """Return the member for SUM or MEAN. Raises ValueError for other aggregations."""
        if aggregation.name not in ReduceOp.__members__:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to `tf.distribute.ReduceOp` type"
            )
        return ReduceOp[aggregation.name]

    @classmethod
    def of(cls, value: Any) -> ReduceOp:
        """Return a member from itself or its name in any case; raise ValueError for another value."""
        if isinstance(value, cls):
            return value
        try:
            return cls(str(value).upper())
        except ValueError:
            raise ValueError(f"reduce_op must be tf.distribute.ReduceOp.SUM or MEAN, not {value!r}") from None

    def of_all(self, values: Sequence[Any]) -> Any:
        """Return the sum or mean of the values of all replicas: tensors, or IndexedSlices."""
        if all(isinstance(value, IndexedSlices) for value in values):
            return self._of_slices(values)
        total = functools.reduce(operator.add, map(convert_to_tensor, values))
        if self is ReduceOp.SUM:
            return total
        return total / len(values)

    def _of_slices(self, parts: Sequence[Any]) -> IndexedSlices:
        rows = concat([part.values for part in parts], 0)
        rows = rows / len(parts) if self is ReduceOp.MEAN else rows
        return IndexedSlices(rows, concat([part.indices for part in parts], 0), parts[0].dense_shape)
