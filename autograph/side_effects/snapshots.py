"""Snapshots: the contents of objects when a staged block began, to detect and undo mutations.

    a list [1, 2]    became [1, 5]       one item has another value: that is a location
                     became [1, 2, 3]    it has grown
                     became []           it has another structure, which cannot be carried

There is one class for each kind of mutable object. This module has the base class, and snapshots of single
values; `container_snapshots.py` has the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import CellType
from typing import Any, NamedTuple

from ..staging import Maybe, Undefined
from .locations import Location
from .value_identity import NOTHING, same


class AccessPath(NamedTuple):
    """The access path of an object: `self` `.log` `[0]`."""

    parent: AccessPath | None
    kind: str  # '', '.', '[' or '@', an attribute of a library's object
    key: Any

    def __str__(self) -> str:
        around = "" if self.parent is None else str(self.parent)
        if self.kind == "[":
            return f"{around}[{self.key!r}]"
        return f"{around}.{self.key}" if self.kind and around else str(self.key)

    @property
    def label(self) -> str:
        """The last name on the path."""
        at: AccessPath = self
        while at.kind in "[@" and at.kind and at.parent is not None:
            at = at.parent
        return str(at.key)


class MutatedLocation(Location):
    """A location that a trace has mutated: one value inside of an object."""

    has_default = False  # whether a missing attribute reads as that of the class

    def __init__(
        self, owner: Any, path: AccessPath, get: Callable[[], Any], put: Callable[[Any], None]
    ) -> None:
        self.container = owner
        self.path = path
        self.name = str(path)
        self.kind = "[" if path.kind == "@" else path.kind
        self.label = path.label
        self._get, self._put = get, put

    def read(self) -> Any:
        value = self._get()
        return Undefined(self.name) if value is NOTHING else value

    def write(self, value: Any) -> None:
        # Code checks a variable when it reads it; attributes and items are read unchecked.
        is_checked = self.kind == "" and isinstance(value, Maybe)
        self._put(NOTHING if isinstance(value, Undefined) and not is_checked else value)


class StructuralChange(NamedTuple):
    """A mutation that is no location: a container with other members, or an iterator that was advanced."""

    record: ObjectSnapshot
    has_grown: bool
    what: str


class ObjectSnapshot:
    """The contents of `owner` when a staged block began."""

    def __init__(self, owner: Any, path: AccessPath) -> None:
        self.owner = owner
        self.path = path
        self.labels = {path.label}

    @property
    def holder(self) -> Any:
        """The object that holds the values."""
        return self.owner

    def has_changed(self) -> bool:
        raise NotImplementedError

    def changes(self) -> Iterator[MutatedLocation | StructuralChange]:
        raise NotImplementedError

    def restore(self) -> None:
        raise NotImplementedError

    def gain(self) -> Any:
        """Return the elements that a container has gained."""
        raise NotImplementedError

    def grow(self, gain: Any) -> None:
        raise NotImplementedError


class CellSnapshot(ObjectSnapshot):
    """A single value: a closure's cell, a slot, a global variable, an attribute of a class or module."""

    def __init__(
        self, owner: Any, path: AccessPath, get: Callable[[], Any], put: Callable[[Any], None]
    ) -> None:
        super().__init__(owner, path)
        self.get, self.put = get, put
        self.saved = get()

    def has_changed(self) -> bool:
        return self.get() is not self.saved

    def changes(self) -> Iterator[MutatedLocation]:
        if not same(self.get(), self.saved):
            yield MutatedLocation(self.owner, self.path, self.get, self.put)

    def restore(self) -> None:
        if self.has_changed():
            self.put(self.saved)


def cell(owner: CellType, path: AccessPath) -> CellSnapshot:
    """Return the snapshot of a variable that functions share."""

    def get() -> Any:
        try:
            return owner.cell_contents
        except ValueError:
            return NOTHING

    def put(value: Any) -> None:
        if value is not NOTHING:
            owner.cell_contents = value
        elif get() is not NOTHING:
            del owner.cell_contents

    return CellSnapshot(owner, path, get, put)


def global_variable(owner: dict[str, Any], path: AccessPath) -> CellSnapshot:
    """Return the snapshot of a module's variable."""
    name = path.key

    def put(value: Any) -> None:
        if value is not NOTHING:
            owner[name] = value
        else:
            owner.pop(name, None)

    return CellSnapshot(owner, path, lambda: owner.get(name, NOTHING), put)


def slot(owner: Any, member: Any, path: AccessPath) -> CellSnapshot:
    """Return the snapshot of an attribute that `__slots__` names."""

    def get() -> Any:
        try:
            return member.__get__(owner)
        except AttributeError:
            return NOTHING

    def put(value: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # members of C classes may be read-only
            if value is not NOTHING:
                member.__set__(owner, value)
            elif get() is not NOTHING:
                member.__delete__(owner)

    return CellSnapshot(owner, path, get, put)


def class_attribute(owner: type, path: AccessPath) -> CellSnapshot:
    """Return the snapshot of a class attribute."""
    name = path.key

    def put(value: Any) -> None:
        if value is not NOTHING:
            type.__setattr__(owner, name, value)
        elif name in vars(owner):
            type.__delattr__(owner, name)

    return CellSnapshot(owner, path, lambda: vars(owner).get(name, NOTHING), put)


def context_variable(owner: ContextVar[Any], path: AccessPath) -> CellSnapshot:
    """Return the snapshot of a context variable in the current context."""

    def put(value: Any) -> None:
        if value is not NOTHING:
            owner.set(value)

    return CellSnapshot(owner, path, lambda: owner.get(NOTHING), put)


def attribute(owner: Any, path: AccessPath) -> CellSnapshot:
    """Return the snapshot of an attribute of any other object."""
    name = path.key

    def get() -> Any:
        try:
            return getattr(owner, name)
        except Exception:  # libraries raise exceptions of any class
            return NOTHING

    def put(value: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # read-only attributes
            if value is not NOTHING:
                setattr(owner, name, value)
            elif get() is not NOTHING:
                delattr(owner, name)

    return CellSnapshot(owner, path, get, put)
