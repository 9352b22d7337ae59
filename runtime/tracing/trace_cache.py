"""The trace cache of a function: bounded in size, and without graphs that cannot be called again.

    cache key of a call  →  graph      at most `LIMIT`; the least recently used are dropped first
    objects in keys are weak           a graph is dropped when such an object no longer exists

`fast` maps fast keys to entries, so that most calls skip this cache. It is cleared from time to time. Calls then
search this cache again, which records the graphs that are in use.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from .cache_key import Identity

if TYPE_CHECKING:
    from .cache_entry import Entry
    from .concrete_function import ConcreteFunction

LIMIT = 1_000
"""The maximum number of graphs of a function."""

FAST_ENTRIES = 10_000
"""The maximum number of fast keys."""

_FIRST_SWEEP = 64


class TraceCache:
    """The graphs of a function by cache key; see the module's picture."""

    def __init__(self) -> None:
        self.fast: dict[Hashable, Entry] = {}
        self._graphs: dict[Hashable, ConcreteFunction] = {}
        self._sweep_at = _FIRST_SWEEP
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._graphs)

    def get(self, key: Hashable) -> ConcreteFunction | None:
        """Return the graph for a key and mark it as used; None if there is none."""
        found = self._graphs.get(key)
        if found is not None and len(self._graphs) > LIMIT // 2:
            with self._lock:
                if self._graphs.pop(key, None) is not None:
                    self._graphs[key] = found
        return found

    def put(self, key: Hashable, concrete: ConcreteFunction) -> None:
        """Add a graph; drop others if there are too many."""
        with self._lock:
            self._graphs[key] = concrete
            count = len(self._graphs)
            if count >= self._sweep_at:
                self._sweep()
            if count == LIMIT * 3 // 4:
                self.fast.clear()
            if len(self._graphs) > LIMIT:
                for oldest in list(self._graphs)[: LIMIT // 4]:
                    del self._graphs[oldest]
                self.fast.clear()

    def _sweep(self) -> None:
        gone = [key for key in self._graphs if not is_alive(key)]
        for key in gone:
            del self._graphs[key]
        self.fast.clear()
        self._sweep_at = max(_FIRST_SWEEP, 2 * len(self._graphs))

    def remember(self, key: Hashable, entry: Entry) -> None:
        """Add an entry for a fast key."""
        if len(self.fast) >= FAST_ENTRIES:
            self.fast.clear()
        self.fast[key] = entry

    def __iter__(self) -> Iterator[ConcreteFunction]:
        """Iterate over the graphs without duplicates, the most recently used last."""
        with self._lock:
            return iter(dict.fromkeys(self._graphs.values()))


def is_alive(key: Hashable) -> bool:
    """Return whether a call with this key can come again: all objects in the key still exist."""
    if isinstance(key, Identity):
        return key.target is not None
    return all(map(is_alive, key)) if isinstance(key, tuple) else True
