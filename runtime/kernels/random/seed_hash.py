"""The streams of stateless seeds: one Philox block scrambles a seed, so that nearby seeds share no numbers.

seed (7, 3) → a key and a counter → a stream with its first block at the counter
"""

from __future__ import annotations

from .philox import Stream

SCRAMBLING = (0x3EC8F720, 0x02461E29)
"""The key that scrambles seeds. Any key would do; this one gives TensorFlow's numbers."""

_SCRAMBLER = Stream(SCRAMBLING[0] | SCRAMBLING[1] << 32, 0)
_ALL = (1 << 64) - 1


def stream(first: int, second: int) -> Stream:
    """Return the stream of a seed of two numbers; only their lowest 64 bits count."""
    ((k0, k1, c0, c1),) = _SCRAMBLER.bits(first & _ALL | (second & _ALL) << 64, 1).tolist()
    return Stream(k0 | k1 << 32, c0 | c1 << 32)
