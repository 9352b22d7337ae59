"""Samplers of classes: uniform, log-uniform, and by given weights.

    sampler             draws a class with                          class c has the probability
    uniform(n)          rejection of a uniform integer              1 / n
    log_uniform(n)      exp of a uniform number                     log((c + 2) / (c + 1)) / log(n + 1)
    weighted(w)         the alias method (Walker, 1977)             w[c] / sum(w)

The numbers are TensorFlow's for the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ... import errors
from . import seeds
from .philox import Stream

Array = Any

_BLOCKS_PER_SAMPLE = 512
"""The number of blocks of a stream reserved for each drawn class: TensorFlow's constant."""


class RandomWords:
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


class Sampler(NamedTuple):
    """A distribution over the classes below `limit`. `name` is that of TensorFlow's sampler."""

    name: str
    limit: int
    draw: Callable[[RandomWords], int]
    probability: Callable[[Array], Array]

    def sample(
        self, true_classes: Array, count: int, unique: bool, setting: tuple[int, int, int]
    ) -> tuple[Array, Array, Array]:
        """Draw `count` classes. Return these, and the expected counts of the true and of the drawn classes.

        `setting` is the pair of seeds and the stream. For `tries` draws, a class of probability p has the expected
        count `1 - (1 - p) ** tries` if classes are unique, else `tries * p`.
        """
        if unique and count > self.limit:
            raise errors.InvalidArgumentError(
                f"{self.name}: cannot draw {count} different classes from {self.limit}"
            )
        wrong = true_classes[(true_classes < 0) | (true_classes >= self.limit)]
        if wrong.size:
            raise errors.InvalidArgumentError(
                f"{self.name}: `true_classes` out of range [0, {self.limit}): {wrong.flat[0]}"
            )
        key = f"{self.name} {(count, unique, self.limit)} {true_classes.shape[1:]}"
        classes, tries = _drawn(RandomWords(seeds.stream(key, *setting), count), count, unique, self.draw)
        of_true, of_drawn = (_expected(self.probability(x), count, tries) for x in (true_classes, classes))
        return classes, of_true, of_drawn


def uniform(name: str, limit: int) -> Sampler:
    """Return the sampler of equally likely classes."""
    return Sampler(
        name,
        limit,
        lambda source: source.below(limit, 64),
        lambda classes: np.full(classes.shape, 1 / limit),
    )


def log_uniform(name: str, limit: int) -> Sampler:
    """Return the sampler of classes that are sorted by frequency (Zipf's law)."""
    whole = math.log1p(limit)
    return Sampler(
        name,
        limit,
        lambda source: (int(math.exp(source.double() * whole)) - 1) % limit,
        lambda classes: np.log((classes + 2.0) / (classes + 1.0)) / whole,
    )


def weighted(name: str, weights: Array) -> Sampler:
    """Return the sampler of classes with probabilities proportional to float32 weights."""
    chances, others = _alias(weights)
    total = np.sum(weights, dtype=np.float32)

    def draw(source: RandomWords) -> int:
        share, column = source.single(), source.below(len(weights), 32)
        return column if share < chances[column] else others[column]

    return Sampler(name, len(weights), draw, lambda classes: (weights[classes] / total).astype(np.float64))


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


def _drawn(
    source: RandomWords, count: int, unique: bool, draw: Callable[[RandomWords], int]
) -> tuple[Array, int]:
    """Return the drawn classes and the number of draws."""
    if not unique:
        return np.array([draw(source) for _ in range(count)], np.int64), count
    found: dict[int, None] = {}
    tries = 0
    while len(found) < count:
        tries += 1
        found[draw(source)] = None
    return np.array(list(found), np.int64), tries


def _expected(chances: Array, count: int, tries: int) -> Array:
    if tries == count:
        return (chances * count).astype(np.float32)
    with np.errstate(divide="ignore"):
        return -np.expm1(tries * np.log1p(-chances)).astype(np.float32)
