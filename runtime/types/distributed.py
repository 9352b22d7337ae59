"""`tf.types.experimental.distributed`: the types of values of several replicas.

>>> PerReplica((1, 2)).values
(1, 2)
"""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from ..distribute.values import Mirrored, PerReplica

__all__ = ["Mirrored", "PerReplica"]

_explain(__name__)
