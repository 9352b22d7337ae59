"""A list or dict in a block's state stays one object, whoever else knows it.

    d = self.totals            the backend carries the items of `d`, and packs them into a new dict for each trace:
    while i < n:               these are poured into the one dict that there is, so that `self.totals` is `d`
        d = add(d, i)   ==>    in the block as well; and after it, so are the backend's results

A block that changes such an object, and binds the variable to something else, cannot be carried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .sameness import same
from .staging import State

_MUTABLE = list, dict


class Aliases:
    """The containers at the top of a block's state."""

    def __init__(self, initial: State) -> None:
        self.containers = {at: value for at, value in enumerate(initial) if type(value) in _MUTABLE}
        self._results: list[dict[int, Any]] = []  # of each run: which result is which container

    def enter(self, state: State) -> tuple[State, dict[int, Any]]:
        """The state with the containers themselves in it, filled with what came in; and what they held."""
        values = list(state)
        held = {}
        for at, container in self.containers.items():
            before = drawn(container)
            if values[at] is not container and fits(container, values[at]):
                held[at] = before
                pour(container, values[at])
                values[at] = container
        return tuple(values), held

    def changed(self, state: State, held: dict[int, Any]) -> list[int]:
        """The numbers of the containers that do not hold any more what came in."""
        return [at for at in held if not equal(self.containers[at], state[at])]

    def leave(self, results: Sequence[Any], changed: Sequence[int]) -> tuple[State, int | None]:
        """The results as the backend may have them; and the number of a changed container that is none of them."""
        own = {id(container): container for container in self.containers.values()}
        found = {
            number - len(results): own[id(result)]
            for number, result in enumerate(results)
            if id(result) in own
        }
        self._results.append(found)
        given = {id(container) for container in found.values()}
        lost = next((at for at in changed if id(self.containers[at]) not in given), None)
        return tuple(map(drawn, results)), lost

    def put_back(self, held: dict[int, Any]) -> None:
        """Fill the containers with what they held before."""
        for at, before in held.items():
            container = self.containers[at]
            if fits(container, before):
                pour(container, before)
            elif isinstance(container, dict):
                container.clear()
                container.update(before)
            else:
                container[:] = before

    def settle(self, results: State) -> State:
        """The results after the block: a container that was never exchanged has them as its items."""
        values = list(results)
        for number in range(-len(values), 0):
            found = [run.get(number) for run in self._results]
            one = found[0] if found else None
            if one is not None and all(other is one for other in found) and fits(one, values[number]):
                pour(one, values[number])
                values[number] = one
        return tuple(values)


def fits(container: Any, value: Any) -> bool:
    """Whether the items of one container can become those of another of the same structure."""
    if type(container) is not type(value):
        return False
    if type(container) is dict:
        return bool(container.keys() == value.keys())
    return type(container) is not list or len(container) == len(value)


def pour(container: Any, value: Any) -> None:
    """Fill a container with the items of another; containers inside it stay the same objects as well."""
    if container is value:
        return
    for key in container if isinstance(container, dict) else range(len(container)):
        inner, new = container[key], value[key]
        if type(inner) in _MUTABLE and fits(inner, new):
            pour(inner, new)
        else:
            container[key] = new


def drawn(value: Any) -> Any:
    """A copy of a nest: other containers, the same items."""
    if type(value) is dict:
        return {key: drawn(item) for key, item in value.items()}
    if type(value) is list:
        return [drawn(item) for item in value]
    return value


def equal(one: Any, other: Any) -> bool:
    """Whether two nests hold the same items.

    >>> equal({"a": [1]}, {"a": [1]}), equal([1], [2])
    (True, False)
    """
    if type(one) is not type(other) or type(one) not in _MUTABLE:
        return same(one, other)
    if not fits(one, other):
        return False
    return all(equal(one[key], other[key]) for key in (one if type(one) is dict else range(len(one))))
