"""Facts about code objects, kept for as long as the code lives.

Code objects compare by value: two modules with the same source have *equal* code. Facts about one function
must not apply to the other, so a `CodeMap` compares by identity. It does not keep the code alive. Functions
may be keys too, and classes, whose metaclass may define equality.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Generic, TypeVar

Fact = TypeVar("Fact")
Subject = CodeType | type | FunctionType


class CodeMap(Generic[Fact]):
    """A weak dictionary from code objects to facts.

    >>> facts = CodeMap()
    >>> facts[(lambda: 0).__code__] = "gone at once"
    >>> len(facts)
    0
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Subject], Fact]] = {}

    def get(self, code: Subject) -> Fact | None:
        entry = self._entries.get(id(code))
        return entry[1] if entry is not None and entry[0]() is code else None

    def __setitem__(self, code: Subject, fact: Fact) -> None:
        key, entries = id(code), self._entries

        def forget(dead: weakref.ref[Subject]) -> None:
            # The id may belong to a new code object in the meantime.
            if key in entries and entries[key][0] is dead:
                del entries[key]

        entries[key] = (weakref.ref(code, forget), fact)

    def __contains__(self, code: Subject) -> bool:
        return self.get(code) is not None

    def clear(self) -> None:
        self._entries.clear()

    def facts(self) -> Iterator[Fact]:
        """Return the facts about all code that is alive."""
        return iter([fact for _, fact in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)


def nested_code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield `code` and the code of all functions, classes and comprehensions inside it."""
    pending = [code]
    while pending:
        current = pending.pop()
        yield current
        pending += [constant for constant in current.co_consts if isinstance(constant, CodeType)]


def code_at_place(module: CodeType, sought: CodeType) -> CodeType | None:
    """Return the code in `module` with the name and place of `sought`; None if there is none, or no telling which.

    Columns distinguish the lambdas of a line.

    >>> module = compile("f, g = lambda x: x + 1, lambda x: x * 2", "<text>", "exec")
    >>> first, second = module.co_consts[:2]
    >>> code_at_place(module, second) is second
    True
    """
    key = sought.co_qualname, sought.co_firstlineno
    found = [code for code in nested_code_objects(module) if (code.co_qualname, code.co_firstlineno) == key]
    if any(code != found[0] for code in found):  # the body of a `finally` is compiled several times
        found = [code for code in found if _start(code) == _start(sought)]
    return found[0] if found and all(code == found[0] for code in found) else None


def _start(code: CodeType) -> tuple[int, int] | None:
    """Return the line and column at which the body of a function starts; None if the code has no columns."""
    places = [
        (line, column) for line, _, column, end in code.co_positions() if line and column is not None and end
    ]
    return min(places, default=None)
