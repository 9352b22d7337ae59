"""Objects that are one or two, as the graph decides: none of them may be changed while the others are in use.

    if x > 0:                   after this, `a` is `b` or another list with the same items, and only the run knows
        a = b
    a.append(x)                 does `b` have one more item?

Nothing can carry that, so it is an error. Code may change an object by names that no analysis knows. So what the
objects hold is noted when the doubt arises, and compared at the end of what is traced then: a block, or a function.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..value_identity import same
from .object_paths import contents, holds


class MayAlias(NamedTuple):
    """Objects that are perhaps one, and what is wrong when one is changed."""

    objects: tuple[Any, ...]
    error: Exception


class _Memory(threading.local):
    def __init__(self) -> None:
        self.scopes: list[AliasScope] = []


_memory = _Memory()


class AliasScope:
    """The trace of a block or function: it is opened when that begins, checked when it ends, and closed."""

    def __init__(self) -> None:
        self._kept: list[tuple[MayAlias, list[Any]]] = []

    def __enter__(self) -> AliasScope:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.close()

    def open(self) -> None:
        for doubt in all_doubts():
            self.watch(doubt)
        _memory.scopes.append(self)

    def close(self) -> None:
        if self in _memory.scopes:
            _memory.scopes.remove(self)

    def watch(self, doubt: MayAlias) -> None:
        self._kept.append((doubt, [contents(value) for value in doubt.objects]))

    def doubts(self) -> Iterator[MayAlias]:
        for doubt, _ in self._kept:
            yield doubt

    def check(self) -> None:
        """Whether everything still holds what it held; an error otherwise."""
        for doubt, kept in self._kept:
            if not all(map(_is_as_kept, doubt.objects, kept)):
                raise doubt.error


def _is_as_kept(value: Any, kept: tuple[dict[Any, Any], dict[str, Any]]) -> bool:
    items, named = kept
    now = contents(value)[1]
    return (
        holds(value, items)
        and now.keys() == named.keys()
        and all(same(part, named[key]) for key, part in now.items())
    )


def all_doubts() -> Iterator[MayAlias]:
    """All doubts in what is being traced."""
    return _memory.scopes[-1].doubts() if _memory.scopes else iter(())


def groups() -> list[tuple[Any, ...]]:
    """The objects that are perhaps one, of each doubt."""
    return [doubt.objects for doubt in all_doubts()]


def note(objects: Sequence[Any], error: Exception) -> bool:
    """From now on, until the end of the innermost block or function, these are perhaps one; whether one is traced."""
    if _memory.scopes:
        _memory.scopes[-1].watch(MayAlias(tuple(objects), error))
    return bool(_memory.scopes)
