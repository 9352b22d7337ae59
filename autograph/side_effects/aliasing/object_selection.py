"""Which of the objects in a block's state and results are carried by numbers: found out while its runs are seen.

an object of a class that no backend takes apart      where runs give different ones
an object that contains itself                        always, as there is no end to taking it apart
any other                                             where `alias_state.py` finds that somebody would notice

All are from before the block: a new one is none of several that are there. See `object_index.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ...staging import State, is_chosen
from ..diagnostics import circles, rebound
from ..mutable_values import is_mutable
from .object_index import ObjectIndex
from .object_paths import Path, circular, drawn, objects, references


class Watch(Protocol):
    """Who knows the code around a block."""

    def again(self) -> BaseException:
        """What to raise for the block to be traced once more."""
        ...

    def has_seen(self, value: Any) -> bool:
        """Whether an object was there before the block, within its reach."""
        ...


class ObjectSelection:
    """The objects of one attempt to trace a block; `numbers` lasts for all of them. Others are `known`, too."""

    def __init__(
        self, initial: State, known: Sequence[Any], numbers: ObjectIndex, is_choice: bool, watch: Watch
    ) -> None:
        self.numbers, self._is_choice, self._watch = numbers, is_choice, watch
        found = dict(objects(initial))
        before = {**found, **dict(references(initial))}
        self.own = {id(value) for value in (*before.values(), *known) if value is not None}
        self._runs: list[dict[Path, Any]] = [] if is_choice else [before]  # a loop perhaps does not run
        if not is_choice:
            self.numbers.add(_rings(found), self._is_older, also_one=True)
        self.before = found if is_choice else self.by_items(found)

    def by_items(self, found: dict[Path, Any]) -> dict[Path, Any]:
        """Those of these objects that the backend carries by their items."""
        if not self.numbers.objects:
            return found
        return {path: value for path, value in found.items() if not self.numbers.covers(path)}

    def number(self, given: Mapping[Path, Sequence[Any]]) -> bool:
        """Carry these objects by numbers, as far as that can be; whether it can for any."""
        return bool(given) and self.numbers.add(given, self._is_older)

    def see(self, results: Sequence[Any], found: dict[Path, Any], named: Callable[[Path], str]) -> None:
        """Look at the results of a run, in which are the objects `found`."""
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
        """A run whose results have no objects."""
        self._runs.append({})

    def hidden(self, results: Sequence[Any]) -> dict[Path, Any]:
        """What the backend gets in place of objects in the results."""
        counts = self.numbers.counts()
        hidden = self.numbers.hidden(results)
        if not self._is_choice and counts != self.numbers.counts():
            raise self._watch.again()  # a round may begin with further objects
        return hidden

    def begun(self, state: State) -> State:
        """The state with which a loop begins, as the backend may have it."""
        hidden = self.numbers.hidden(state)
        inside = {path[0] for path in hidden}
        return tuple(
            drawn(value, lambda _: True, (at,), hidden) if at in inside else value
            for at, value in enumerate(state)
        )

    def _is_older(self, value: Any) -> bool:
        """Whether an object was there before the block."""
        return id(value) in self.own or self._watch.has_seen(value)

    def _differing(self) -> dict[Path, list[Any]]:
        """Where runs give different objects, and a backend does not take some of them apart."""
        columns = {path: [run.get(path) for run in self._runs] for path in self._runs[-1]}
        return {
            path: values
            for path, values in columns.items()
            if not any(value is None for value in values) and any(value is not values[0] for value in values)
            if not all(map(is_mutable, values))
        }


def _rings(found: dict[Path, Any]) -> dict[Path, list[Any]]:
    """Objects that contain themselves."""
    return {path: [found[path]] for path in circular(found)}
