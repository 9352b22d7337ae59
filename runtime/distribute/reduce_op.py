"""`tf.distribute.ReduceOp`: how values of several replicas become one."""

from __future__ import annotations

import enum
from typing import Any

from ..core.export import export


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """The sum or the mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, value: Any) -> ReduceOp:
        """Return a member from itself or its name in any case; raise ValueError for another value."""
        if isinstance(value, cls):
            return value
        try:
            return cls(str(value).upper())
        except ValueError:
            raise ValueError(f"reduce_op must be tf.distribute.ReduceOp.SUM or MEAN, not {value!r}") from None
