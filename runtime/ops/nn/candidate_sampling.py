"""Candidate sampling: random classes for losses over too many classes to compute all.

Each sampler returns the drawn classes and the expected counts of the true and the drawn classes; see
`agc.runtime.kernels.random.candidate_samplers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.random import candidate_samplers, seeds
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array, require_dtype
from ..math.cast import cast


def _specs(
    true_classes: Any, num_true: int, num_sampled: int, what: str
) -> tuple[TensorType, TensorType, TensorType]:
    if true_classes.shape is not None and len(true_classes.shape) != 2:
        raise ValueError(
            f"{what}: true_classes must be a matrix, not of the shape {shapes.show(true_classes.shape)}"
        )
    if true_classes.shape is not None and true_classes.shape[1] not in (None, num_true):
        raise ValueError(
            f"{what}: true_classes must have num_true={num_true} columns, not {true_classes.shape[1]}"
        )
    if num_sampled < 1:
        raise ValueError(f"{what}: num_sampled must be positive, not {num_sampled}")
    batch = None if true_classes.shape is None else true_classes.shape[0]
    kind = dtypes.float32
    return (
        TensorType(dtypes.int64, (num_sampled,)),
        TensorType(kind, (batch, num_true)),
        TensorType(kind, (num_sampled,)),
    )


@op(stateful=True)
def uniform_candidates(
    true_classes: Ints, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int,
    stream: int, name: Name = None,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Draw classes below `range_max`, uniformly.

    >>> seeds.set_seed(None)
    >>> classes, of_true, of_sampled = uniform_candidates([[1]], 1, 3, True, 3, 7, 1, 0)
    >>> sorted(classes.numpy().tolist())
    [0, 1, 2]
    """
    return _specs(true_classes, num_true, num_sampled, "uniform_candidate_sampler")


@uniform_candidates.kernel
def _(true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int,
      stream: int) -> tuple[Array, ...]:  # fmt: skip
    drawn_from = candidate_samplers.uniform("uniform_candidate_sampler", range_max)
    return drawn_from.sample(true_classes, num_sampled, unique, (seed, seed2, stream))


@op(stateful=True)
def log_uniform_candidates(
    true_classes: Ints, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int,
    stream: int, name: Name = None,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Draw classes below `range_max`; class c has the probability `log((c + 2) / (c + 1)) / log(range_max + 1)`.

    >>> seeds.set_seed(None)
    >>> classes, of_true, of_sampled = log_uniform_candidates([[1]], 1, 3, True, 3, 7, 1, 0)
    >>> sorted(classes.numpy().tolist())
    [0, 1, 2]
    """
    return _specs(true_classes, num_true, num_sampled, "log_uniform_candidate_sampler")


@log_uniform_candidates.kernel
def _(true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int,
      stream: int) -> tuple[Array, ...]:  # fmt: skip
    drawn_from = candidate_samplers.log_uniform("log_uniform_candidate_sampler", range_max)
    return drawn_from.sample(true_classes, num_sampled, unique, (seed, seed2, stream))


@op(stateful=True)
def weighted_candidates(
    true_classes: Ints, weights: Input, num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int,
    stream: int, name: Name = None,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Draw classes with the probabilities `weights / sum(weights)`.

    >>> seeds.set_seed(None)
    >>> classes, of_true, of_sampled = weighted_candidates([[1]], [1., 0., 2.], 1, 2, True, 7, 1, 0)
    >>> sorted(classes.numpy().tolist())
    [0, 2]
    """
    require_dtype(weights, frozenset({dtypes.float32}), "fixed_unigram_candidate_sampler, weights")
    if weights.shape is not None and len(weights.shape) != 1:
        raise ValueError("fixed_unigram_candidate_sampler: weights must be a vector")
    return _specs(true_classes, num_true, num_sampled, "fixed_unigram_candidate_sampler")


@weighted_candidates.kernel
def _(true_classes: Array, weights: Array, num_true: int, num_sampled: int, unique: bool, seed: int, seed2: int,
      stream: int) -> tuple[Array, ...]:  # fmt: skip
    if (weights < 0).any() or (unique and num_sampled > np.count_nonzero(weights)):
        raise errors.InvalidArgumentError(
            f"fixed_unigram_candidate_sampler: cannot draw {num_sampled} classes by the weights {weights.tolist()}"
        )
    drawn_from = candidate_samplers.weighted("fixed_unigram_candidate_sampler", weights)
    return drawn_from.sample(true_classes, num_sampled, unique, (seed, seed2, stream))


weighted_candidates.no_gradient("the drawn classes are discrete")


@op(traits=LENIENT)
def all_candidates(
    true_classes: Ints, num_true: int, num_sampled: int, name: Name = None
) -> tuple[TensorType, ...]:
    """Return all classes below `num_sampled`, each with the expected count 1.

    >>> all_candidates([[1]], 1, 3)[0].numpy().tolist()
    [0, 1, 2]
    """
    return _specs(true_classes, num_true, num_sampled, "all_candidate_sampler")


@all_candidates.kernel
def _(true_classes: Array, num_true: int, num_sampled: int) -> tuple[Array, ...]:
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled), np.ones((len(true_classes), num_true), np.float32), ones


class SampledCandidates(NamedTuple):
    """Drawn classes, and the expected counts of the true and the drawn classes."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


@export("random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """Draw `num_sampled` classes below `range_max`, uniformly.

    Return the classes, int64, and the expected numbers of occurrences of the true and of the sampled classes.

    Args:
        true_classes: [batch, num_true], int64.
        unique: whether to draw each class at most once.

    >>> uniform_candidate_sampler([[0]], 1, 2, False, 4).true_expected_count.numpy().tolist()
    [[0.5]]
    """
    true_classes = cast(true_classes, dtypes.int64)
    drawn = uniform_candidates(
        true_classes, num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
    )
    return SampledCandidates(*drawn)


@export("random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """Draw `num_sampled` classes below `range_max`, with smaller ones more likely; sort classes by frequency.

    The arguments are those of `uniform_candidate_sampler`.

    >>> log_uniform_candidate_sampler([[0]], 1, 2, True, 4).sampled_candidates.shape
    TensorShape([2])
    """
    true_classes = cast(true_classes, dtypes.int64)
    drawn = log_uniform_candidates(
        true_classes, num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
    )
    return SampledCandidates(*drawn)


@export("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """Return all classes below `num_sampled`, in the form of `uniform_candidate_sampler`.

    >>> all_candidate_sampler([[1]], 1, 3, True).sampled_expected_count.numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    drawn = all_candidates(cast(true_classes, dtypes.int64), num_true, num_sampled, name)
    return SampledCandidates(*drawn)


def _weights_in(vocab_file: str) -> list[float]:
    """Return the weights at the ends of a file's lines."""
    try:
        with open(vocab_file, encoding="utf-8", errors="surrogateescape") as lines:
            return [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]
    except OSError as error:
        raise errors.NotFoundError(f"{vocab_file}; {error.strerror}") from None
    except ValueError as error:
        raise errors.InvalidArgumentError(f"{vocab_file}: {str(error)[:200]}") from None


@export("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """Draw `num_sampled` classes below `range_max`, with probabilities proportional to their weights.

    Args:
        vocab_file: a file whose lines end with a comma and a weight; `unigrams`: the weights. Exactly one of
            the two must be given.
        distortion: weights are raised to this power.
        num_reserved_ids: the number of classes before those with weights; they are never drawn.
        num_shards, shard: must be 1 and 0; sharding is not supported.

    >>> found = fixed_unigram_candidate_sampler([[0]], 1, 2, True, 3, unigrams=[1., 0., 2.])
    >>> sorted(found.sampled_candidates.numpy().tolist())
    [0, 2]
    """
    if (num_shards, shard) != (1, 0):
        raise ValueError(
            "fixed_unigram_candidate_sampler: classes cannot be divided; num_shards must be 1, shard 0"
        )
    if bool(vocab_file) == bool(unigrams):
        raise ValueError("Must provide either vocab_file or unigrams.")
    given = list(unigrams)
    if vocab_file:
        given = _weights_in(vocab_file)
    weights = [0.0] * num_reserved_ids + [weight**distortion for weight in given]
    if len(weights) != range_max:
        raise ValueError(
            f"range_max, {range_max}, must be the number of reserved and weighted ids, {len(weights)} {vocab_file}"
        )
    drawn = weighted_candidates(
        cast(true_classes, dtypes.int64), np.array(weights, np.float32), num_true, num_sampled, unique,
        *seeds.pair(seed), name,
    )  # fmt: skip
    return SampledCandidates(*drawn)
