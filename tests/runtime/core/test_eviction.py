"""Full caches lose few entries: programs that use a few keys too many in turn still find most of them."""

from __future__ import annotations

from typing import Any

from agc.runtime.core.eviction import SELDOM, make_room, takes_new


def misses(cache: dict[int, Any], keys: range, most: int) -> int:
    """Use the keys in turn, and count those that are missing."""
    missing = [key for key in keys if key not in cache]
    for key in missing:
        if takes_new(cache, most):
            cache[key] = key
        assert len(cache) <= most
    return len(missing)


def test_a_cache_that_is_not_full_takes_all_keys() -> None:
    cache: dict[int, Any] = {}
    assert misses(cache, range(64), 64) == 64 and misses(cache, range(64), 64) == 0


def test_a_key_too_many_costs_few_others() -> None:
    cache: dict[int, Any] = {}
    assert misses(cache, range(65), 64) == 65
    assert sum(misses(cache, range(65), 64) for _ in range(100)) <= 2 * 100


def test_keys_of_a_new_phase_replace_the_old_ones() -> None:
    cache = dict.fromkeys(range(64), 1)
    for _ in range(8 * SELDOM):
        misses(cache, range(100, 120), 64)
    assert misses(cache, range(100, 120), 64) == 0


def test_keys_that_came_once_are_replaced_at_once() -> None:
    cache: dict[int, Any] = dict.fromkeys(range(64))
    for key in range(100, 132):
        assert takes_new(cache, 64)
        cache[key] = None
    assert len(cache) == 64


def test_a_limit_that_was_lowered_holds_at_once() -> None:
    cache = dict.fromkeys(range(64), 1)
    make_room(cache, 5)
    assert len(cache) == 4
