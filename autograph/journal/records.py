"""What one object held when a staged block began, and how to tell and undo what has changed since.

    a list [1, 2]    became [1, 5]       one item is another: that is a place
                     became [1, 2, 3]    it has grown
                     became []           it has another structure, which nothing can carry

One class for each kind of thing that can be changed."""

from __future__ import annotations

import copy
import functools
import operator
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import CellType
from typing import Any, NamedTuple

from .. import policy
from ..sameness import NOTHING, same
from ..staging import Maybe, Undefined


class Trail(NamedTuple):
    """How an object was reached: `self` `.log` `[0]`."""

    parent: Trail | None
    kind: str  # '', '.' or '['
    key: Any

    def __str__(self) -> str:
        around = "" if self.parent is None else str(self.parent)
        if self.kind == "[":
            return f"{around}[{self.key!r}]"
        return f"{around}.{self.key}" if self.kind and around else str(self.key)

    @property
    def label(self) -> str:
        """The last name on the way."""
        at: Trail = self
        while at.kind == "[" and at.parent is not None:
            at = at.parent
        return str(at.key)


class Spot:
    """A place that was found while tracing: one value inside of an object."""

    def __init__(self, owner: Any, trail: Trail, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        self.owner = owner
        self.trail = trail
        self.name = str(trail)
        self.kind = trail.kind
        self.label = trail.label
        self._get, self._put = get, put

    def read(self) -> Any:
        value = self._get()
        return Undefined(self.name) if value is NOTHING else value

    def write(self, value: Any) -> None:
        # Code checks a variable when it reads it; attributes and items are read unchecked.
        is_checked = self.kind == "" and isinstance(value, Maybe)
        self._put(NOTHING if isinstance(value, Undefined) and not is_checked else value)


class Reshaped(NamedTuple):
    """A change that is no place: a container that has other members, an iterator that has moved on."""

    record: Record
    has_grown: bool
    what: str


class Record:
    """What `owner` held."""

    def __init__(self, owner: Any, trail: Trail) -> None:
        self.owner = owner
        self.trail = trail
        self.labels = {trail.label}

    @property
    def holder(self) -> Any:
        """The object that holds the values."""
        return self.owner

    def has_changed(self) -> bool:
        raise NotImplementedError

    def changes(self) -> Iterator[Spot | Reshaped]:
        raise NotImplementedError

    def restore(self) -> None:
        raise NotImplementedError

    def gain(self) -> Any:
        """What a container that has grown holds beyond what it held."""
        raise NotImplementedError

    def grow(self, gain: Any) -> None:
        raise NotImplementedError


class Entries(Record):
    """A dictionary: of an object's attributes, or the user's own."""

    def __init__(
        self, owner: Any, trail: Trail, mapping: dict[Any, Any], kind: str, defaults: type | None = None
    ) -> None:
        super().__init__(owner, trail)
        self.defaults = defaults  # the class that has values for attributes that are not there
        self.mapping, self.kind = mapping, kind
        self.kept = dict(mapping)
        ordered = isinstance(mapping, OrderedDict)
        self._set = OrderedDict.__setitem__ if ordered else dict.__setitem__
        self._delete = OrderedDict.__delitem__ if ordered else dict.__delitem__

    @property
    def holder(self) -> Any:
        return self.mapping

    def has_changed(self) -> bool:
        now, kept = self.mapping, self.kept
        return not (
            len(now) == len(kept)
            and all(map(operator.is_, dict.keys(now), kept))
            and all(map(operator.is_, dict.values(now), kept.values()))
        )

    def changes(self) -> Iterator[Spot]:
        for key in dict.fromkeys((*self.kept, *dict.keys(self.mapping))):
            if not same(self.kept.get(key, self._default(key)), self._get(key)) and not self._is_cached(key):
                yield self._spot(key)

    def _is_cached(self, key: Any) -> bool:
        """Whether an attribute only remembers what a property gives, and may be forgotten."""
        bases = () if self.defaults is None else policy.bases_of(self.defaults)
        return any(isinstance(vars(base).get(key), functools.cached_property) for base in bases)

    def _get(self, key: Any) -> Any:
        return dict.get(self.mapping, key, self._default(key))

    def _default(self, key: Any) -> Any:
        """What an attribute that is not there reads as."""
        if self.defaults is not None:
            for base in policy.bases_of(self.defaults):
                if key in vars(base):
                    found = vars(base)[key]
                    return NOTHING if hasattr(type(found), "__get__") else found
        return NOTHING

    def _spot(self, key: Any) -> Spot:
        mapping = self.mapping

        def put(value: Any) -> None:
            if value is not NOTHING:
                self._set(mapping, key, value)
            elif dict.__contains__(mapping, key):
                self._delete(mapping, key)

        return Spot(mapping, Trail(self.trail, self.kind, key), lambda: self._get(key), put)

    def restore(self) -> None:
        if self.has_changed():
            for key in list(dict.keys(self.mapping)):
                self._delete(self.mapping, key)
            for key, value in self.kept.items():
                self._set(self.mapping, key, value)


class Sequence(Record):
    """A list or a deque."""

    owner: Any

    def __init__(self, owner: Any, trail: Trail) -> None:
        super().__init__(owner, trail)
        self.kept = list(owner)

    def has_changed(self) -> bool:
        now, kept = self.owner, self.kept
        return not (len(now) == len(kept) and all(map(operator.is_, now, kept)))

    def changes(self) -> Iterator[Spot | Reshaped]:
        now, kept = list(self.owner), self.kept
        if len(now) != len(kept):
            has_grown = len(now) > len(kept) and all(map(same, now, kept))
            yield Reshaped(self, has_grown, f"changes from {len(kept)} to {len(now)} items")
            return
        for index, (before, after) in enumerate(zip(kept, now, strict=True)):
            if not same(before, after):
                yield self._spot(index)

    def _spot(self, index: int) -> Spot:
        items = self.owner

        def put(value: Any) -> None:
            type_of(items).__setitem__(items, index, value)

        return Spot(items, Trail(self.trail, "[", index), lambda: items[index], put)

    def restore(self) -> None:
        if self.has_changed():
            kind = type_of(self.owner)
            kind.clear(self.owner)
            kind.extend(self.owner, self.kept)

    def gain(self) -> Any:
        return list(self.owner)[len(self.kept) :]

    def grow(self, gain: Any) -> None:
        type_of(self.owner).extend(self.owner, gain)


def type_of(items: Any) -> Any:
    """The built-in class behind a container, whatever the user's class makes of its methods."""
    return next(kind for kind in (list, deque, set, bytearray) if isinstance(items, kind))


class Members(Record):
    """A set."""

    owner: Any

    def __init__(self, owner: Any, trail: Trail) -> None:
        super().__init__(owner, trail)
        self.kept = set(owner)

    def has_changed(self) -> bool:
        return bool(set.__ne__(self.owner, self.kept))

    def changes(self) -> Iterator[Reshaped]:
        if self.has_changed():
            has_grown = set.__gt__(self.owner, self.kept)
            yield Reshaped(self, has_grown, f"changes from {len(self.kept)} to {len(self.owner)} members")

    def restore(self) -> None:
        if self.has_changed():
            set.clear(self.owner)
            set.update(self.owner, self.kept)

    def gain(self) -> Any:
        return self.owner - self.kept

    def grow(self, gain: Any) -> None:
        set.update(self.owner, gain)


class Buffer(Record):
    """An array of numbers, such as NumPy's."""

    owner: Any

    def __init__(self, owner: Any, trail: Trail) -> None:
        super().__init__(owner, trail)
        self.kept = memoryview(owner).tobytes()
        self._copy = copy.copy(owner)

    def has_changed(self) -> bool:
        return memoryview(self.owner).tobytes() != self.kept

    def changes(self) -> Iterator[Reshaped]:
        if self.has_changed():
            yield Reshaped(self, False, "gets other items")

    def restore(self) -> None:
        if self.has_changed():
            self.owner[slice(None) if isinstance(self.owner, (bytearray, array)) else ...] = self._copy


class Holder(Record):
    """A single value: a closure's cell, a slot, a global variable, an attribute of a class or module."""

    def __init__(self, owner: Any, trail: Trail, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
        super().__init__(owner, trail)
        self.get, self.put = get, put
        self.kept = get()

    def has_changed(self) -> bool:
        return self.get() is not self.kept

    def changes(self) -> Iterator[Spot]:
        if not same(self.get(), self.kept):
            yield Spot(self.owner, self.trail, self.get, self.put)

    def restore(self) -> None:
        if self.has_changed():
            self.put(self.kept)


def cell(owner: CellType, trail: Trail) -> Holder:
    """The record of a variable that functions share."""

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

    return Holder(owner, trail, get, put)


def global_variable(owner: dict[str, Any], trail: Trail) -> Holder:
    """The record of a variable of a module."""
    name = trail.key

    def put(value: Any) -> None:
        if value is not NOTHING:
            owner[name] = value
        else:
            owner.pop(name, None)

    return Holder(owner, trail, lambda: owner.get(name, NOTHING), put)


def slot(owner: Any, member: Any, trail: Trail) -> Holder:
    """The record of an attribute that `__slots__` names."""

    def get() -> Any:
        try:
            return member.__get__(owner)
        except AttributeError:
            return NOTHING

    def put(value: Any) -> None:
        if value is not NOTHING:
            member.__set__(owner, value)
        elif get() is not NOTHING:
            member.__delete__(owner)

    return Holder(owner, trail, get, put)


def class_attribute(owner: type, trail: Trail) -> Holder:
    """The record of a value that a class holds."""
    name = trail.key

    def put(value: Any) -> None:
        if value is not NOTHING:
            type.__setattr__(owner, name, value)
        elif name in vars(owner):
            type.__delattr__(owner, name)

    return Holder(owner, trail, lambda: vars(owner).get(name, NOTHING), put)
