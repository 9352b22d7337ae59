"""The namespace `tf.random`: random numbers, equal to TensorFlow's for the same seeds."""
# Namespace random: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..kernels.random.seeds import set_seed
from ..ops.nn.candidate_sampling import (
    all_candidate_sampler, fixed_unigram_candidate_sampler, log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from ..ops.random.generator import (
    Algorithm, Generator, create_rng_state, get_global_generator, set_global_generator,
)
from ..ops.random.stateful import categorical, normal, shuffle, truncated_normal, uniform
from ..ops.random.stateful_distributions import (
    stateless_fold_in as fold_in, gamma, poisson, stateless_split as split, stateless_binomial,
    stateless_categorical, stateless_gamma, stateless_parameterized_truncated_normal, stateless_poisson,
)
from ..ops.random.stateless import stateless_normal, stateless_truncated_normal, stateless_uniform
from . import experimental

__all__ = [
    "Algorithm", "Generator", "all_candidate_sampler", "categorical", "create_rng_state", "experimental",
    "fixed_unigram_candidate_sampler", "fold_in", "gamma", "get_global_generator",
    "log_uniform_candidate_sampler", "normal", "poisson", "set_global_generator", "set_seed", "shuffle",
    "split", "stateless_binomial", "stateless_categorical", "stateless_gamma", "stateless_normal",
    "stateless_parameterized_truncated_normal", "stateless_poisson", "stateless_truncated_normal",
    "stateless_uniform", "truncated_normal", "uniform", "uniform_candidate_sampler",
]

_explain(__name__)
