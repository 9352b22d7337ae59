"""Prefetching of random numbers for seeds that advance by a constant step.

    for i in tf.range(n):                                     i = 0, 1     drawn one by one
        x += tf.random.stateless_normal([], [7, i])           i = 2        drawn for 2, 3, … 9; then for 10, 11, … 41

The seed alone determines the numbers, so prefetching only affects time: drawing for many seeds at once costs little
more than for one. When the step changes, prefetching waits longer, so that useless draws never exceed useful ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Seed = tuple[int, int]

_FIRST, _MOST, _FASTER = 8, 128, 4
_LONGEST_WAIT = 64


class RandomPrefetcher:
    """A source of numbers by seed: `one(seed)` for one seed, `many(seed, step, count)` for seeds at equal steps.

    `most` is the maximum number drawn at once.

    >>> drawn = RandomPrefetcher(lambda seed: ("one", seed), lambda seed, step, count: [("many", count)] * count, 100)
    >>> [drawn.draw((1, i)) for i in range(4)]
    [('one', (1, 0)), ('one', (1, 1)), ('many', 8), ('many', 8)]
    """

    __slots__ = ("_count", "_last", "_many", "_most", "_one", "_ready", "_seen", "_step", "_wait")

    def __init__(
        self,
        one: Callable[[Seed], Any],
        many: Callable[[Seed, Seed, int], Iterable[Any]],
        most: int = _MOST,
    ) -> None:
        self._one, self._many, self._most = one, many, min(most, _MOST)
        self._ready: dict[Seed, Any] = {}
        self._last: Seed = (0, 0)
        self._step: Seed = (0, 0)
        self._seen = 0  # how many seeds in a row had the same step
        self._wait = 1  # how many such seeds start prefetching
        self._count = _FIRST

    def draw(self, seed: Seed) -> Any:
        """Return the numbers for a seed."""
        found = self._ready.pop(seed, None)
        return self._missing(seed) if found is None else found

    def draw_by(self, seed: Any) -> Any:
        """Return the numbers for a seed given as an array."""
        return self.draw(tuple(seed.tolist()))

    # Several threads may run this at once: a race only makes the prediction worse.

    def _missing(self, seed: Seed) -> Any:
        last, step = self._last, self._step
        self._last = seed
        self._step = seed[0] - last[0], seed[1] - last[1]
        if self._step != step or step == (0, 0):
            self._leave()
            return self._one(seed)
        self._seen += 1
        return self._one(seed) if self._seen < self._wait else self._supplied(seed)

    def _leave(self) -> None:
        """Reset the prediction after a change of the step; wait longer if most of the last draws were useless."""
        if len(self._ready) * 2 * _FASTER > self._count:
            self._wait = min(self._wait * 2, _LONGEST_WAIT)
        self._ready = {}
        self._count, self._seen = _FIRST, 0

    def _supplied(self, seed: Seed) -> Any:
        """Draw the numbers for a seed and the following ones; return the first and keep the others."""
        if self._count > _FIRST:
            self._wait = 1  # all earlier draws were used
        step, count = self._step, min(self._count, self._most)
        self._count = count * _FASTER
        seeds = [(seed[0] + i * step[0], seed[1] + i * step[1]) for i in range(count)]
        ready = dict(zip(seeds, self._many(seed, step, count), strict=True))
        found = ready.pop(seed)
        self._ready, self._last = ready, seeds[-1]
        return found
