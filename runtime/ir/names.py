"""Names in the text form of graphs, and in source that is generated from graphs.

name hint    x; import os    m.1    return        valid name, without a number
name         x__import_os    m      return_       made unique: m, m.1, m.2
"""

from __future__ import annotations

import functools
import re

RESERVED = frozenset({"true", "false", "nan", "inf", "True", "False", "None", "yield", "return"})


class Names:
    """A generator of unique names from name hints: `m`, `m.1`, `m.2`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def unique(self, requested_name: str) -> str:
        base = plain(requested_name)
        count = self._counts.get(base, -1) + 1
        self._counts[base] = count
        return f"{base}.{count}" if count else base


@functools.lru_cache(4096)
def plain(wish: str) -> str:
    """Return a name hint as a valid name, without the number from an earlier text."""
    name = re.sub(r"[^\w/]", "_", _without_numbers(wish))
    if not re.match(r"[^\W\d]", name):
        name = f"_{name}"
    return f"{name}_" if name in RESERVED else name


def _without_numbers(requested_name: str) -> str:
    """Return a name without the numbers at its end.

    A search from the start would take quadratic time, so the reversed name is matched.

    >>> _without_numbers("m.1.2")
    'm'
    """
    found = re.match(r"(?:\d++\.)*", requested_name[::-1])
    return requested_name[: len(requested_name) - (found.end() if found else 0)]
