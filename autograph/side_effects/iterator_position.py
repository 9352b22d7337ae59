"""Iterator positions: changes of iterators and generators can be detected, but neither undone nor carried.

names = iter(["a", "b"])
while n > 0:
    use(next(names))        refused: the graph would use "a" in every iteration
"""

from __future__ import annotations

import gc
import itertools
import operator
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, GeneratorType
from typing import Any

from .snapshots import AccessPath, ObjectSnapshot, StructuralChange
from .value_identity import same

_CALLING = type(iter(int, 1))
_TEE: type = type(itertools.tee(())[0])


class IteratorPosition(ObjectSnapshot):
    """An iterator and its position."""

    def __init__(self, owner: Any, path: AccessPath) -> None:
        super().__init__(owner, path)
        self.saved = position(owner)

    def has_changed(self) -> bool:
        return _is_hidden(self.owner) or not same(self.saved, position(self.owner))

    def changes(self) -> Iterator[StructuralChange]:
        if self.has_changed():
            yield StructuralChange(self, False, "is consumed")

    def restore(self) -> None:
        """Do nothing: an iterator cannot be rewound."""


def _is_hidden(iterator: Any) -> bool:
    """Return whether the position of an iterator is hidden.

    An iterator that calls a function written in C hides it, such as those of `re`.

    From Python 3.14 on, `itertools.tee` hides its position too.
    """
    if type(iterator) is _TEE and sys.version_info >= (3, 14):
        return True
    callee = next(iter(gc.get_referents(iterator)), None) if type(iterator) is _CALLING else None
    return isinstance(callee, BuiltinFunctionType) and not isinstance(
        callee.__self__, (list, dict, set, deque)
    )


def position(iterator: Any, depth: int = 4) -> tuple[Any, ...]:
    """Return the position of an iterator, as far as Python exposes it.

    >>> numbers = iter([1, 2, 3])
    >>> before = position(zip(numbers, "abc"))
    >>> next(numbers), before == position(zip(numbers, "abc"))
    (1, False)
    """
    if not depth:
        return ()
    if isinstance(iterator, GeneratorType):
        frame = iterator.gi_frame
        if frame is None:
            return ("finished",)
        values = tuple((name, id(value)) for name, value in frame.f_locals.items())
        inner = (part for part in gc.get_referents(iterator) if is_iterator(part))
        return frame.f_lasti, values, *(position(part, depth - 1) for part in inner)
    return operator.length_hint(iterator, -1), _of_state(_state(iterator), depth - 1)


def _state(iterator: Any) -> Any:
    """Return the pickled state of the iterator."""
    if isinstance(iterator, itertools.count):
        return repr(iterator)
    try:
        with warnings.catch_warnings(action="ignore"):  # pickling of itertools is deprecated
            return iterator.__reduce__()
    except (TypeError, AttributeError):
        return tuple(iterator_parts(iterator))


def iterator_parts(iterator: Any) -> list[Any]:
    """Return the objects that `iterator` refers to, those inside its own tuples included.

    The tuple inside a `zip_longest` has null pointers in place of exhausted iterators, so that Python code which
    indexes or iterates it crashes. `gc.get_referents` leaves null pointers out.
    """
    parts = gc.get_referents(iterator)
    tuples = [part for part in parts if type(part) is tuple]
    return [part for part in parts if type(part) is not tuple] + gc.get_referents(*tuples)


def _of_state(state: Any, depth: int) -> Any:
    if isinstance(state, tuple):
        return tuple(_of_state(part, depth) for part in state)
    if is_iterator(state):
        return position(state, depth)
    if isinstance(state, (list, str)):
        return len(state) if isinstance(state, list) else state
    return state if isinstance(state, int) else None


def is_iterator(value: Any) -> bool:
    """Return whether a value is an iterator that Python defines."""
    kind = type(value)
    return kind is GeneratorType or (
        kind.__module__ in ("builtins", "itertools", "collections") and hasattr(kind, "__next__")
    )
