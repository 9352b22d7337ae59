"""The places that a staged block assigns become state like any other, so that the backend sees only pure functions.

before the block     initial = (self.y,)
in each branch       self.y = the value that came in;  run the branch;  out goes self.y;  self.y = initial
after the block      self.y = the value that the backend gave
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ..errors import StagingError
from ..staging import Maybe, State, Undefined
from .aliasing import alias_state
from .aliasing.alias_state import AliasState, Held
from .aliasing.loop_entry import LoopEntryAliases
from .aliasing.may_alias import AliasScope
from .aliasing.object_index import ObjectIndex
from .leaked_tracers import is_lost
from .locations import Location, location, spread
from .value_identity import NOTHING


class Watch(Protocol):
    """Who looks at what a block's functions have changed besides the places."""

    @property
    def onlookers(self) -> alias_state.AliasObserver: ...

    def again(self) -> BaseException:
        """What to raise for the block to be traced once more."""
        ...

    def look(self, key: Any) -> None:
        """The block's function `key` has run, and the places hold what they held before."""
        ...

    def ends(self, places: Sequence[Location]) -> None:
        """A function of the block is about to end, and its changes are still there."""
        ...

    def undo(self) -> None:
        """A function of the block has failed."""
        ...

    def maybe(self, place: Location, was_there: bool) -> None:
        """A place is without a value while a block is traced, although it may have one when the graph runs.

        `was_there` says whether it had one before the block.
        """
        ...

    def left(self, place: Location, was_there: bool) -> None:
        """The same, from the end of the block on."""
        ...


class CarriedState:
    """The places of one staged block, turned into the tail of its state."""

    def __init__(
        self,
        makers: Sequence[Callable[[], Location]],
        watch: Watch,
        own: State = (),
        own_names: Sequence[str] = (),
        gives: Sequence[str] | None = None,
    ) -> None:
        self.places: list[Location] = []
        self.watch = watch
        self.own, self.own_names = own, own_names  # the block's variables before it
        self.gives = own_names if gives is None else gives  # the names of its results
        self.is_choice = gives is not None
        self.test_assigns = False  # then the test of the loop must be part of its body
        self.entry, self.numbers = LoopEntryAliases(), ObjectIndex()
        self.extend([place for make in makers for place in spread(make())])

    def extend(self, places: Sequence[Location]) -> None:
        """Carry further places; a new attempt begins. What has two names is one place."""
        known = {location(place): place for place in (*places[::-1], *self.places[::-1])}
        self.places = list(known.values())[::-1]
        self.names = tuple(place.name for place in self.places)
        # What they hold that nobody can use any more counts as no value, and is put back where they get none.
        self.lost = tuple(value if is_lost(value) else NOTHING for value in (p.read() for p in self.places))
        self.initial = self.read()
        self.touched: set[Location] = set()  # what some function of the block has changed
        names, gives = (*self.own_names, *self.names), (*self.gives, *self.names)
        bases = [getattr(place, "base", None) for place in self.places]
        self.aliases = AliasState(
            self.own + self.initial,
            bases,
            names,
            gives,
            self.is_choice,
            self.entry,
            self.numbers,
            self.watch.onlookers,
        )

    def read(self) -> State:
        if not self.places:  # as most blocks have none
            return ()
        values = zip(self.places, (place.read() for place in self.places), self.lost, strict=True)
        return tuple(Undefined(place.name) if value is lost else value for place, value, lost in values)

    def write(self, values: State) -> None:
        for place, value, lost in zip(self.places, values, self.lost, strict=True):
            place.write(lost if isinstance(value, Undefined) and lost is not NOTHING else value)

    def _unsettled(self, values: State) -> Iterator[tuple[Location, bool]]:
        """The places that may be without a value, and whether they had one before the block."""
        for place, value, first, lost in zip(self.places, values, self.initial, self.lost, strict=True):
            if isinstance(value, Maybe) and lost is NOTHING:
                yield place, not isinstance(first, Undefined)

    def enter(self, values: State) -> None:
        """Set the places to what comes in when a function of the block begins."""
        for place, was_there in self._unsettled(values):
            self.watch.maybe(place, was_there)
        self.write(values)

    def start(self, own: State) -> State:
        """The state with which a loop begins: of its own variables, perhaps with others before them, and the places."""
        cut = len(own) - len(self.own)
        return own[:cut] + self.aliases.begun(own[cut:] + self.initial)

    def block(self, function: Callable[..., State | None], key: Any = None) -> Callable[..., State]:
        """A branch or a loop body with the places as further parameters and further results.

        `key` stands for it if the function itself is made for each attempt.
        """

        def carrying(*state: Any) -> State:
            with _Run(self, state, key or function) as run:
                results = function(*run.own) or ()  # none of a block that only assigns places
                if self.places:
                    results = (*results, *run.places_now())
                    self.touched.update(run.assigned())
                self.watch.ends(self.places)
                return self.aliases.leave(results, run.came)

        carrying.__wrapped__ = function  # type: ignore[attr-defined]  # errors show the lines of the block itself
        return carrying

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The test of a loop, which reads the places. If it assigns some, the block starts again."""

        def carrying(*state: Any) -> Any:
            with _Run(self, state, function) as run:
                going = function(*run.own)
                assigns = bool(run.assigned() or alias_state.changed(run.came))
            if assigns:
                self.test_assigns = True
                raise self.watch.again()
            return going

        carrying.__wrapped__ = function  # type: ignore[attr-defined]
        return carrying

    def leave(self, results: State) -> State:
        """Set the places to what the backend gave; return the other results."""
        cut = len(results) - len(self.places)
        results = self.aliases.settle(results)
        for place, was_there in self._unsettled(results[cut:]):
            self.watch.left(place, was_there)
        self.write(results[cut:])
        self.aliases.tell()
        return results[:cut]


class _Run:
    """One call of a block's function: places and containers are set to what came in, and put back at the end."""

    def __init__(self, carried: CarriedState, state: State, key: Any) -> None:
        self.carried, self.key = carried, key
        cut = len(state) - len(carried.own) - len(carried.places)
        # What comes before is such as the item of a `for`, then the block's state.
        self.before, self.state = state[:cut], state[cut:]
        self.outer = carried.read()
        self.held: Held = {}
        self.scope = AliasScope()

    def __enter__(self) -> _Run:
        try:
            values, self.held = self.carried.aliases.enter(self.state)
            count = len(self.carried.own)
            self.own = (*self.before, *values[:count])
            self.incoming = values[count:]
            if self.incoming:
                self.carried.enter(self.incoming)
            self.were = self.carried.read()
            self.scope.open()
            self.came = self.carried.aliases.came(values)
        except BaseException:
            self._put_back()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is None:
                self._check()
        finally:
            self._put_back()
        if kind is None:
            self.carried.watch.look(self.key)
        else:
            self.carried.watch.undo()

    def _check(self) -> None:
        """An error where an object has changed that is perhaps another; in a loop, numbers may tell which it is."""
        try:
            self.scope.check()
        except StagingError:
            if self.carried.is_choice or not self.carried.aliases.number_moving():
                raise
            raise self.carried.watch.again() from None

    def _put_back(self) -> None:
        self.scope.close()
        self.carried.write(self.outer)
        self.carried.aliases.put_back(self.held)

    def places_now(self) -> State:
        """What the places hold. A variable holds what may have a value; elsewhere nothing is there instead."""
        places = zip(self.incoming, self.were, self.carried.read(), strict=True)
        return tuple(
            came if isinstance(came, Maybe) and type(old) is type(new) is Undefined else new
            for came, old, new in places
        )

    def assigned(self) -> list[Location]:
        """The places that do not hold any more what came in."""
        return [
            place
            for place, old, new in zip(self.carried.places, self.were, self.carried.read(), strict=True)
            if old is not new and not type(old) is type(new) is Undefined
        ]
