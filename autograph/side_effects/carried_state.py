"""Carried state: locations that a staged block assigns become state, so that the backend sees pure functions.

before the block     initial = (self.y,)
in each branch       self.y = the incoming value;  trace the branch;  return self.y;  self.y = initial
after the block      self.y = the backend's result
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..staging import Maybe, State, Undefined, backend_of
from .aliasing import alias_state
from .aliasing.alias_state import AliasState, Held
from .aliasing.loop_entry import LoopEntryAliases
from .aliasing.may_alias import AliasScope
from .leaked_tracers import is_lost
from .locations import Location
from .side_effect_tracker import SideEffectTracker
from .value_identity import NOTHING, has_same_items


class _Tracing(threading.local):
    """The number of loop functions of the thread that are being traced, one inside the other."""

    loops = 0


_tracing = _Tracing()


class CarriedState:
    """The locations of one staged block, turned into the tail of its state."""

    def __init__(
        self,
        makers: Sequence[Callable[[], Location]],
        tracker: SideEffectTracker,
        own: State,
        own_names: Sequence[str],
        gives: Sequence[str] | None,
    ) -> None:
        self.locations: list[Location] = []
        self.tracker = tracker
        self.own, self.own_names = own, own_names  # the block's variables before it
        self.gives = own_names if gives is None else gives  # the names of its results
        self.is_choice = gives is not None
        self.test_assigns = False  # if true, the test of the loop must be part of its body
        self.entry = LoopEntryAliases()
        self.extend([target for target in (make() for make in makers) if not target.calls_setter()])

    def extend(self, locations: Sequence[Location]) -> None:
        """Carry further locations, for a new attempt. Two names of one location are merged."""
        known = {each.identity: each for each in (*locations[::-1], *self.locations[::-1])}
        self.locations = list(known.values())[::-1]
        self.names = tuple(each.name for each in self.locations)
        # A leaked tracer counts as no value, and is restored where the location gets none.
        self.lost = tuple(
            value if is_lost(value) else NOTHING for value in (p.read() for p in self.locations)
        )
        self.initial = self.read()
        self.touched: set[Location] = set()  # the locations that some function of the block has changed
        names, gives = (*self.own_names, *self.names), (*self.gives, *self.names)
        bases = [each.base for each in self.locations]
        self.aliases = AliasState(
            self.own + self.initial,
            bases,
            names,
            gives,
            self.is_choice,
            self.entry,
            self.tracker.external_aliases,
        )

    def everything(self) -> tuple[tuple[str, ...], State]:
        """Return the names and the initial values of the block's variables and locations."""
        return (*self.own_names, *self.names), self.own + self.initial

    def is_used_later(self, name: str) -> bool:
        """Return whether code after a loop may use one of its variables or locations."""
        return name not in self.own_names or self.tracker.uses_name_later(name)

    def read(self) -> State:
        if not self.locations:  # most blocks carry no locations
            return ()
        values = zip(self.locations, (target.read() for target in self.locations), self.lost, strict=True)
        return tuple(Undefined(target.name) if value is lost else value for target, value, lost in values)

    def write(self, values: State) -> None:
        for target, value, lost in zip(self.locations, values, self.lost, strict=True):
            target.write(lost if isinstance(value, Undefined) and lost is not NOTHING else value)

    def _unsettled(self, values: State) -> Iterator[tuple[Location, bool]]:
        """Yield the locations that may have no value, and whether they had a value before the block."""
        for target, value, first, lost in zip(self.locations, values, self.initial, self.lost, strict=True):
            if isinstance(value, Maybe) and lost is NOTHING:
                yield target, not isinstance(first, Undefined)

    def enter(self, values: State) -> None:
        """Set the locations to the incoming values when a function of the block begins."""
        for target, was_there in self._unsettled(values):
            self.tracker.maybe(target, was_there)
        self.write(values)

    def start(self, own: State) -> State:
        """Return the initial state of a loop: its own variables and the locations.

        `own` may begin with values that precede the block's variables.
        """
        return own + self.initial

    def block(self, function: Callable[..., State | None], key: Any = None) -> Callable[..., State]:
        """Return a branch or a loop body that has the locations as further parameters and results.

        `key` identifies the function if it is created anew for each attempt.
        """

        def carrying(*state: Any) -> State:
            with _Run(self, state, key or function) as run:
                results = function(*run.own) or ()  # None from a block that only assigns locations
                if self.locations:
                    results = (*results, *run.values_now())
                    self.touched.update(run.assigned())
                self.tracker.ends(self.locations)
                return self.aliases.leave(results, run.at_entry)

        carrying.__wrapped__ = function  # type: ignore[attr-defined]  # errors show the lines of the block itself
        return carrying

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the test of a loop with the locations as parameters.

        If the test assigns some of them, the block is traced again.
        """

        def carrying(*state: Any) -> Any:
            with _Run(self, state, function) as run:
                going = function(*run.own)
                assigns = bool(run.assigned() or alias_state.changed(run.at_entry))
            if assigns:
                self.test_assigns = True
                raise self.tracker.again()
            return going

        carrying.__wrapped__ = function  # type: ignore[attr-defined]
        return carrying

    def leave(self, results: State) -> State:
        """Set the locations to the backend's results; return the other results."""
        cut = len(results) - len(self.locations)
        results = self.aliases.settle(results)
        used = [
            id(target)
            for target, was_there in self._unsettled(results[cut:])
            if self.tracker.left(target, was_there, is_inner=_tracing.loops > 0)
        ]
        values = zip(self.locations, results[cut:], strict=True)
        self.write(
            tuple(assigned(target, value) if id(target) in used else value for target, value in values)
        )
        self.aliases.report()
        return results[:cut]


def assigned(target: Location, value: Maybe) -> Any:
    """Return the value that a loop assigns to a location; the graph raises an error if the loop has not done so."""
    kind = AttributeError if target.kind == "." else KeyError
    text = (
        f"{target.name} is used after a loop that assigns it first and has not run: assign it before the loop"
    )
    backend_of(value.defined).check(value.defined, lambda: kind(text))
    return value.value


class _Run:
    """One traced call of a block's function.

    Locations and containers get the incoming values for the call, and are restored afterwards.
    """

    def __init__(self, carried: CarriedState, state: State, key: Any) -> None:
        self.carried, self.key = carried, key
        cut = len(state) - len(carried.own) - len(carried.locations)
        # The block's state comes last, after values such as the element of a `for`.
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
            self.at_entry = self.carried.aliases.at_entry(values)
            _tracing.loops += not self.carried.is_choice
        except BaseException:
            self._put_back()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        _tracing.loops -= not self.carried.is_choice
        try:
            if kind is None:
                self.scope.check()
        finally:
            self._put_back()
        if kind is None:
            self.carried.tracker.compare(self.key)
        else:
            self.carried.tracker.undo()

    def _put_back(self) -> None:
        self.scope.close()
        self.carried.write(self.outer)
        self.carried.aliases.put_back(self.held)

    def values_now(self) -> State:
        """Return the current values of the locations.

        A location that came in as `Maybe`, and had no value before and after the call, keeps its `Maybe`.
        """
        locations = zip(self.incoming, self.were, self.carried.read(), strict=True)
        return tuple(
            at_entry if isinstance(at_entry, Maybe) and type(old) is type(new) is Undefined else new
            for at_entry, old, new in locations
        )

    def assigned(self) -> list[Location]:
        """Return the locations whose values have changed since the call began."""
        return [
            target
            for target, old, new in zip(self.carried.locations, self.were, self.carried.read(), strict=True)
            if not type(old) is type(new) is Undefined
            and not (has_same_items(old, new) if target.reads_copy else old is new)
        ]
