"""Classes drawn at random, beside the right ones, for losses over so many classes that not all can be computed.

Each sampler gives the classes that were drawn, and how often the right ones and the drawn ones were to be expected: of
`tries` draws of a class of the probability p, `1 - (1 - p) ** tries` when the classes are unique, else `tries * p`.
The numbers are TensorFlow's for the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors, seeds, shapes
from ..convert import TensorLike
from ..ir.specs import Spec
from ..philox import Stream
from ..tensor import Tensor
from .casting import cast
from .declare import Ints, Name, op
from .families import Array

_BLOCKS_PER_SAMPLE = 512
"""What is reserved of a stream for each class that is drawn: TensorFlow's number."""


class _Source:
    """Numbers of several kinds, one after the other, from the words of a stream."""

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
        """An integer below `limit`, each as likely as another: numbers that would favour some are drawn again."""
        draw = self.word if bits == 32 else self.long
        if limit & (limit - 1) == 0:
            return draw() & (limit - 1)
        skipped = ((1 << bits) - 1) % limit + 1
        number = draw()
        while number < skipped:
            number = draw()
        return number % limit

    def single(self) -> float:
        """A float32 in [0, 1)."""
        return (self.word() & 0x7FFFFF) / (1 << 23)

    def double(self) -> float:
        """A float64 in [0, 1)."""
        high = self.word() & 0xFFFFF
        return (high << 32 | self.word()) / (1 << 52)


def _specs(true_classes: Any, num_true: int, num_sampled: int, what: str) -> tuple[Spec, Spec, Spec]:
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
    return Spec(dtypes.int64, (num_sampled,)), Spec(kind, (batch, num_true)), Spec(kind, (num_sampled,))


def _drawn(source: _Source, count: int, unique: bool, sample: Callable[[_Source], int]) -> tuple[Array, int]:
    """The classes, and how often was drawn."""
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
    """What a sampler gives.

    `setting` is the pair of seeds and the stream, `draw` says how many, whether unique, and of what range.
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
) -> tuple[Spec, ...]:  # fmt: skip
    """Classes below `range_max`, each as likely as another.

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
) -> tuple[Spec, ...]:  # fmt: skip
    """Classes below `range_max`, c of the probability `log((c + 2) / (c + 1)) / log(range_max + 1)`.

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


@op
def all_candidates(
    true_classes: Ints, num_true: int, num_sampled: int, name: Name = None
) -> tuple[Spec, ...]:
    """All classes below `num_sampled`, each expected once.

    >>> all_candidates([[1]], 1, 3)[0].numpy().tolist()
    [0, 1, 2]
    """
    return _specs(true_classes, num_true, num_sampled, "all_candidate_sampler")


@all_candidates.kernel
def _(true_classes: Array, num_true: int, num_sampled: int) -> tuple[Array, ...]:
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled), np.ones((len(true_classes), num_true), np.float32), ones


class SampledCandidates(NamedTuple):
    """Classes that were drawn, and how often the right and the drawn ones were to be expected."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """`num_sampled` classes below `range_max`, each as likely as another.

    >>> uniform_candidate_sampler([[0]], 1, 2, False, 4).true_expected_count.numpy().tolist()
    [[0.5]]
    """
    drawn = uniform_candidates(
        cast(true_classes, dtypes.int64), num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
    )
    return SampledCandidates(*drawn)


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """`num_sampled` classes below `range_max`, small ones more likely: classes sorted by how frequent they are.

    >>> log_uniform_candidate_sampler([[0]], 1, 2, True, 4).sampled_candidates.shape
    TensorShape([2])
    """
    drawn = log_uniform_candidates(
        cast(true_classes, dtypes.int64), num_true, num_sampled, unique, range_max, *seeds.pair(seed), name
    )
    return SampledCandidates(*drawn)


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: Name = None,
) -> SampledCandidates:
    """All classes below `num_sampled`.

    >>> all_candidate_sampler([[1]], 1, 3, True).sampled_expected_count.numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    drawn = all_candidates(cast(true_classes, dtypes.int64), num_true, num_sampled, name)
    return SampledCandidates(*drawn)
