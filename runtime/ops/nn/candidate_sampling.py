"""Candidate sampling: random classes for losses over too many classes to compute all.

Each sampler returns the drawn classes and the expected counts of the true and the drawn classes. For `tries`
draws, a class of probability p has the count `1 - (1 - p) ** tries` if classes are unique, else `tries * p`.
The numbers are TensorFlow's for the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.random import seeds
from ...kernels.random.philox import Stream
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array, require_dtype
from ..math.cast import cast

_BLOCKS_PER_SAMPLE = 512
"""The number of blocks of a stream reserved for each drawn class: TensorFlow's constant."""


class _Source:
    """A sequential source of random numbers of several types, from the words of a stream."""

    def __init__(self, stream: Stream, samples: int) -> None:
        self._words = self._all(stream, stream.reserve(samples * _BLOCKS_PER_SAMPLE))

    @staticmethod
    def _all(stream: Stream, first: int) -> Iterator[int]:
        count = 64
        while True:
            yield from stream.bits(first, count).ravel().tolist()
            first += count

    def word(self) -> int:
        return next(self._words)

    def long(self) -> int:
        low = self.word()
        return low | self.word() << 32

    def below(self, limit: int, bits: int) -> int:
        """Return a uniform integer below `limit`, by rejection sampling."""
        draw = self.word if bits == 32 else self.long
        if limit & (limit - 1) == 0:
            return draw() & (limit - 1)
        skipped = ((1 << bits) - 1) % limit + 1
        number = draw()
        while number < skipped:
            number = draw()
        return number % limit

    def single(self) -> float:
        """Return a float32 in [0, 1)."""
        return (self.word() & 0x7FFFFF) / (1 << 23)

    def double(self) -> float:
        """Return a float64 in [0, 1)."""
        high = self.word() & 0xFFFFF
        return (high << 32 | self.word()) / (1 << 52)


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


def _drawn(source: _Source, count: int, unique: bool, sample: Callable[[_Source], int]) -> tuple[Array, int]:
    """Return the drawn classes and the number of draws."""
    if not unique:
        return np.array([sample(source) for _ in range(count)], np.int64), count
    found: dict[int, None] = {}
    tries = 0
    while len(found) < count:
        tries += 1
        found[sample(source)] = None
    return np.array(list(found), np.int64), tries


def _expected(chances: Array, count: int, tries: int) -> Array:
    if tries == count:
        return (chances * count).astype(np.float32)
    with np.errstate(divide="ignore"):
        return -np.expm1(tries * np.log1p(-chances)).astype(np.float32)


def _outcome(
    true_classes: Array,
    setting: tuple[int, int, int],
    kind: str,
    draw: tuple[int, bool, int],
    sample: Callable[[_Source], int],
    chance: Callable[[Array], Array],
) -> tuple[Array, Array, Array]:
    """Return the results of a sampler.

    `setting` is the pair of seeds and the stream. `draw` holds the number of classes, whether they are
    unique, and their range.
    """
    count, unique, limit = draw
    if unique and count > limit:
        raise errors.InvalidArgumentError(f"{kind}: cannot draw {count} different classes from {limit}")
    wrong = true_classes[(true_classes < 0) | (true_classes >= limit)]
    if wrong.size:
        raise errors.InvalidArgumentError(
            f"{kind}: `true_classes` out of range [0, {limit}): {wrong.flat[0]}"
        )
    stream = seeds.stream(f"{kind} {draw} {true_classes.shape[1:]}", *setting)
    classes, tries = _drawn(_Source(stream, count), count, unique, sample)
    return classes, _expected(chance(true_classes), count, tries), _expected(chance(classes), count, tries)


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
    return _outcome(
        true_classes, (seed, seed2, stream), "uniform_candidate_sampler", (num_sampled, unique, range_max),
        lambda source: source.below(range_max, 64),
        lambda classes: np.full(classes.shape, 1 / range_max),
    )  # fmt: skip


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
    whole = math.log1p(range_max)
    return _outcome(
        true_classes, (seed, seed2, stream), "log_uniform_candidate_sampler", (num_sampled, unique, range_max),
        lambda source: (int(math.exp(source.double() * whole)) - 1) % range_max,
        lambda classes: np.log((classes + 2.0) / (classes + 1.0)) / whole,
    )  # fmt: skip


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
    chances, others = _alias(weights)

    def sample(source: _Source) -> int:
        share, column = source.single(), source.below(len(weights), 32)
        return column if share < chances[column] else others[column]

    total = np.sum(weights, dtype=np.float32)
    return _outcome(
        true_classes, (seed, seed2, stream), "fixed_unigram_candidate_sampler", (num_sampled, unique, len(weights)),
        sample, lambda classes: (weights[classes] / total).astype(np.float64),
    )  # fmt: skip


weighted_candidates.no_gradient("the drawn classes are discrete")


def _alias(weights: Array) -> tuple[list[float], list[int]]:
    """Return the tables of the alias method (Walker, 1977): the probability to keep each class, and its alias."""
    chances = (weights.astype(np.float64) * len(weights) / weights.sum(dtype=np.float64)).tolist()
    others = list(range(len(chances)))
    low = [i for i, chance in enumerate(chances) if chance < 1]
    high = [i for i, chance in enumerate(chances) if chance >= 1]
    while high and low:
        poor, rich = low.pop(), high.pop()
        others[poor] = rich
        chances[rich] -= 1 - chances[poor]
        (low if chances[rich] < 1 else high).append(rich)
    for column in (*low, *high):
        chances[column] = 1.0
    return chances, others


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
    drawn = uniform_candidates(
        cast(true_classes, dtypes.int64), num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
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
    drawn = log_uniform_candidates(
        cast(true_classes, dtypes.int64), num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
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
