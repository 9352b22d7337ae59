"""The namespace `tf.random.experimental`."""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from ..ops.random.generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from ..ops.random.stateful_distributions import (
    index_shuffle,
    stateless_fold_in,
    stateless_shuffle,
    stateless_split,
)

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip

_explain(__name__)
