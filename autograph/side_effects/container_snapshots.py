"""Snapshots of containers: dictionaries, lists, sets and arrays as they were when a staged block began.

a list [1, 2]    became [1, 5]       one item has another value: that is a location
                 became [1, 2, 3]    it has grown
"""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
import warnings
from array import array
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from .. import policy
from ..staging import untracked_attributes
from .snapshots import AccessPath, MutatedLocation, ObjectSnapshot, StructuralChange
from .value_identity import NOTHING, same


class Entries(ObjectSnapshot):
    """A dictionary: of an object's attributes, or the user's own."""

    def __init__(
        self, owner: Any, path: AccessPath, mapping: dict[Any, Any], kind: str, defaults: type | None = None
    ) -> None:
        super().__init__(owner, path)
        self.defaults = defaults  # the class that may provide defaults for missing attributes
        self.mapping, self.kind = mapping, kind
        self._untracked: Collection[str] = untracked_attributes(defaults)
        self.saved = {key: value for key, value in dict(mapping).items() if key not in self._untracked}
        ordered = isinstance(mapping, OrderedDict)
        self._set = OrderedDict.__setitem__ if ordered else dict.__setitem__
        self._delete = OrderedDict.__delitem__ if ordered else dict.__delitem__
        self._keys: Any = OrderedDict.keys if ordered else dict.keys

    @property
    def holder(self) -> Any:
        return self.mapping

    def _now(self) -> dict[Any, Any]:
        """Return the dictionary without the attributes that a library manages itself."""
        if not self._untracked:
            return self.mapping
        return {key: value for key, value in dict.items(self.mapping) if key not in self._untracked}

    def has_changed(self) -> bool:
        now, saved = self._now(), self.saved
        return not (
            len(now) == len(saved)
            and all(map(operator.is_, self._keys(now), saved))
            and all(map(operator.is_, dict.values(now), saved.values()))
        )

    def order(self) -> list[Any]:
        """Return the keys in their current order."""
        return list(self._keys(self._now()))

    def reorder(self, keys: Iterable[Any]) -> None:
        """Reorder the keys to the order of `keys`."""
        for key in keys:
            if dict.__contains__(self.mapping, key):
                value = dict.__getitem__(self.mapping, key)
                self._delete(self.mapping, key)
                self._set(self.mapping, key, value)

    def changes(self) -> Iterator[MutatedLocation]:
        for key in dict.fromkeys((*self.saved, *dict.keys(self._now()))):
            if not same(self.saved.get(key, self._default(key)), self._get(key)) and not self._is_cached(key):
                yield self._mutation(key)

    def _is_cached(self, key: Any) -> bool:
        """Return whether an attribute is a newly cached property, which may be discarded."""
        return key not in self.saved and self.cached(key) is not None

    def cached(self, key: Any) -> functools.cached_property[Any] | None:
        """Return the cached property named `key`."""
        bases = () if self.defaults is None else policy.bases_of(self.defaults)
        found = (vars(base).get(key) for base in bases)
        return next((one for one in found if isinstance(one, functools.cached_property)), None)

    def newly_cached(self) -> Iterator[tuple[Any, functools.cached_property[Any]]]:
        """Yield the cached properties that have been computed since the block began."""
        if self.defaults is not None:
            for key in dict.keys(self.mapping) - self.saved.keys():
                if (found := self.cached(key)) is not None:
                    yield key, found

    def _get(self, key: Any) -> Any:
        return dict.get(self.mapping, key, self._default(key))

    def _default(self, key: Any) -> Any:
        """Return the value that a missing attribute reads as."""
        if self.defaults is not None:
            for base in policy.bases_of(self.defaults):
                if key in vars(base):
                    found = vars(base)[key]
                    return NOTHING if hasattr(type(found), "__get__") else found
        return NOTHING

    def _mutation(self, key: Any) -> MutatedLocation:
        mapping = self.mapping

        def put(value: Any) -> None:
            if value is not NOTHING:
                self._set(mapping, key, value)
            elif dict.__contains__(mapping, key):
                self._delete(mapping, key)

        mutation = MutatedLocation(
            mapping, AccessPath(self.path, self.kind, key), lambda: self._get(key), put
        )
        mutation.has_default = key not in self.saved and self._default(key) is not NOTHING
        return mutation

    def restore(self) -> None:
        if self.has_changed():
            for key in list(dict.keys(self._now())):
                self._delete(self.mapping, key)
            for key, value in self.saved.items():
                self._set(self.mapping, key, value)


class SequenceItems(MutatedLocation):
    """All items of a list or deque, as one location: their number must not depend on the graph."""

    reads_copy = True

    def __init__(self, record: Sequence, unlike: Exception) -> None:
        items = record.owner

        def put(values: Any) -> None:
            type_of(items).clear(items)
            type_of(items).extend(items, values)

        super().__init__(items, record.path, lambda: list(items), put)
        self._unlike = unlike  # the error for branches of a conditional that leave different numbers of items
        self._counts: set[int] = set()

    def check(self) -> None:
        """Check, at the end of a branch, that the number of items is the same as in the other branches."""
        self._counts.add(len(self.container))
        if len(self._counts) > 1:
            raise self._unlike


class Sequence(ObjectSnapshot):
    """A list or a deque."""

    owner: Any

    def __init__(self, owner: Any, path: AccessPath) -> None:
        super().__init__(owner, path)
        self.saved = list(owner)

    def has_changed(self) -> bool:
        now, saved = self.owner, self.saved
        return not (len(now) == len(saved) and all(map(operator.is_, now, saved)))

    def changes(self) -> Iterator[MutatedLocation | StructuralChange]:
        now, saved = list(self.owner), self.saved
        if len(now) != len(saved):
            has_grown = len(now) > len(saved) and all(map(same, now, saved))
            yield StructuralChange(self, has_grown, f"changes from {len(saved)} to {len(now)} items")
            return
        for index, (before, after) in enumerate(zip(saved, now, strict=True)):
            if not same(before, after):
                yield self._mutation(index)

    def _mutation(self, index: int) -> MutatedLocation:
        items = self.owner

        def put(value: Any) -> None:
            type_of(items).__setitem__(items, index, value)

        return MutatedLocation(items, AccessPath(self.path, "[", index), lambda: items[index], put)

    def restore(self) -> None:
        if self.has_changed():
            kind = type_of(self.owner)
            kind.clear(self.owner)
            kind.extend(self.owner, self.saved)

    def gain(self) -> Any:
        return list(self.owner)[len(self.saved) :]

    def grow(self, gain: Any) -> None:
        type_of(self.owner).extend(self.owner, gain)


def type_of(items: Any) -> Any:
    """Return the built-in base class of a container, whose methods the user's class may override."""
    return next(kind for kind in (list, deque, set, bytearray) if isinstance(items, kind))


class Members(ObjectSnapshot):
    """A set."""

    owner: Any

    def __init__(self, owner: Any, path: AccessPath) -> None:
        super().__init__(owner, path)
        self.saved = set(owner)
        self._members = {id(member) for member in self.saved}

    def has_changed(self) -> bool:
        if set.__ne__(self.owner, self.saved):
            return True
        if self._members.issuperset(map(id, set.__iter__(self.owner))):
            return False
        saved = {member: member for member in self.saved}
        return not all(same(saved[member], member) for member in set.__iter__(self.owner))

    def changes(self) -> Iterator[StructuralChange]:
        if self.has_changed():
            has_grown = set.__gt__(self.owner, self.saved)
            yield StructuralChange(
                self, has_grown, f"changes from {len(self.saved)} to {len(self.owner)} members"
            )

    def restore(self) -> None:
        if self.has_changed():
            set.clear(self.owner)
            set.update(self.owner, self.saved)

    def gain(self) -> Any:
        return self.owner - self.saved

    def grow(self, gain: Any) -> None:
        set.update(self.owner, gain)


class BufferSnapshot(ObjectSnapshot):
    """An array of numbers, such as a NumPy array: a copy of its memory, if that is contiguous."""

    owner: Any

    def __init__(self, owner: Any, path: AccessPath) -> None:
        super().__init__(owner, path)
        view = memoryview(owner)
        self.saved = view.tobytes()
        self._form = _form_of(view)
        self._copy = None if _is_memory(view) else copy.copy(owner)

    def has_changed(self) -> bool:
        view = memoryview(self.owner)
        if _form_of(view) != self._form:
            return True
        if not view.c_contiguous or view.nbytes != len(self.saved):
            return view.tobytes() != self.saved
        return not self.saved.startswith(view)  # compares the memory in place

    def changes(self) -> Iterator[StructuralChange]:
        if self.has_changed():
            is_other = _form_of(memoryview(self.owner)) != self._form
            yield StructuralChange(self, False, "gets another form" if is_other else "gets other items")

    def restore(self) -> None:
        if not self.has_changed():
            return
        with contextlib.suppress(TypeError, ValueError):  # an array that has another size now is not restored
            self._fill()

    def _fill(self) -> None:
        _format, shape, strides, is_readonly = self._form
        if hasattr(self.owner, "setflags") and _form_of(memoryview(self.owner)) != self._form:
            self.owner.setflags(write=not is_readonly)
            with warnings.catch_warnings(action="ignore"):  # NumPy deprecates this in favor of a new view
                self.owner.strides, self.owner.shape = strides, shape
        if isinstance(self.owner, bytearray):
            self.owner[:] = self.saved
        elif isinstance(self.owner, array):
            self.owner[:] = array(self.owner.typecode, self.saved)
        elif self._copy is not None:
            self.owner[...] = self._copy
        else:
            memoryview(self.owner).cast("B")[:] = self.saved


def _form_of(view: memoryview) -> tuple[Any, ...]:
    """Return the format, shape, strides and writability of an array."""
    return view.format, view.shape, view.strides, view.readonly


def _is_memory(view: memoryview) -> bool:
    """Return whether an array is contiguous memory and holds no objects."""
    try:
        view.cast("B")
    except TypeError:
        return False
    return "O" not in view.format
