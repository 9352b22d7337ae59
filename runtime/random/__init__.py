"""The namespace `tf.random`: random numbers, equal to TensorFlow's for the same seeds."""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from ..kernels.random.seeds import set_seed
from ..ops.nn.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from ..ops.random.generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from ..ops.random.stateful import categorical, normal, shuffle, truncated_normal, uniform
from ..ops.random.stateful_distributions import (
    gamma,
    poisson,
    stateless_binomial,
    stateless_categorical,
    stateless_gamma,
    stateless_parameterized_truncated_normal,
    stateless_poisson,
)
from ..ops.random.stateful_distributions import stateless_fold_in as fold_in
from ..ops.random.stateful_distributions import stateless_split as split
from ..ops.random.stateless import stateless_normal, stateless_truncated_normal, stateless_uniform
from . import experimental

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "experimental", "get_global_generator", "set_global_generator",
    "set_seed", "fold_in", "split", "uniform", "normal", "truncated_normal", "shuffle", "categorical", "gamma",
    "poisson", "stateless_uniform", "stateless_normal", "stateless_truncated_normal", "stateless_binomial",
    "stateless_categorical", "stateless_gamma", "stateless_parameterized_truncated_normal", "stateless_poisson",
    "all_candidate_sampler", "fixed_unigram_candidate_sampler", "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]  # fmt: skip

_explain(__name__)
