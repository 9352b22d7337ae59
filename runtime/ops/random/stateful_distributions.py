"""Random numbers of the gamma, Poisson, binomial and other distributions, with TensorFlow's names.

>>> stateless_poisson([4], [1, 2], lam=3.0).numpy().tolist()
[5, 5, 4, 6]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...kernels.random import seeds
from ..arrays.concat_split import concat, stack
from ..arrays.pad_ops import pad
from ..arrays.reshape import broadcast_to
from ..arrays.shape_arithmetic import broadcast_dynamic_shape
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import DType
from ..framework.op import Name
from ..math.arithmetic import maximum
from ..reduce.reductions import reduce_prod
from .stateless import seed_of_two
from .stateless_distributions import (
    binomial_variates,
    bounded_normals,
    full_integers,
    gamma_variates,
    poisson_variates,
    random_index_shuffle,
    seeded_categorical,
    seeded_shuffle,
    stream_state,
)


def _sizes(shape: Any) -> Tensor:
    return convert_to_tensor(shape, dtypes.int32)


def _alpha_and_beta(alpha: TensorLike, beta: TensorLike | None, kind: DType) -> tuple[Tensor, Tensor]:
    """Return `alpha`, broadcast with `beta`, and `beta`."""
    one = convert_to_tensor(alpha, kind)
    other = convert_to_tensor(1 if beta is None else beta, kind)
    whole = broadcast_dynamic_shape(shape_of(one), shape_of(other))
    return broadcast_to(one, whole), other


def _divided(drawn: Tensor, beta: Tensor, name: Name) -> Tensor:
    tiny = np.finfo(drawn.dtype.as_numpy_dtype).tiny
    return maximum(convert_to_tensor(tiny, drawn.dtype), drawn / beta, name)  # type: ignore[no-any-return]


@export("random.gamma")
def gamma(
    shape: Any,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: Name = None,
) -> Tensor:
    """Draw samples of shape `shape` from each of the gamma distributions with these parameters.

    Args:
        shape: of the samples for each distribution; the result's shape is this one followed by that of the
            parameters.
        alpha: the shape of the distribution; there is a gradient for it.
        beta: the rate of the distribution, by default 1.
        dtype: float16, float32 or float64.
        seed: see `tf.random.set_seed`.

    >>> gamma([3], [1.0, 2.0], seed=1).shape
    TensorShape([3, 2])
    """
    kind = dtypes.as_dtype(dtype)
    one, other = _alpha_and_beta(alpha, beta, kind)
    whole = concat([_sizes(shape), shape_of(one)], 0)
    state = stream_state(reduce_prod(whole), f"gamma {kind.name}", *seeds.pair(seed))
    return _divided(gamma_variates(whole, state, one), other, name)


@export("random.stateless_gamma")
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: Any = dtypes.float32,
    name: Name = None,
) -> Tensor:
    """Draw numbers from gamma distributions, deterministic in the seed.

    `shape` ends with that of the parameters.

    >>> stateless_gamma([2], [1, 2], alpha=2.0).numpy().tolist()
    [2.8172736167907715, 1.9241365194320679]
    """
    one, other = _alpha_and_beta(alpha, beta, dtypes.as_dtype(dtype))
    return _divided(gamma_variates(shape, seed_of_two(seed), one), other, name)


@export("random.poisson")
def poisson(
    shape: Any, lam: TensorLike, dtype: Any = dtypes.float32, seed: int | None = None, name: Name = None
) -> Tensor:
    """Draw samples of shape `shape` from each of the Poisson distributions with these means.

    >>> poisson([3], [1.0, 20.0], seed=1).shape
    TensorShape([3, 2])
    """
    rates = _rates(lam)
    kind = dtypes.as_dtype(dtype)
    whole = concat([_sizes(shape), shape_of(rates)], 0)
    state = stream_state(reduce_prod(whole), f"poisson {kind.name}", *seeds.pair(seed))
    return poisson_variates(whole, state, rates, kind, name)  # type: ignore[no-any-return]


@export("random.stateless_poisson")
def stateless_poisson(
    shape: Any, seed: Any, lam: TensorLike, dtype: Any = dtypes.int32, name: Name = None
) -> Tensor:
    """Draw numbers from Poisson distributions, deterministic in the seed; `shape` ends with that of `lam`.

    >>> stateless_poisson([4], [1, 2], lam=30.0).numpy().tolist()
    [37, 34, 38, 45]
    """
    return poisson_variates(shape, seed_of_two(seed), _rates(lam), dtype, name)  # type: ignore[no-any-return]


def _rates(lam: TensorLike) -> Tensor:
    return convert_to_tensor(lam)


@export("random.stateless_binomial")
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: Any = dtypes.int32,
    name: Name = None,
) -> Tensor:
    """Draw the number of successes in `counts` trials with probability `probs`, deterministic in the seed.

    Args:
        shape: of the result; it ends with that of `counts` and `probs`, broadcast.

    >>> stateless_binomial([4], [1, 2], counts=10, probs=0.3).numpy().tolist()
    [5, 5, 5, 4]
    """
    chances = convert_to_tensor(probs)
    trials = counts if isinstance(counts, Tensor) else convert_to_tensor(counts, chances.dtype)
    return binomial_variates(shape, seed_of_two(seed), trials, chances, output_dtype, name)  # type: ignore[no-any-return]


@export("random.stateless_categorical")
def stateless_categorical(
    logits: TensorLike, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: Name = None
) -> Tensor:
    """Draw `num_samples` indices for each row of unnormalized log-probabilities, deterministic in the seed.

    >>> stateless_categorical([[0.0, 1.0, 2.0]], 4, [1, 2]).numpy().tolist()
    [[2, 2, 1, 2]]
    """
    return seeded_categorical(logits, num_samples, seed_of_two(seed), dtype, name)  # type: ignore[no-any-return]


@export("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: Name = None,
) -> Tensor:
    """Draw numbers from truncated normal distributions, deterministic in the seed.

    Args:
        shape: of the result; it ends with that of the parameters, broadcast.

    >>> stateless_parameterized_truncated_normal([2], [1, 2], minvals=3.0, maxvals=5.0).numpy().tolist()
    [3.0513298511505127, 3.001145601272583]
    """
    return bounded_normals(shape, seed_of_two(seed), means, stddevs, minvals, maxvals, name)  # type: ignore[no-any-return]


@export("random.experimental.stateless_shuffle")
def stateless_shuffle(value: TensorLike, seed: Any, alg: str = "auto_select", name: Name = None) -> Tensor:
    """Shuffle the rows of `value`, deterministically in the seed.

    >>> stateless_shuffle([0, 1, 2, 3], [1, 2]).shape
    TensorShape([4])
    """
    check_algorithm(alg)
    return seeded_shuffle(value, seed_of_two(seed), name)  # type: ignore[no-any-return]


@export("random.experimental.stateless_split", "random.split")
def stateless_split(seed: Any, num: Any = 2, alg: str = "auto_select") -> Tensor:
    """Derive `num` seeds from one: a matrix with a seed in each row.

    >>> stateless_split([1, 2], num=3).numpy().tolist()
    [[1105988140, 1738052849], [-335576002, 370444179], [10670227, -246211131]]
    """
    check_algorithm(alg)
    start = seed_of_two(seed)
    return full_integers(stack([num, 2]), start, start.dtype)  # type: ignore[no-any-return]


@export("random.experimental.stateless_fold_in", "random.fold_in")
def stateless_fold_in(seed: Any, data: TensorLike, alg: str = "auto_select") -> Tensor:
    """Derive a seed from a seed and an integer, such as the number of a step.

    >>> stateless_fold_in([1, 2], 3).numpy().tolist()
    [1105988140, 3]
    """
    check_algorithm(alg)
    more = convert_to_tensor(data)
    return stack([full_integers([], seed_of_two(seed), more.dtype), more])  # type: ignore[no-any-return]


_FIRST_OF_THREE = 498247692
"""The first of three seed numbers if only two are given: TensorFlow's constant."""


@export("random.experimental.index_shuffle")
def index_shuffle(index: TensorLike, seed: Any, max_index: TensorLike) -> Tensor:
    """Return the position of `index` in the pseudorandom permutation of 0, 1, … `max_index` for this seed.

    Args:
        index: a scalar or a vector.
        seed: a vector of two integers, or a matrix with such a row for each index.
        max_index: the largest of the numbers, a scalar or a vector.

    >>> index_shuffle([0, 1, 2, 3], [1, 2], 9).numpy().tolist()
    [5, 0, 1, 4]
    """
    start = convert_to_tensor(seed)
    rank = start.shape.rank
    front = [[0, 0]] * ((1 if rank is None else rank) - 1) + [[1, 0]]
    return random_index_shuffle(index, pad(start, front, constant_values=_FIRST_OF_THREE), max_index)  # type: ignore[no-any-return]


def check_algorithm(alg: Any) -> None:
    """Raise ValueError for an algorithm for random bits other than Philox.

    >>> check_algorithm("philox")
    """
    if alg not in ("auto_select", "philox", 1, 3):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg!r}. Supported are 'philox' and 'auto_select'."
        )


def number_of(shape: Any) -> Tensor:
    """Return the number of elements of a shape.

    >>> number_of([2, 3]).numpy().tolist()
    6
    """
    return reduce_prod(_sizes(shape))  # type: ignore[no-any-return]
