"""Object identity in carried state: a mutable object stays one object for all its aliases.

    d = self.totals            The backend carries the items of `d`, and packs them into a new dict for each trace.
    while i < n:               They are written into the existing dict, so that `self.totals` is `d` in the block
        d = add(d, i)   ==>    as well. After the block, so are the backend's results.

An object has no identity for a backend: if it is passed twice, the backend returns two. So the objects in the
results of each trace of the block's functions are recorded. After the block they are compared:

    one object in every trace               stays one object: that of before the block, or a new one
    another object in every trace           two objects
    one in some traces, two in others       may alias: see `may_alias.py`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...staging import MutableValue, State
from ..diagnostics import circles
from ..mutable_values import extras, parts, refill
from ..value_identity import alike
from . import may_alias
from .alias_classes import BranchResult, KnownObject, alias_conflicts
from .backend_lists import BackendLists
from .external_aliases import ExternalAliases
from .loop_entry import LoopEntryAliases
from .object_paths import Path, are_plain, circular, drawn, fits, holds, objects, rebuilt

Held = dict[int, tuple[Any, dict[Any, Any]]]
"""id → a container that a trace has filled with other parts, and the parts that it held before."""
AtEntry = dict[Path, tuple[Any, dict[Any, Any]]]
"""path → an object with which a trace begins, and its parts at that time."""


class AliasState:
    """The objects in a block's state and in its results.

    `names` and `gives` name the state and the results; `known` are further objects.

    Of the branches of a conditional one is executed; the body of a loop may not be executed at all. `entry`
    holds what earlier attempts have found out about a loop.
    """

    def __init__(
        self,
        initial: State,
        known: Sequence[Any],
        names: tuple[str, ...],
        gives: tuple[str, ...],
        is_choice: bool,
        entry: LoopEntryAliases,
        aliases: ExternalAliases,
    ) -> None:
        self.names, self.gives, self.is_choice = names, gives, is_choice
        self._entry, self._outside = entry, aliases
        self.before = dict(objects(initial))
        if not is_choice:
            self._refuse_circles(self.before, lambda path: names[path[0]])
        self._own = {id(value) for value in (*self.before.values(), *known) if value is not None}
        self._lists = BackendLists(initial, is_choice)
        self._begins_plain = are_plain(initial)
        self._runs: list[BranchResult] = []
        self._found: dict[Path, Any] = {}  # the objects in the results after the block

    def enter(self, state: State) -> tuple[State, Held]:
        """Return the state with the original containers, filled with the incoming parts.

        The second result is what the containers held before.
        """
        held: Held = {}
        if self._are_plain(state):
            return state, held
        new: dict[Path, Any] = {}
        self._lists.enter(state)

        def choose(path: Path, value: Any) -> tuple[Any, bool]:
            container = None if path in self._entry.apart else self.before.get(path)
            if container is value:
                return value, False
            if container is not None and fits(container, value):
                held.setdefault(id(container), (container, parts(container)))
                return container, True
            target = new.setdefault(self._entry.first.get(path, path), value)
            return target, target is value

        return tuple(rebuilt(value, (number,), choose) for number, value in enumerate(state)), held

    def at_entry(self, state: State) -> AtEntry:
        """Return the objects with which a trace begins; record those that may alias."""
        if self._are_plain(state):
            return {}
        now = dict(objects(state))
        for path, *values in self._entry.groups(self.before, now):
            self._outside.record_loop_entry(self.names[path[0]], values)
        return {path: (value, parts(value)) for path, value in now.items()}

    def leave(self, results: Sequence[Any], at_entry: AtEntry) -> tuple[Any, ...]:
        """Return the results in the form in which the backend gets them."""
        extra = len(results) - len(self.gives)  # such as whether a loop continues
        own = results[extra:]
        if self._are_plain(own):
            self._runs.append(BranchResult({}, may_alias.groups()))
            self._entry.first = {}
            return tuple(results)
        found = dict(objects(own))
        self._refuse_circles(found, self._named)
        run = BranchResult(found, may_alias.groups())
        self._runs.append(run._replace(objects={**found, **self._lists.given(own)}))
        if not self.is_choice:
            if self._entry.learn(self.before, run, self.names, self._outside):
                raise self._outside.again()
            self._refuse_lost(run, at_entry)
            for path in self._lists.changed():
                self._outside.lost(self.names[path[0]], self._lists.before[path], set(), set(self.gives))
        here = {id(value) for value, _ in at_entry.values()} | self._own

        def is_older(part: Any) -> bool:
            return id(part) in here or self._outside.is_older(part)

        return (*results[:extra], *(drawn(result, is_older) for result in own))

    def _are_plain(self, values: Sequence[Any]) -> bool:
        """Return whether there are no mutable objects, neither before the block nor in these values."""
        return self._begins_plain and are_plain(values)

    def _refuse_lost(self, run: BranchResult, at_entry: AtEntry) -> None:
        """Raise an error if a loop mutates an object that its variable loses, and an alias can observe that.

        Two objects that are swapped are each at the path of the other in the next iteration.
        """
        moving = {path: value for path, value in self.before.items() if run.objects.get(path) is not value}
        given = {id(value) for value in run.objects.values()}
        lost = [path for path in changed(at_entry) if at_entry[path][0] is moving.get(path)]
        others = [path for path, value in moving.items() if id(value) in given and path not in lost]
        for path in [*lost, *others] if lost else ():
            own = {self.names[at[0]] for at, other in self.before.items() if other is moving[path]}
            self._outside.lost(self.names[path[0]], moving[path], own, set(self.gives))

    @staticmethod
    def _refuse_circles(found: Mapping[Path, Any], name_of: Callable[[Path], str]) -> None:
        """Raise an error if one of the objects contains itself: it cannot be taken apart."""
        path = circular(found)
        if path is not None:
            raise circles(name_of(path))

    def put_back(self, held: Held) -> None:
        """Write the previous parts back into the containers: the very same objects, at every level."""
        for container, saved in held.values():
            refill(container, saved)

    def settle(self, results: State) -> State:
        """Return the results after the block; paths that lead to one object in every trace share one object."""
        if self._are_plain(results):
            return tuple(results)
        runs = self._all_runs()
        new: dict[Any, Any] = {}
        found = self._found
        lists = self._lists.settled(results, runs)
        found.update(lists)

        def choose(path: Path, value: Any) -> tuple[Any, bool]:
            given = [run.objects.get(path) for run in runs]
            one = given[0] if given and all(other is given[0] for other in given) else None
            is_own = one is not None and self._was_at(path, one)
            if one is not None and (fits(one, value) if is_own else self._is_older(one)):
                found[path] = one
                return one, is_own
            self._compare(path, given)
            found[path] = new.setdefault(tuple(map(id, given)) or path, value)
            return found[path], found[path] is value

        return tuple(rebuilt(value, (number,), choose, lists) for number, value in enumerate(results))

    def _all_runs(self) -> list[BranchResult]:
        """Return the traces, and the state before a loop as the results of a loop with no iterations."""
        if self.is_choice:
            return self._runs
        return [BranchResult({**self.before, **self._lists.before}, may_alias.groups()), *self._runs]

    def _was_at(self, path: Path, value: Any) -> bool:
        """Return whether `value` was at `path` before the block: then the results are its contents."""
        name, rest = self.gives[path[0]], path[1:]
        return any(
            other == name and self.before.get((number, *rest)) is value
            for number, other in enumerate(self.names)
        )

    def _named(self, path: Path) -> str:
        """Return the variable of the results that holds the object at `path`."""
        return self.gives[path[0]] or self._outside.target(path)

    def _is_older(self, value: Any) -> bool:
        return isinstance(value, MutableValue) or id(value) in self._own or self._outside.is_older(value)

    def _compare(self, path: Path, given: Sequence[Any]) -> None:
        """Check that the objects between which the graph selects differ in nothing but their parts."""
        one, *others = [extras(value) for value in given if value is not None] or [{}]
        for other in others:
            for what in {**one, **other}:
                if not alike(one.get(what), other.get(what)):
                    raise self._outside.unlike(self._named(path), what)

    def report(self) -> None:
        """Report the paths that alias in some traces only; called when all locations are written."""
        for path, other in alias_conflicts(self._all_runs(), self._found) if self._found else ():
            name, result = self._named(path), self._found[path]
            if not isinstance(other, KnownObject):
                self._outside.parted((name, self._named(other)), (result, self._found[other]))
            elif self._is_older(other.value):
                self._outside.split(name, other.value, result, set(self.gives))


def changed(at_entry: AtEntry) -> list[Path]:
    """Return the paths of the objects that no longer hold their initial parts."""
    return [path for path, (value, saved) in at_entry.items() if not holds(value, saved)]
