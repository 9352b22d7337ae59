"""May-alias groups: objects that are one or two, as the graph decides, so that none may be mutated.

    if x > 0:                   after this, `a` is `b`, or another list with the same items: only the executed graph
        a = b                   decides
    a.append(x)                 does `b` have one more item?

No carried state can express that, so it is an error. Code may mutate an object through names that no analysis
finds. So the contents of the objects are recorded when the group is made. They are compared at the end of the
trace of the innermost block or function.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..value_identity import same
from .object_paths import contents, holds


class MayAlias(NamedTuple):
    """Objects that may alias, and the error to raise when one is mutated."""

    objects: tuple[Any, ...]
    error: Exception


class _Memory(threading.local):
    def __init__(self) -> None:
        self.scopes: list[AliasScope] = []


_memory = _Memory()


class AliasScope:
    """The may-alias groups of one trace of a block or function.

    It is opened when the trace begins, and checked and closed when the trace ends.
    """

    def __init__(self) -> None:
        self._saved: list[tuple[MayAlias, list[Any]]] = []

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
        for group in all_groups():
            self.watch(group)
        _memory.scopes.append(self)

    def close(self) -> None:
        if self in _memory.scopes:
            _memory.scopes.remove(self)

    def watch(self, group: MayAlias) -> None:
        self._saved.append((group, [contents(value) for value in group.objects]))

    def groups(self) -> Iterator[MayAlias]:
        for group, _ in self._saved:
            yield group

    def check(self) -> None:
        """Raise the error of a group whose objects have been mutated."""
        for group, saved in self._saved:
            if not all(map(_is_unchanged, group.objects, saved)):
                raise group.error


def _is_unchanged(value: Any, saved: tuple[dict[Any, Any], dict[str, Any]]) -> bool:
    items, named = saved
    now = contents(value)[1]
    return (
        holds(value, items)
        and now.keys() == named.keys()
        and all(same(part, named[key]) for key, part in now.items())
    )


def all_groups() -> Iterator[MayAlias]:
    """Return all may-alias groups of the current trace."""
    return _memory.scopes[-1].groups() if _memory.scopes else iter(())


def groups() -> list[tuple[Any, ...]]:
    """Return the objects of each may-alias group."""
    return [group.objects for group in all_groups()]


def record(objects: Sequence[Any], error: Exception) -> bool:
    """Record that `objects` may alias until the innermost trace ends; return whether there is such a trace."""
    if _memory.scopes:
        _memory.scopes[-1].watch(MayAlias(tuple(objects), error))
    return bool(_memory.scopes)
