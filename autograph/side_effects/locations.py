"""Locations: attributes, items and shared variables that a block assigns, other than its parameters.

    if x > 0:                     def if_true():
        self.y = x                    self.y = x
                          ==>     ag__.cond(x > 0, if_true, ag__.keep, places=(ag__.attr(lambda: self, 'y'),))

In plain Python the locations are not used: the block just assigns. When a backend stages the block, they
become carried state: see `carried_state.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..staging import Undefined
from .custom_setters import sets_attribute, sets_items


class Location:
    """A location that can be read and assigned.

    A location without a value reads as `Undefined`. Assigning `Undefined` deletes the value.
    """

    name: str
    kind = ""
    """"." for an attribute, "[" for an item."""
    label = ""
    """The name of the attribute, or of the container of the item."""
    base: Any = None
    """The object before the dot or bracket in the block's code."""
    container: Any = None
    """The object that has the item."""
    reads_copy = False
    """Whether each read returns a new object, so that only the items of two reads can be compared."""

    def read(self) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> None:
        raise NotImplementedError

    @property
    def identity(self) -> Hashable:
        """A key that is equal for two names of the same location."""
        return id(self)

    def calls_setter(self) -> bool:
        """Return whether an assignment calls a setter, so that there is no location to carry."""
        return False


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

    kind = "."

    def __init__(self, base: Callable[[], Any], key: str) -> None:
        self.base = base()
        self.key = self.label = key
        self.name = f"{text_of(base)}.{key}"

    @property
    def identity(self) -> Hashable:
        return Attribute, id(self.base), self.key

    def calls_setter(self) -> bool:
        return sets_attribute(self.base, self.key)

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

    kind = "["

    def __init__(self, base: Callable[[], Any], key: Callable[[], Any]) -> None:
        self.base = self.container = base()
        self.key = key()
        self.label = text_of(base).rpartition(".")[2]
        self.name = f"{text_of(base)}[{self.key!r}]"

    @property
    def identity(self) -> Hashable:
        return id(self) if self.key.__hash__ is None else (Item, id(self.base), self.key)

    def calls_setter(self) -> bool:
        return sets_items(self.base)

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


def text_of(read: Callable[[], Any]) -> str:
    """Return the user's source text of the expression that a generated `lambda: self.model` reads.

    >>> model = None
    >>> text_of(lambda: model.layer.weight)
    'model.layer.weight'
    """
    code = getattr(read, "__code__", None)
    return ".".join((*code.co_freevars, *code.co_names)) if code is not None else "value"
