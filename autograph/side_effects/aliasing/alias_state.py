"""A list, a dict or an object with fields in a block's state stays one object, whoever else knows it.

    d = self.totals            the backend carries the items of `d`, and packs them into a new dict for each trace:
    while i < n:               these are poured into the one dict that there is, so that `self.totals` is `d`
        d = add(d, i)   ==>    in the block as well; and after it, so are the backend's results

An object has no identity for a backend: where it is given one twice, it gives two. So of each *run* of the block's
functions the objects in its results are noted, and after the block they are compared:

    one object in every run             stays one object: that of before the block, or a new one
    another one in every run            are two
    one in some runs, two in others     are in doubt: see `may_alias.py`
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Protocol

from ...errors import StagingError
from ...staging import MutableValue, State
from ..diagnostics import rebound
from ..mutable_values import extras, parts, refill
from ..value_identity import alike
from . import may_alias, object_selection
from .alias_classes import BranchResult, Known, alias_conflicts
from .backend_lists import BackendLists
from .loop_entry import LoopEntryAliases, Reaches
from .object_index import ObjectIndex
from .object_paths import Path, are_plain, drawn, fits, holds, objects, rebuilt
from .object_selection import ObjectSelection

Held = dict[int, tuple[Any, dict[Any, Any]]]
"""Containers that are filled with something else for a trace, and what they held, by their numbers."""
Came = dict[Path, tuple[Any, dict[Any, Any]]]
"""The objects with which a trace begins, and what they hold then."""


class AliasObserver(Reaches, object_selection.Watch, Protocol):
    """Who knows the code around a block, and what that goes on to do."""

    def target(self, path: Path) -> str:
        """The variable that gets the result of a choice that is an expression, or of an item of it."""
        ...

    def lost(self, name: str, container: Any, own: Set[str], results: Set[str]) -> None:
        """A loop changes a list or dict, and gives its variable another value: nobody else may know it.

        It is in the variables `own` before the loop; the loop assigns the variables `results`.
        """
        ...

    def split(self, name: str, container: Any, result: Any, results: Set[str]) -> None:
        """A variable has a container of before the block, or another one, `result`: the graph decides.

        The block assigns the variables `results`.
        """
        ...

    def parted(self, names: Sequence[str], results: Sequence[Any]) -> None:
        """Two variables have one object, or two: the graph decides."""
        ...

    def begins(self, name: str, values: Sequence[Any]) -> None:
        """These objects, of which a variable has one, are perhaps one when a round of a loop begins."""
        ...

    def is_noticed(self, names: Sequence[str], container: Any, results: Set[str]) -> bool:
        """Whether code goes on to change an object that is perhaps two, while others use it.

        One variable has the container or another object, or two variables have one object or two.
        """
        ...

    def chooses(self, name: str, objects: Sequence[Any]) -> None:
        """A variable has one of several objects, as the graph decides: nobody may ask which."""
        ...

    def unlike(self, name: str, what: str) -> Exception:
        """What to raise when the runs give objects that differ in something which is none of their parts."""
        ...


class AliasState:
    """The objects in a block's state and in its results, which `names` and `gives` name; others are `known`, too.

    In a choice one of the runs takes place; in a loop perhaps none does. `entry` is what is known of a loop already.
    """

    def __init__(
        self,
        initial: State,
        known: Sequence[Any],
        names: tuple[str, ...],
        gives: tuple[str, ...],
        is_choice: bool,
        entry: LoopEntryAliases,
        numbers: ObjectIndex,
        watch: AliasObserver,
    ) -> None:
        self.names, self.gives, self.is_choice = names, gives, is_choice
        self._entry, self._numbers, self._watch = entry, numbers, watch
        self._choosing = ObjectSelection(initial, known, numbers, is_choice, watch)
        self.before, self._own = self._choosing.before, self._choosing.own
        self.begun = self._choosing.begun
        self._lists = BackendLists(initial, is_choice)
        self._begins_plain = are_plain(initial)
        self._runs: list[BranchResult] = []
        self._found: dict[Path, Any] = {}  # the objects in the results after the block

    def enter(self, state: State) -> tuple[State, Held]:
        """The state with the containers themselves in it, filled with what came in; and what they held."""
        held: Held = {}
        if self._are_plain(state):
            return state, held
        new: dict[Path, Any] = {}
        self._lists.enter(state)
        instead = {} if self.is_choice else self._numbers.shown(state, lambda path: self.names[path[0]])

        def choose(path: Path, value: Any) -> tuple[Any, bool]:
            container = None if path in self._entry.apart else self.before.get(path)
            if container is value:
                return value, False
            if container is not None and fits(container, value):
                held.setdefault(id(container), (container, parts(container)))
                return container, True
            target = new.setdefault(self._entry.first.get(path, path), value)
            return target, target is value

        return tuple(rebuilt(value, (number,), choose, instead) for number, value in enumerate(state)), held

    def came(self, state: State) -> Came:
        """The objects with which a run begins; what may be one of them and of others is noted."""
        if self._are_plain(state):
            return {}
        now = self._choosing.by_items(dict(objects(state)))
        for path, *values in self._entry.doubts(self.before, now):
            self._watch.begins(self.names[path[0]], values)
        return {path: (value, parts(value)) for path, value in now.items()}

    def leave(self, results: Sequence[Any], came: Came) -> tuple[Any, ...]:
        """The results as the backend may have them."""
        extra = len(results) - len(self.gives)  # such as whether a loop goes on
        own = results[extra:]
        if self._are_plain(own):
            self._runs.append(BranchResult({}, may_alias.groups()))
            self._choosing.see_nothing()
            self._entry.forget()
            return tuple(results)
        found = self._choosing.by_items(dict(objects(own)))
        self._choosing.see(own, found, self._named)
        hidden = self._choosing.hidden(own)
        run = BranchResult(found, may_alias.groups())
        self._runs.append(run._replace(objects={**found, **self._lists.given(own)}))
        if not self.is_choice:
            if not self._entry.apart:  # otherwise rounds begin with objects of their own
                self._entry.moving = self._moving(run)
            if self._entry.learn(self.before, run, self.names, self._watch):
                raise self._watch.again()
            self._look_for_lost(run, came)
            for path in self._lists.changed():
                self._watch.lost(self.names[path[0]], self._lists.before[path], set(), set(self.gives))
        here = {id(value) for value, _ in came.values()} | self._own

        def knows(part: Any) -> bool:
            return id(part) in here or self._watch.knows(part)

        return (
            *results[:extra],
            *(drawn(result, knows, (at,), hidden) for at, result in enumerate(own)),
        )

    def _are_plain(self, values: Sequence[Any]) -> bool:
        """Whether there are no objects, neither before the block nor in what a run of it gets or gives."""
        return self._begins_plain and not self._numbers.objects and are_plain(values)

    def _moving(self, run: BranchResult) -> dict[Path, list[Any]]:
        """Where a round of a loop ends with another object than the one with which it began."""
        given = {path: [self.before.get(path), value] for path, value in run.objects.items()}
        return {path: [old, new] for path, (old, new) in given.items() if old is not None and old is not new}

    def number_moving(self) -> bool:
        """Carry by numbers what a loop puts in place of another object; whether that can be for any."""
        return self._choosing.number(self._entry.moving)

    def decide(self) -> None:
        """After all runs: an object that is changed later, and perhaps one of others, is carried by its number."""
        paths = list(dict.fromkeys(path for run in self._runs for path in run.objects))
        ways: set[Path] = set()
        for path, other in alias_conflicts(self._all_runs(), paths) if paths else ():
            name = self._named(path)
            if not isinstance(other, Known):
                is_noticed = self._watch.is_noticed((name, self._named(other)), None, set(self.gives))
                ways |= {path, other} if is_noticed else set()
            elif self._knows(other.value):
                is_noticed = self._watch.is_noticed((name,), other.value, set(self.gives))
                ways |= {path} if is_noticed else set()
        if ways and self._choosing.number(
            {path: [run.objects.get(path) for run in self._all_runs()] for path in ways}
        ):
            raise self._watch.again()

    def _look_for_lost(self, run: BranchResult, came: Came) -> None:
        """Where a loop changes an object that its variable loses: who knows that of the first round must not notice.

        Objects that change places are each in the place of the other in a later round.
        """
        moving = {path: value for path, value in self.before.items() if run.objects.get(path) is not value}
        given = {id(value) for value in run.objects.values()}
        lost = [path for path in changed(came) if came[path][0] is moving.get(path)]
        others = [path for path, value in moving.items() if id(value) in given and path not in lost]
        for path in [*lost, *others] if lost else ():
            own = {self.names[at[0]] for at, other in self.before.items() if other is moving[path]}
            try:
                self._watch.lost(self.names[path[0]], moving[path], own, set(self.gives))
            except StagingError:
                if self.number_moving():
                    raise self._watch.again() from None
                raise

    def put_back(self, held: Held) -> None:
        """Fill the containers with what they held before: the very same objects, all the way down."""
        for container, kept in held.values():
            refill(container, kept)

    def settle(self, results: State) -> State:
        """The results after the block, in which is one object what is one in every run."""
        if self._are_plain(results):
            return tuple(results)
        runs = self._all_runs()
        new: dict[Any, Any] = {}
        found = self._found
        instead = self._numbers.shown(results, self._named)
        replaced = self._replaced()
        for path, among in self._numbers.objects.items():
            self._watch.chooses(self._named(path), among)
            if any(one is other for one in among for other in replaced):
                raise rebound(self._named(path))
        held = self._lists.settled(results, runs)
        found.update(held)
        instead.update(held)

        def choose(path: Path, value: Any) -> tuple[Any, bool]:
            given = [run.objects.get(path) for run in runs]
            one = given[0] if given and all(other is given[0] for other in given) else None
            is_own = one is not None and self._was_at(path, one)
            if one is not None and (fits(one, value) if is_own else self._knows(one)):
                found[path] = one
                return one, is_own
            self._compare(path, given)
            found[path] = new.setdefault(tuple(map(id, given)) or path, value)
            return found[path], found[path] is value

        return tuple(rebuilt(value, (number,), choose, instead) for number, value in enumerate(results))

    def _replaced(self) -> list[Any]:
        """Objects without numbers in whose place a round of a loop leaves another: the next begins with that.

        So no number would be true of them in all rounds.
        """
        if self.is_choice:
            return []
        before = [(path, value) for path, value in self.before.items() if not self._numbers.covers(path)]
        return [
            value for path, value in before if any(run.objects.get(path) is not value for run in self._runs)
        ]

    def _all_runs(self) -> list[BranchResult]:
        """The runs, and what the results are when a loop does not run."""
        if self.is_choice:
            return self._runs
        return [BranchResult({**self.before, **self._lists.before}, may_alias.groups()), *self._runs]

    def _was_at(self, path: Path, value: Any) -> bool:
        """Whether an object was there before the block already: then the results are what it holds."""
        name, rest = self.gives[path[0]], path[1:]
        return any(
            other == name and self.before.get((number, *rest)) is value
            for number, other in enumerate(self.names)
        )

    def _named(self, path: Path) -> str:
        """The variable of the results in which an object is."""
        return self.gives[path[0]] or self._watch.target(path)

    def _knows(self, value: Any) -> bool:
        return isinstance(value, MutableValue) or id(value) in self._own or self._watch.knows(value)

    def _compare(self, path: Path, given: Sequence[Any]) -> None:
        """Objects between which the graph chooses differ in their parts, and in nothing else."""
        one, *others = [extras(value) for value in given if value is not None] or [{}]
        for other in others:
            for what in {**one, **other}:
                if not alike(one.get(what), other.get(what)):
                    raise self._watch.unlike(self._named(path), what)

    def tell(self) -> None:
        """When everything is in its place: tell of what is one object in some runs, and two in others."""
        for path, other in alias_conflicts(self._all_runs(), self._found) if self._found else ():
            name, result = self._named(path), self._found[path]
            if not isinstance(other, Known):
                self._watch.parted((name, self._named(other)), (result, self._found[other]))
            elif (way := self._numbers.way_to(other.value)) is not None:
                self._watch.parted((name, self._named(way)), (result, other.value))
            elif self._knows(other.value):
                self._watch.split(name, other.value, result, set(self.gives))


def changed(came: Came) -> list[Path]:
    """Where the objects are that do not hold any more what came in."""
    return [path for path, (value, kept) in came.items() if not holds(value, kept)]
