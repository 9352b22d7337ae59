"""Convert a Python list to a list in the graph, if a branch or a loop changes its length.

    out = []                          out: list of 0
    for x in tensor:
        if x > 0:                     then: list of 1  ┐  a list of
            out.append(x)             else: list of 0  ┘  int32[]

Lists of one length are nests. Their elements are carried as any other state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from agc.autograph.staging import Undefined, UnescapedList

from .. import nest
from ..core.tensor import Tensor
from ..ir.builder import Builder
from .tensor_list import TensorList, from_elements


def lengths_differ(one: Any, other: Any) -> bool:
    """Return whether `one` is a Python list and `other` a list that is no nest of the same structure."""
    if _is_python(one) and isinstance(other, TensorList):
        return True
    return _is_python(one) and _is_python(other) and not nest.same_structure(list(one), list(other))


def _is_python(value: Any) -> bool:
    return type(value) in (list, UnescapedList, IndexableList)


def lists_agree(name: str, builders: Sequence[Builder], column: list[Any]) -> list[Any]:
    """Return the values of a variable in all branches; lists of different lengths become lists in the graph."""
    real = [value for value in column if not isinstance(value, Undefined)]
    like = next((value for value in real if isinstance(value, TensorList)), None)
    python = [value for value in real if _is_python(value)]
    if not python or (like is None and not any(lengths_differ(python[0], other) for other in python[1:])):
        return _of_one_class(column)
    if len(python) + sum(isinstance(value, TensorList) for value in real) < len(real):
        return column  # one is no list, which is an error later
    examples = [element for value in python for element in value]
    agreed = []
    for builder, value in zip(builders, column, strict=True):
        with builder:
            agreed.append(_held(name, value, examples, like))
    return agreed


def held(name: str, value: Any, other: Any) -> TensorList:
    """Return a Python list as a list in the graph that can have the elements of `other`."""
    is_like = isinstance(other, TensorList)
    result: TensorList = _held(name, value, [] if is_like else other, other if is_like else None)
    return result


def _of_one_class(column: list[Any]) -> list[Any]:
    like = next((value for value in column if isinstance(value, UnescapedList)), None)
    if like is None:
        return column
    return [nest.rebuilt(like, value) if _is_python(value) else value for value in column]


def _held(name: str, value: Any, examples: list[Any], like: TensorList | None) -> Any:
    if not _is_python(value):
        return value
    if like is None:
        return from_elements(name, value, examples)
    result = like.emptied()
    result.extend(value)
    return result


def fitted(names: Sequence[str], state: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """Return the results of a loop's body; convert Python lists if the loop carries a list in the graph."""
    found = []
    for name, before, after in zip(names, state, results, strict=True):
        if _is_python(after):
            after = UnescapedList(after) if isinstance(before, UnescapedList) else list(after)
        found.append(_held(name, after, [], before) if isinstance(before, TensorList) else after)
    return found


class NeedsTensorList(BaseException):
    """Ends a trace in which a Python list of a loop's state is indexed by a tensor."""

    def __init__(self, loop: Any, position: int) -> None:
        super().__init__()
        self.loop, self.position = loop, position


class IndexableList(UnescapedList):
    """A list of a loop's state during a trace of the loop: it detects accesses that only a graph can do."""

    loop: Any = None
    position = 0

    def copy(self) -> IndexableList:
        return self.__rebuilt__(self)

    def __rebuilt__(self, parts: Iterable[Any]) -> IndexableList:
        return _indexable(parts, self.loop, self.position)

    def _check(self, key: Any) -> Any:
        parts = (key.start, key.stop) if isinstance(key, slice) else (key,)
        if self and any(isinstance(part, Tensor) for part in parts):
            raise NeedsTensorList(self.loop, self.position)
        return key

    def __getitem__(self, key: Any) -> Any:
        with _may_be_longer():
            return super().__getitem__(self._check(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        with _may_be_longer():
            super().__setitem__(self._check(key), value)

    def __delitem__(self, key: Any) -> None:
        with _may_be_longer():
            super().__delitem__(self._check(key))

    def pop(self, index: Any = -1) -> Any:
        with _may_be_longer():
            return super().pop(self._check(index))

    def insert(self, index: Any, value: Any) -> None:
        super().insert(self._check(index), value)


@contextmanager
def _may_be_longer() -> Iterator[None]:
    """Mark an IndexError as one that the graph raises, since the list may be longer at run time."""
    try:
        yield
    except IndexError as error:
        error.fails_in_graph = True  # type: ignore[attr-defined]
        raise


def indexable(state: tuple[Any, ...], loop: Any) -> tuple[Any, ...]:
    """Return the state of a loop for one trace, with lists that detect accesses by a tensor."""
    return tuple(
        _indexable(value, loop, position) if isinstance(value, UnescapedList) else value
        for position, value in enumerate(state)
    )


def _indexable(value: Iterable[Any], loop: Any, position: int) -> IndexableList:
    found = IndexableList(value)
    found.loop, found.position = loop, position
    return found
