"""Locations: attributes, items and shared variables that a block assigns, other than its parameters.

    if x > 0:                     def if_true():
        self.y = x                    self.y = x
                          ==>     ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: self, 'y'),))

In plain Python the locations are not used: the block just assigns. When a backend stages the block, they
become carried state: see `carried_state.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..staging import Undefined
from .custom_setters import sets_attribute, sets_items


class Location:
    """A location that can be read and assigned.

    A location without a value reads as `Undefined`. Assigning `Undefined` deletes the value.
    """

    name: str
    reads_copy = False
    """Whether each read returns a new object, so that only the items of two reads can be compared."""

    def read(self) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> None:
        raise NotImplementedError


class Cell(Location):
    """A variable that is shared with a closure, an exception handler or the module."""

    def __init__(self, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        self.get, self.put = get, put
        self.name = text_of(get)

    def read(self) -> Any:
        try:
            return self.get()
        except NameError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        self.put(value)


class Attribute(Location):
    """The location `base.key`; the base is evaluated once, when the block starts."""

    def __init__(self, base: Callable[[], Any], key: str) -> None:
        self.base, self.key = base(), key
        self.name = f"{text_of(base)}.{key}"

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


class Item(Location):
    """The location `base[key]`; base and key are evaluated once, when the block starts."""

    def __init__(self, base: Callable[[], Any], key: Callable[[], Any]) -> None:
        self.base, self.key = base(), key()
        self.label = text_of(base).rpartition(".")[2]
        self.name = f"{text_of(base)}[{self.key!r}]"

    def read(self) -> Any:
        if isinstance(self.base, dict) and self.key not in self.base:
            return Undefined(self.name)  # `base[key]` would insert a default
        try:
            return self.base[self.key]
        except LookupError:
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not isinstance(value, Undefined):
            self.base[self.key] = value
        elif not isinstance(self.read(), Undefined):
            del self.base[self.key]


def calls_setter(target: Location) -> bool:
    """Return whether an assignment to `target` calls a setter, so that there is no location to carry."""
    if isinstance(target, Attribute):
        return sets_attribute(target.base, target.key)
    return sets_items(getattr(target, "base", None))


def location(target: Location) -> Any:
    """Return a key that is equal for two names of the same location."""
    if isinstance(target, (Attribute, Item)) and target.key.__hash__ is not None:
        return type(target), id(target.base), target.key
    return id(target)


def text_of(read: Callable[[], Any]) -> str:
    """Return the user's source text of the expression that a generated `lambda: self.model` reads.

    >>> model = None
    >>> text_of(lambda: model.layer.weight)
    'model.layer.weight'
    """
    code = getattr(read, "__code__", None)
    return ".".join((*code.co_freevars, *code.co_names)) if code is not None else "value"
