"""Random numbers of pipelines, with TensorFlow's algorithm: equal orders for equal seeds.

    Seeds(3, 5, renew=True).next()    the pair for an iteration; another one for the next iteration
    Samples(seed, seed2).next()       32-bit words from the Philox stream with that key

>>> samples = Samples(87654321, 3)
>>> samples.next(), samples.next()
(3534849767, 279844183)
"""

from __future__ import annotations

import os

from ..kernels.random.philox import Stream

_BLOCKS = 32


class Samples:
    """An iterator of 32-bit words."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._stream = Stream(seed, seed2)
        self._words: list[int] = []
        self._blocks = 1

    def next(self) -> int:
        if not self._words:
            first = self._stream.reserve(self._blocks)
            self._words = self._stream.bits(first, self._blocks).reshape(-1)[::-1].tolist()
            self._blocks = min(2 * self._blocks, _BLOCKS)
        return self._words.pop()


class Seeds:
    """The seeds of a stage's iterations: always the same, or with `renew` others for each iteration."""

    def __init__(self, seed: int, seed2: int, renew: bool) -> None:
        self._given = seed, seed2, renew
        if seed == seed2 == 0:
            seed, seed2 = (int.from_bytes(os.urandom(8)) >> 1 for _ in range(2))
        self.pair = seed, seed2
        self._renewed = Samples(seed, seed2) if renew else None

    def anew(self) -> Seeds:
        """Return the same seeds, reset to the first iteration."""
        return Seeds(*self._given)

    def next(self) -> tuple[int, int]:
        if self._renewed is None:
            return self.pair
        return self._renewed.next(), self._renewed.next()
