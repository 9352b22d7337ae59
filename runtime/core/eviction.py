"""Evict entries of full caches one at a time, and seldom.

257 keys in turn, of which 256 fit      clear, or evict the oldest: each key is missing when it comes again
                                        evict any entry, for one of 32 new keys: few keys are missing
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

SELDOM = 32
"""The number of new keys that come on average before one of them replaces another key."""


def takes_new(cache: dict[Any, Any], most: int) -> bool:
    """Return whether a cache takes a new key, for which a full one loses a random key.

    A key whose value is None, as it came only once, is always replaced.
    """
    if len(cache) < most:
        return True
    key = _random_key(cache)
    if cache.get(key) is not None and _choices().random() * SELDOM >= 1:
        return False
    cache.pop(key, None)
    return True


def make_room(cache: dict[Any, Any], most: int) -> None:
    """Delete random entries of a cache until another one fits."""
    while len(cache) >= most:
        cache.pop(_random_key(cache), None)


def _random_key(cache: dict[Any, Any]) -> Any:
    keys = list(cache)  # no iterator, which fails if another thread adds an entry
    return keys[int(_choices().random() * len(keys))]


@functools.cache
def _choices() -> Random:
    """Return a generator that is not the one of programs, whose numbers must not change."""
    from random import Random  # imported at first use: few caches are ever full

    return Random(0)
