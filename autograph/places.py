"""What a block assigns that is not one of its parameters: attributes, items, and variables that stay cells.

    if x > 0:                     def if_true():
        self.y = x                    self.y = x
                          ==>     ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: self, 'y'),))

In plain Python nobody looks at a place: the block just assigns. When a backend stages the block, the places
become state like any other, so the backend sees only pure functions:

    before the block     initial = (self.y,)
    in each branch       self.y = the value that came in;  run the branch;  out goes self.y;  self.y = initial
    after the block      self.y = the value that the backend gave
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .staging import State, Undefined


class Place(Protocol):
    """Something that can be read and assigned.

    A place without a value reads as `Undefined`; to assign `Undefined` takes its value away.
    """

    name: str

    def read(self) -> Any: ...

    def write(self, value: Any) -> None: ...


class Cell:
    """A variable that is shared with a closure, an exception handler or the module."""

    def __init__(self, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        self.get, self.put = get, put
        self.name = _text_of(get)

    def read(self) -> Any:
        try:
            return self.get()
        except NameError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        self.put(value)


class Attribute:
    """`base.key`, with the base looked up once, when the block starts."""

    def __init__(self, base: Callable[[], Any], key: str) -> None:
        self.base, self.key = base(), key
        self.name = f"{_text_of(base)}.{key}"

    def read(self) -> Any:
        try:
            return getattr(self.base, self.key)
        except AttributeError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not isinstance(value, Undefined):
            setattr(self.base, self.key, value)
        elif not isinstance(self.read(), Undefined):
            delattr(self.base, self.key)


class Item:
    """`base[key]`, with base and key looked up once, when the block starts."""

    def __init__(self, base: Callable[[], Any], key: Callable[[], Any]) -> None:
        self.base, self.key = base(), key()
        self.name = f"{_text_of(base)}[{self.key!r}]"

    def read(self) -> Any:
        try:
            return self.base[self.key]
        except LookupError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not isinstance(value, Undefined):
            self.base[self.key] = value
        elif not isinstance(self.read(), Undefined):
            del self.base[self.key]


class Carried:
    """The places of one staged block, turned into the tail of its state."""

    def __init__(self, makers: Sequence[Callable[[], Place]]) -> None:
        self.places = [make() for make in makers]
        self.names = tuple(place.name for place in self.places)
        self.initial = self.read()

    def read(self) -> State:
        return tuple(place.read() for place in self.places)

    def write(self, values: State) -> None:
        for place, value in zip(self.places, values, strict=True):
            place.write(value)

    def block(self, function: Callable[..., State | None]) -> Callable[..., State]:
        """A branch or a loop body with the places as further parameters and further results."""

        def carrying(*state: Any) -> State:
            own, outer = self._enter(state)
            try:
                # A block that only assigns places needs no return statement.
                return (*(function(*own) or ()), *self.read())
            finally:
                self.write(outer)

        return carrying

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The test of a loop, which reads the places and assigns none."""

        def carrying(*state: Any) -> Any:
            own, outer = self._enter(state)
            try:
                return function(*own)
            finally:
                self.write(outer)

        return carrying

    def _enter(self, state: State) -> tuple[State, State]:
        """Set the places to what came in; return the rest of the state, and what the places held."""
        cut = len(state) - len(self.places)
        outer = self.read()
        self.write(state[cut:])
        return state[:cut], outer

    def leave(self, results: State) -> State:
        """Set the places to what the backend gave; return the other results."""
        cut = len(results) - len(self.places)
        self.write(results[cut:])
        return results[:cut]


def _text_of(read: Callable[[], Any]) -> str:
    """How the user wrote what a generated `lambda: self.model` reads.

    >>> model = None
    >>> _text_of(lambda: model.layer.weight)
    'model.layer.weight'
    """
    code = getattr(read, "__code__", None)
    return ".".join((*code.co_freevars, *code.co_names)) if code is not None else "value"
