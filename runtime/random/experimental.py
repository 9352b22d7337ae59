"""The namespace `tf.random.experimental`: generators of random numbers with a state of their own."""
# Namespace random.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..ops.random.generator import (
    Algorithm, Generator, create_rng_state, get_global_generator, set_global_generator,
)
from ..ops.random.stateful_distributions import (
    index_shuffle, stateless_fold_in, stateless_shuffle, stateless_split,
)

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "index_shuffle",
    "set_global_generator", "stateless_fold_in", "stateless_shuffle", "stateless_split",
]

_explain(__name__)
