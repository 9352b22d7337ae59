"""Random numbers of pipelines, with TensorFlow's algorithm: equal orders for equal seeds.

    Seeds(3, 5, renew=True).next()    the pair for an iteration; another one for the next iteration
    Samples(seed, seed2).next()       32-bit words from the Philox stream with that key

>>> samples = Samples(87654321, 3)
>>> samples.next(), samples.next()
(3534849767, 279844183)
"""

from __future__ import annotations

import os
import threading

from ..kernels.random.philox import Stream

_BLOCKS = 32
_WORDS = 4  # of a block


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

    def skip(self, count: int) -> None:
        """Pass over the next words of a stream that has given none."""
        self._stream.reserve(count // _WORDS)
        for _ in range(count % _WORDS):
            self.next()


class Seeds:
    """The seeds of a stage's iterations: always the same, or with `renew` others for each iteration."""

    def __init__(self, seed: int, seed2: int, renew: bool) -> None:
        self._given = seed, seed2, renew
        if self.differ_by_process:
            seed, seed2 = (int.from_bytes(os.urandom(8)) >> 1 for _ in range(2))
        self.lock = threading.RLock()
        self._start(seed, seed2)

    def _start(self, seed: int, seed2: int) -> None:
        self.pair = seed, seed2
        self._renewed = Samples(seed, seed2) if self._given[2] else None
        self._count = 0

    @property
    def differ_by_process(self) -> bool:
        """Return whether the program has given no seeds."""
        return self._given[:2] == (0, 0)

    def anew(self) -> Seeds:
        """Return the same seeds, reset to the first iteration."""
        return Seeds(*self._given)

    def next(self) -> tuple[int, int]:
        with self.lock:
            self._count += 1
            return self.pair if self._renewed is None else (self._renewed.next(), self._renewed.next())

    def at(self, seed: int, seed2: int, number: int) -> tuple[int, int]:
        """Return the pair with this number, from 0, that other seeds of this kind give."""
        other = Seeds(seed, seed2, self._given[2])
        other.move_to(seed, seed2, number)
        return other.next()

    def state(self) -> tuple[int, int, int]:
        """Return the two seeds and the number of pairs that have been drawn."""
        with self.lock:
            return *self.pair, self._count

    def move_to(self, seed: int, seed2: int, count: int) -> None:
        """Return to a state."""
        with self.lock:
            self._start(seed, seed2)
            self._count = count
            if self._renewed is not None:
                self._renewed.skip(2 * count)
