"""Values of variables that an executor holds as arrays of its own, and the turns of runs that overwrite them.

v.__dict__                       the value of the variable
{"_array": x}                    an array of NumPy, which every executor reads and replaces
{"_held": y}                     an array of an executor; the first other reader makes `_array` of it
{"_held": Turn}                  a run computes the next value in the memory of the last one: others wait
{"_array": x, "_held": …}        `x`, which has been assigned since

As in `compare_and_swap`, one call of a C function that calls no Python is atomic, so no lock is needed. An assignment
during a run counts as one after the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter, is_, not_
from typing import Any, NamedTuple

import numpy as np

Array = Any
State = dict[str, Any]
"""The dictionary of a variable."""

_state_of = attrgetter("__dict__")

_WAIT = 0.05
"""Seconds after which a waiting thread looks again."""


class Snapshot(NamedTuple):
    """The values of variables at one time: `_array` and `_held` of each, or None."""

    states: Sequence[State]
    arrays: list[Array]
    held: list[Array]

    @property
    def values(self) -> list[Array]:
        """The value of each variable; None if a variable has no value of its own, but computes it."""
        return [held if array is None else array for array, held in zip(self.arrays, self.held, strict=True)]


def snapshot(variables: Sequence[Any]) -> Snapshot:
    """Return the values of variables, after the runs of other threads that overwrite them now."""
    states: list[State] = [*map(_state_of, variables)]
    while True:
        held: list[Any] = [*map(dict.get, states, repeat("_held"))]
        if Turn not in map(type, held):
            return Snapshot(states, [*map(dict.get, states, repeat("_array"))], held)
        for turn in held:
            if type(turn) is Turn and not turn.waited():
                raise RuntimeError("a run that has been interrupted changes these variables")


def hold(state: State, convert: Callable[[Array], Array]) -> None:
    """Convert the value of a variable to an array that an executor holds, unless another thread changes it."""
    array, held = state.get("_array"), state.get("_held")
    if array is None or type(held) is Turn:
        return
    as_before = map(is_, map(state.get, ("_array", "_held")), (array, held))
    set_ = map(not_, map(state.update, ({"_held": convert(array)},)))
    all(chain(as_before, set_, map(is_, map(state.pop, ("_array",)), (array,))))


class Turn:
    """The turn of one run with some variables: until it ends, no other run and no reader has their values.

    `values` are held values, which the run overwrites. What the run returns is added to `results`, and
    `after(results[0], values)` are the next values.
    """

    def __init__(
        self, states: Sequence[State], values: Sequence[Array], after: Callable[..., Sequence[Array]]
    ) -> None:
        self.results: list[Any] = []
        self._states = states
        self._values = values
        self._after = after
        self._is_over = self._is_released = False
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._lock.acquire()

    def begin(self) -> bool:
        """Take the values from the variables, if these still have them; return whether they had."""
        unassigned = map(is_, map(dict.get, self._states, repeat("_array")), repeat(None))
        set_ = map(not_, map(dict.update, self._states, repeat({"_held": self})))
        return all(chain(unassigned, self._have(self._values), set_))

    def _have(self, values: Iterable[Any]) -> Iterator[bool]:
        return map(is_, map(dict.get, self._states, repeat("_held")), values)

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._end()

    def _end(self) -> None:
        """Hand the next values to the variables: the old ones, if the run has returned nothing."""
        values = self._after(self.results[0], self._values) if self.results else self._values
        set_ = map(not_, map(dict.update, self._states, [{"_held": value} for value in values]))
        all(chain(self._have(repeat(self)), set_))  # once
        if not self._is_released:
            self._is_released = True
            self._lock.release()

    def waited(self) -> bool:
        """Wait until the turn is over, and return True. Return False in code that interrupts the run itself."""
        if self._thread != threading.get_ident():
            if self._lock.acquire(timeout=_WAIT):
                self._lock.release()
            return True
        if self._is_over or self.results:
            self._end()
            return True
        return False

    def copied(self, state: State) -> Array:
        """Return a copy of the old value of a variable, for code that interrupts the run."""
        (value,) = (value for own, value in zip(self._states, self._values, strict=True) if own is state)
        return np.array(value)


def value_of(variable: Any) -> Array | None:
    """Return the value of a variable as an array of NumPy, which becomes its `_array`; None if it has no value."""
    state = vars(variable)
    while True:
        array, held = state.get("_array"), state.get("_held")
        if array is not None or held is None:
            return array
        try:
            if type(held) is not Turn:
                if _is_shown(state, held, array := np.asarray(held)):
                    return array
            elif not held.waited():
                return held.copied(state)
        except RuntimeError as error:  # of an array without memory
            if state.get("_held") is held:
                raise RuntimeError(
                    f"the value of {variable.name} was lost when a run of XLA failed"
                ) from error


def _is_shown(state: State, held: Array, array: Array) -> bool:
    """Make `array` the value in the place of `held`, if this is the value still; return whether it was."""
    as_before = map(is_, map(state.get, ("_array", "_held")), (None, held))
    return all(chain(as_before, map(not_, map(state.update, ({"_array": array, "_held": None},)))))
