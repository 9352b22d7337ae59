"""Object selection: decide during the traces which objects are carried by index.

    an object of a class that no backend takes apart      where traces return different objects
    an object that contains itself                        always, as taking it apart would not terminate
    any other object                                      where `alias_state.py` finds that the copy is observable

All candidates existed before the block. A new object cannot be a candidate. See `object_index.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ...staging import State, is_chosen
from ..diagnostics import circles, rebound
from ..mutable_values import is_mutable
from .object_index import ObjectIndex
from .object_paths import Path, circular, drawn, objects, references


class Watch(Protocol):
    """The queries about the code around a block."""

    def again(self) -> BaseException:
        """Return the exception that has the block traced again."""
        ...

    def has_seen(self, value: Any) -> bool:
        """Return whether an object existed before the block, within its reach."""
        ...


class ObjectSelection:
    """The objects of one attempt to trace a block; `known` are further ones. All attempts share `numbers`."""

    def __init__(
        self, initial: State, known: Sequence[Any], numbers: ObjectIndex, is_choice: bool, watch: Watch
    ) -> None:
        self.numbers, self._is_choice, self._watch = numbers, is_choice, watch
        found = dict(objects(initial))
        before = {**found, **dict(references(initial))}
        self.own = {id(value) for value in (*before.values(), *known) if value is not None}
        self._runs: list[dict[Path, Any]] = [] if is_choice else [before]  # a loop may have no iterations
        if not is_choice:
            self.numbers.add(_rings(found), self._is_older, also_one=True)
        self.before = found if is_choice else self.by_items(found)

    def by_items(self, found: dict[Path, Any]) -> dict[Path, Any]:
        """Return the objects that the backend carries by their items."""
        if not self.numbers.objects:
            return found
        return {path: value for path, value in found.items() if not self.numbers.covers(path)}

    def number(self, given: Mapping[Path, Sequence[Any]]) -> bool:
        """Carry these objects by index where that is possible; return whether it is for any."""
        return bool(given) and self.numbers.add(given, self._is_older)

    def see(self, results: Sequence[Any], found: dict[Path, Any], named: Callable[[Path], str]) -> None:
        """Record the results of a trace, which contain the objects `found`."""
        if rings := _rings(found):
            if not self.numbers.add(rings, self._is_older, also_one=True):
                raise circles(named(next(iter(rings))))
            raise self._watch.again()
        self._runs.append({**found, **dict(references(results))})
        differing = self._differing()
        if self.number(differing) or self.numbers.drop_new(results, self._is_older):
            raise self._watch.again()
        for path, values in differing.items():
            if any(is_chosen(type(value)) for value in values) and not self.numbers.covers(path):
                raise rebound(named(path))

    def see_nothing(self) -> None:
        """Record a trace whose results contain no objects."""
        self._runs.append({})

    def hidden(self, results: Sequence[Any]) -> dict[Path, Any]:
        """Return what the backend gets in place of objects in the results."""
        counts = self.numbers.counts()
        hidden = self.numbers.hidden(results)
        if not self._is_choice and counts != self.numbers.counts():
            raise self._watch.again()  # an iteration may begin with further objects
        return hidden

    def begun(self, state: State) -> State:
        """Return the state with which a loop begins, in the form in which the backend gets it."""
        hidden = self.numbers.hidden(state)
        inside = {path[0] for path in hidden}
        return tuple(
            drawn(value, lambda _: True, (at,), hidden) if at in inside else value
            for at, value in enumerate(state)
        )

    def _is_older(self, value: Any) -> bool:
        """Return whether an object existed before the block."""
        return id(value) in self.own or self._watch.has_seen(value)

    def _differing(self) -> dict[Path, list[Any]]:
        """Return the paths at which traces have different objects, not all of which a backend takes apart."""
        columns = {path: [run.get(path) for run in self._runs] for path in self._runs[-1]}
        return {
            path: values
            for path, values in columns.items()
            if not any(value is None for value in values) and any(value is not values[0] for value in values)
            if not all(map(is_mutable, values))
        }


def _rings(found: dict[Path, Any]) -> dict[Path, list[Any]]:
    """Return the objects that contain themselves."""
    return {path: [found[path]] for path in circular(found)}
