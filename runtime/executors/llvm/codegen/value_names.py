"""The names of values in a function: numbers, for those that have none of their own.

llvmlite looks for each new value whether another has its name, and most have none: `.1`, `.2`, … are just counted here.
"""

from __future__ import annotations

from collections import Counter


class Names:
    """What llvmlite calls the scope of a function, with its arguments named already."""

    def __init__(self, arguments: int) -> None:
        self._count = arguments
        self._others: Counter[str] = Counter()
        self._used: set[str] = set()

    def register(self, name: str, deduplicate: bool = False) -> str:
        """A name as it was, or with a number where another value has it."""
        if not name:
            self._count += 1
            return f".{self._count}"
        found = name
        while found in self._used:
            self._others[name] += 1
            found = f"{name}.{self._others[name]}"
        self._used.add(found)
        return found
