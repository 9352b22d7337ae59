"""Stored attributes: snapshots of attributes that code assigns, on objects that have no full snapshot.

    g.__defaults__ = (5,)        `__defaults__` of each reachable function
    o.__class__ = Other          the class of each object
    decimal_context.prec = 9     `prec` of each library object that has one

The dictionaries of the user's own objects have snapshots anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Set
from types import FunctionType, ModuleType
from typing import Any

from .. import policy
from ..analysis.bytecode_effects import STORED
from . import snapshots
from .custom_setters import has_buffer, is_fixed
from .snapshots import AccessPath, MutatedLocation, ObjectSnapshot, StructuralChange
from .value_identity import NOTHING, same

_OF_FUNCTIONS = frozenset({"__defaults__", "__kwdefaults__", "__code__", "__dict__"})
_OF_INSTANCES = frozenset({"__class__", "__dict__"})
_SPECIAL = _OF_FUNCTIONS | _OF_INSTANCES | {"__bases__", "cell_contents"}


class NewNames(ObjectSnapshot):
    """The attribute names of a class, module or library object; if `among` is given, only these names count."""

    def __init__(self, owner: Any, path: AccessPath, among: Set[str] | None) -> None:
        super().__init__(owner, path)
        self._variables = vars(owner) if isinstance(owner, type) else policy.attributes_of(owner)
        self._saved = frozenset(self._variables) if among is None else frozenset()
        self._among = None if among is None else among - self._variables.keys()

    def has_changed(self) -> bool:
        return bool(self._new())

    def _new(self) -> list[str]:
        if self._among is not None:
            new = self._among & self._variables.keys() if not self._among.isdisjoint(self._variables) else ()
        else:
            new = self._variables.keys() - self._saved if len(self._variables) > len(self._saved) else ()
        return sorted(name for name in new if name[:2] != "__") if new else []

    def changes(self) -> Iterator[MutatedLocation]:
        for name in self._new():
            holder = _holder(self.owner, AccessPath(self.path, ".", name))
            yield MutatedLocation(self.owner, holder.path, holder.get, holder.put)

    def restore(self) -> None:
        for name in self._new():
            _holder(self.owner, AccessPath(self.path, ".", name)).put(NOTHING)


class Fixed(snapshots.CellSnapshot):
    """An attribute that no graph can assign, such as the class of an object."""

    def changes(self) -> Iterator[Any]:
        if not same(self.get(), self.saved):
            yield StructuralChange(self, False, "changes")


def fixed(owner: Any, path: AccessPath) -> Fixed:
    """Return the snapshot of an attribute that no graph can assign."""
    plain = snapshots.attribute(owner, path)
    return Fixed(owner, path, plain.get, plain.put)


def _holder(owner: Any, path: AccessPath) -> snapshots.CellSnapshot:
    if path.key in _SPECIAL - {"cell_contents"} or is_fixed(type(owner), path.key):
        return fixed(owner, path)
    if isinstance(owner, type):
        return snapshots.class_attribute(owner, path)
    return snapshots.attribute(owner, path)


class StoredAttributes:
    """Takes snapshots of the attributes that code assigns, on the objects that may have them."""

    def __init__(self, found: MutableMapping[Any, ObjectSnapshot]) -> None:
        self._records = found
        self._registered: list[tuple[Any, AccessPath, bool]] = []
        self._instances: list[tuple[Any, AccessPath]] = []  # instances of users' classes
        self._stored: set[str] = set()
        self._members: dict[type, frozenset[str]] = {}
        self._done = 0, 0
        self._name_count = 0  # the number of names in the code

    def register(self, value: Any, path: AccessPath, is_users: bool = False) -> None:
        """Register an object that may have such attributes.

        `is_users` says whether the object or its class is defined in user code.
        """
        self._registered.append((value, path, is_users))

    def register_instance(self, value: Any, path: AccessPath) -> None:
        """Register an instance of a user's class."""
        self._instances.append((value, path))

    def take_snapshots(self, names: Set[str]) -> None:
        """Take snapshots for code that contains `names`; `names` only grow from call to call."""
        counts = len(self._registered), len(self._instances)
        if len(names) == self._name_count and counts == self._done:
            return
        stored = self._stored if len(names) == self._name_count else _stored_in(names)
        first, second = self._done if stored == self._stored else (0, 0)
        self._name_count, self._stored, self._done = len(names), stored, counts
        if not stored:
            return
        for value, path, is_users in self._registered[first:]:
            self._snapshot_attributes(value, path, stored, is_users)
        if special := stored & _OF_INSTANCES:
            for value, path in self._instances[second:]:
                self._snapshot_names(value, path, special)

    def _snapshot_attributes(self, value: Any, path: AccessPath, stored: set[str], is_users: bool) -> None:
        if isinstance(value, FunctionType):
            self._snapshot_names(value, path, stored & _OF_FUNCTIONS)
            return
        is_open = isinstance(value, (type, ModuleType))
        variables = vars(value) if isinstance(value, type) else policy.attributes_of(value)
        if is_open or type(value).__dictoffset__ != 0:
            among = None if is_users and is_open else stored
            self._records[id(value), STORED] = NewNames(value, path, among)
        special = frozenset({"__bases__"} if isinstance(value, type) else ())
        fixed_names = {"__dict__"} if isinstance(value, type) else set()  # a new view at each access
        inherited = special if is_open else self._members_of(type(value))
        self._snapshot_names(value, path, stored & (variables.keys() - fixed_names) | stored & inherited)

    def _members_of(self, kind: type) -> frozenset[str]:
        if kind not in self._members:
            self._members[kind] = _members(kind)
        return self._members[kind]

    def _snapshot_names(self, value: Any, path: AccessPath, names: Set[str]) -> None:
        for name in sorted(names):
            if (id(value), name) in self._records:
                continue
            record = _holder(value, AccessPath(path, ".", name))
            if same(record.get(), record.saved) or not has_buffer(value):
                self._records[id(value), name] = record
            # else a view that an array makes at each access, such as `data`: the array has a snapshot itself


def _stored_in(names: Set[str]) -> set[str]:
    return {name[1:] for name in names if name[:1] == STORED}


def _members(kind: type) -> frozenset[str]:
    """Return the names of the data descriptors of a class that take values: not of a property that only reads."""
    found: dict[str, Any] = {}
    for base in reversed(policy.bases_of(kind)):
        found.update(vars(base))
    return frozenset(name for name, member in found.items() if _takes_values(member))


def _takes_values(member: Any) -> bool:
    return member.fset is not None if isinstance(member, property) else hasattr(type(member), "__set__")
