"""What a block assigns that is not one of its parameters: attributes, items, and variables that stay cells.

    if x > 0:                     def if_true():
        self.y = x                    self.y = x
                          ==>     ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: self, 'y'),))

In plain Python nobody looks at a place: the block just assigns. What becomes of them when a backend stages the block
is told in `carried_state.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..staging import Undefined, is_chosen
from .aliasing.select_proxy import choice_of
from .custom_setters import sets_attribute, sets_items


class Location(Protocol):
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

    def at(self, base: Any) -> Attribute:
        """The same place in another object."""
        place = Attribute(lambda: base, self.key)
        place.name = self.name
        return place

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
        self.label = _text_of(base).rpartition(".")[2]
        self.name = f"{_text_of(base)}[{self.key!r}]"

    def at(self, base: Any) -> Item:
        """The same place in another object."""
        place = Item(lambda: base, lambda: self.key)
        place.label, place.name = self.label, self.name
        return place

    def read(self) -> Any:
        if isinstance(self.base, dict) and self.key not in self.base:
            return Undefined(self.name)  # asking would put a default there
        try:
            return self.base[self.key]
        except LookupError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not isinstance(value, Undefined):
            self.base[self.key] = value
        elif not isinstance(self.read(), Undefined):
            del self.base[self.key]


def spread(place: Location) -> list[Location]:
    """A place in an object that is one of several: it is in each of them. Otherwise the place itself.

    What the object sets by a function of its own is none.
    """
    base = getattr(place, "base", None)
    if is_chosen(type(base)):
        each: list[Location] = [place.at(one) for one in choice_of(base).objects]  # type: ignore[attr-defined]
    else:
        each = [place]
    return [one for one in each if not _is_call(one)]


def _is_call(place: Location) -> bool:
    if isinstance(place, Attribute):
        return sets_attribute(place.base, place.key)
    return sets_items(getattr(place, "base", None))


def location(place: Location) -> Any:
    """What two places have in common when they are the same."""
    if isinstance(place, (Attribute, Item)) and place.key.__hash__ is not None:
        return type(place), id(place.base), place.key
    return id(place)


def _text_of(read: Callable[[], Any]) -> str:
    """How the user wrote what a generated `lambda: self.model` reads.

    >>> model = None
    >>> _text_of(lambda: model.layer.weight)
    'model.layer.weight'
    """
    code = getattr(read, "__code__", None)
    return ".".join((*code.co_freevars, *code.co_names)) if code is not None else "value"
