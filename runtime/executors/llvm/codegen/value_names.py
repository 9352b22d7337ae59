"""Names of the values in a function: numbers for values without a name.

For each new value, llvmlite checks whether its name is taken. Most have none, and are simply numbered `.1`,
`.2`, ….
"""

from __future__ import annotations

from collections import Counter


class ValueNames:
    """The scope of a function, in the interface of llvmlite; its arguments are already named."""

    def __init__(self, arguments: int) -> None:
        self._count = arguments
        self._others: Counter[str] = Counter()
        self._used: set[str] = set()

    def register(self, name: str, deduplicate: bool = False) -> str:
        """Return `name` itself, or a unique variant with a number."""
        if not name:
            self._count += 1
            return f".{self._count}"
        found = name
        while found in self._used:
            self._others[name] += 1
            found = f"{name}.{self._others[name]}"
        self._used.add(found)
        return found
