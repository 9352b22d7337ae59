"""The graphs of a function by the keys of the calls they serve: bounded, and without what can never be called again.

    key of a call  →  graph        at most `LIMIT`; those that were not asked for longest go first
    objects in keys are weak       a graph whose object is gone is dropped

`fast` remembers calls by their raw arguments, so that most calls never come here; it is forgotten now and then, and
calls that are still made come here once more: that is how the cache knows which graphs are in use.
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
"""The most graphs that a function keeps."""

FAST_ENTRIES = 10_000
"""The most calls that are remembered by their raw arguments."""

_FIRST_SWEEP = 64


class TraceCache:
    """Graphs by key; see the module's picture."""

    def __init__(self) -> None:
        self.fast: dict[Hashable, Entry] = {}
        self._graphs: dict[Hashable, ConcreteFunction] = {}
        self._sweep_at = _FIRST_SWEEP
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._graphs)

    def get(self, key: Hashable) -> ConcreteFunction | None:
        """The graph for a key; it counts as used."""
        found = self._graphs.get(key)
        if found is not None and len(self._graphs) > LIMIT // 2:
            with self._lock:
                if self._graphs.pop(key, None) is not None:
                    self._graphs[key] = found
        return found

    def put(self, key: Hashable, concrete: ConcreteFunction) -> None:
        """Keep a graph; drop others where there are too many."""
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
        """Let calls with these raw arguments find their graph at once."""
        if len(self.fast) >= FAST_ENTRIES:
            self.fast.clear()
        self.fast[key] = entry

    def __iter__(self) -> Iterator[ConcreteFunction]:
        """The graphs, each once, those used last at the end."""
        with self._lock:
            return iter(dict.fromkeys(self._graphs.values()))


def is_alive(key: Hashable) -> bool:
    """Whether a call with this key can come again: all objects in it still exist."""
    if isinstance(key, Identity):
        return key.target is not None
    return all(map(is_alive, key)) if isinstance(key, tuple) else True
