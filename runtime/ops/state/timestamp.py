"""The time of day, read when the graph runs."""

from __future__ import annotations

import time

import numpy as np

from ... import dtypes
from ...core.export import export
from ...ir.value_types import TensorType
from ..framework.op import Name, op


@export("timestamp")
@op(stateful=True)
def timestamp(name: Name = None) -> TensorType:
    """Return the seconds since 1970-01-01T00:00:00Z, a float64 scalar; read at each run, in program order.

    >>> before = timestamp()
    >>> bool(timestamp() >= before), timestamp().dtype
    (True, tf.float64)
    """
    return TensorType(dtypes.float64, ())


timestamp.kernel(lambda: np.float64(time.time()))
