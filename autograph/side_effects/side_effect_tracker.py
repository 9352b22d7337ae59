"""Side-effect tracker: compares the heap with its snapshot after each trace of a block's functions.

a location has another value   the block is traced again with it as part of its state
a list that branches extend    its items are one location, if each branch leaves equally many
a container that has grown     it keeps what the last trace added, as long as no code reads it
anything else                  refused with AGC291
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from functools import partial
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

from .. import policy
from ..analysis import bytecode_effects
from ..errors import is_own_file
from ..staging import PYTHON, Maybe, backends
from . import container_snapshots
from .aliasing.external_aliases import ExternalAliases
from .container_snapshots import Entries, SequenceItems
from .custom_setters import is_memory
from .diagnostics import only_once, presence, rebound, refused
from .heap_snapshot import HeapSnapshot
from .later_uses import LaterUses
from .locations import Attribute, Location
from .snapshots import MutatedLocation, ObjectSnapshot, StructuralChange


class RetraceNeeded(BaseException):
    """Ends a trace that has mutated a location which is not carried yet. User code cannot catch it."""

    def __init__(
        self, tracker: SideEffectTracker, mutations: Sequence[MutatedLocation], has_built: bool = False
    ) -> None:
        super().__init__()
        self.tracker, self.mutations, self.has_built = tracker, mutations, has_built


class _Memory(threading.local):
    """The mutated locations found in each block, kept while the outermost block is being traced."""

    def __init__(self) -> None:
        self.depth = 0
        self.found: dict[CodeType | None, list[MutatedLocation]] = {}


_memory = _Memory()


@contextmanager
def remembering() -> Iterator[None]:
    """Keep the mutated locations of blocks until the outermost block is traced."""
    _memory.depth += 1
    try:
        yield
    finally:
        _memory.depth -= 1
        if not _memory.depth:
            _memory.found.clear()


class SideEffectTracker:
    """The side effects observed while one staged block is traced."""

    def __init__(
        self, roots: Sequence[tuple[str, Any]], later_uses: LaterUses, is_choice: bool = False
    ) -> None:
        self.snapshot = HeapSnapshot(roots)
        self._is_choice = is_choice
        self.is_open = True  # once it is False, a backend's call of a block's function is an ordinary call
        self.later_uses = later_uses
        self.later_uses.codes = list(self.snapshot.codes.values())
        self.later_uses.own = [block.__code__ for _, block in roots if isinstance(block, FunctionType)]
        self._code = getattr(roots[0][1], "__code__", None) if roots else None
        self._process = self.snapshot.process_state()
        self._blocks = [(b.__code__, b.__globals__) for _, b in roots if isinstance(b, FunctionType)]
        self.external_aliases = ExternalAliases(self.snapshot, self.later_uses, self.again)
        self._gains: dict[Any, list[tuple[ObjectSnapshot, Any]]] = {}
        self._orders: dict[int, tuple[Entries, list[Any]]] = {}  # id → a dict and the order of its keys
        self._fresh: list[MutatedLocation] = []  # found by the previous attempt

    def remembered(self) -> list[MutatedLocation]:
        """Return the locations that an earlier trace of the same block found and that still exist."""
        found = _memory.found.get(self._code, [])
        owners = {id(record.holder) for record in self.snapshot.records.values()}
        return [mutation for mutation in found if id(mutation.container) in owners]

    def uses_name_later(self, name: str) -> bool:
        """Return whether code after the block may use a variable."""
        return self.later_uses.uses_name_later(name)

    def begin(self, mutations: Sequence[MutatedLocation]) -> None:
        """Begin a new attempt, with `mutations` carried."""
        self._gains.clear()
        self._orders.clear()
        self._fresh = list(mutations)
        _memory.found.setdefault(self._code, []).extend(mutations)

    def ends(self, locations: Sequence[Location]) -> None:
        """Check list lengths and key orders at the end of a function of the block.

        They must be the same after each of the block's functions.
        """
        for location in locations:
            if isinstance(location, SequenceItems):
                location.check()
        if self.is_open:
            self._compare_orders()

    def _compare_orders(self) -> None:
        """Check that dicts keep the order of their keys, before the block and after each of its functions."""
        for record in self.snapshot.dicts():
            now = record.order()
            _, saved = self._orders.setdefault(id(record), (record, list(record.saved)))
            if len(now) == len(saved) and all(map(operator.is_, now, saved)):
                continue
            common, others = set(now) & set(saved), {id(key) for key in saved}
            before, after = ([key for key in keys if key in common] for keys in (saved, now))
            is_same = all(map(operator.is_, before, after)) and all(id(key) in others for key in after)
            if not is_same and self.later_uses.sees_order(record):
                raise refused(
                    StructuralChange(record, False, "changes the order of its keys"), self.later_uses
                )
            saved += [key for key in now if key not in common]

    def _has_default(self, location: Attribute) -> bool:
        """Return whether an attribute that the object lacks reads as the attribute of its class."""
        variables = policy.attributes_of(location.base)
        return location.key not in variables and any(
            location.key in vars(b) for b in policy.bases_of(type(location.base))
        )

    def settle_orders(self) -> None:
        """Put the keys of dicts into the order in which the block's functions have added them."""
        for record, keys in self._orders.values():
            if record.order() != keys:
                record.reorder(keys)

    def refuse_aliased_updates(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Raise an error if a loop updates an array or list by `+=` that has an alias.

        In the graph the updated value is a new object.
        """
        if self._is_choice:
            return
        for name, value in zip(names, values, strict=True):
            if not (type(value) is list or (is_memory(value) and not memoryview(value).readonly)):
                continue
            label = "" if name.endswith("]") else name.rpartition(".")[2]
            if any(label in bytecode_effects.updates_in_place(code) for code in self.later_uses.own) and (
                getattr(value, "base", None) is not None
                or self.external_aliases.is_elsewhere(value, {label})
                or any(True for _ in self.later_uses.holders_later(value, {name}))
            ):
                raise rebound(name)

    def undo(self) -> None:
        """Undo the side effects after a function of the block has failed."""
        self.later_uses.forget()
        if self.is_open:
            self.snapshot.restore()

    def compare(self, key: Any) -> None:
        """Compare the heap with its snapshot after a function of the block has run.

        The carried locations have been restored before the call.
        """
        self.later_uses.forget()
        changed = self.snapshot.changed() if self.is_open else []
        if not changed:
            self._gains.pop(key, None)
            return
        changes = [change for record in changed for change in record.changes()]
        self._compare_caches(changed)
        mutations = [change for change in changes if isinstance(change, MutatedLocation)]
        reshaped = [change for change in changes if isinstance(change, StructuralChange)]
        grown = [change for change in reshaped if self.later_uses.only_grows(change)]
        gains = [(change.record, change.record.gain()) for change in grown]
        values = [(mutation, mutation.read()) for mutation in mutations]
        self.snapshot.restore()
        if any(map(_is_lasting, [value for _, value in values])):
            self._build(values)
        others = [self._items_of(change) for change in reshaped if change not in grown]
        inside = {id(one.container) for one in others}
        mutations = [mutation for mutation in mutations if id(mutation.container) not in inside]
        if mutations or others:
            raise RetraceNeeded(self, [*mutations, *others])
        self._gains[key] = gains

    def _compare_caches(self, changed: Sequence[ObjectSnapshot]) -> None:
        """Refuse cached properties that a trace has computed, if discarding them is observable later."""
        for record in changed:
            for name, cached in record.newly_cached() if isinstance(record, Entries) else ():
                names = bytecode_effects.facts(cached.func.__code__).names
                location = Attribute(partial(getattr, record, "mapping"), name)
                location.name = f"{record.path}.{name}"
                if self.later_uses.may_change_later(names) or self.later_uses.may_ask_later(location):
                    raise presence(location, False)

    def _items_of(self, change: StructuralChange) -> SequenceItems:
        """Return the items of a list as a location if a conditional changes its length; otherwise raise."""
        error = refused(change, self.later_uses)
        if not self._is_choice or not isinstance(change.record, container_snapshots.Sequence):
            raise error
        return SequenceItems(change.record, error)

    def compare_gains(self) -> None:
        """Carry the items of lists that every branch has extended by equally many elements.

        After the block they are those of one branch.
        """
        first, *others = self._gains.values() if self._is_choice and len(self._gains) > 1 else ((),)
        found = []
        for record, gain in first:
            gains = [gain, *(more for other in others for one, more in other if one.owner is record.owner)]
            is_like = len(gains) == len(self._gains) and len(set(map(len, gains))) == 1
            if (
                is_like
                and isinstance(record, container_snapshots.Sequence)
                and all(map(_is_staged, chain(*gains)))
            ):
                found.append(
                    SequenceItems(record, refused(StructuralChange(record, True, "grows"), self.later_uses))
                )
        if found:
            raise RetraceNeeded(self, found)

    def _build(self, values: Sequence[tuple[MutatedLocation, Any]]) -> None:
        """Keep what an object creates lazily on first use, such as variables, and trace again."""
        lasting = [(mutation, value) for mutation, value in values if _is_settling(value)]
        for mutation, value in lasting:
            mutation.write(value)
        built = {id(mutation) for mutation, _ in lasting}
        raise RetraceNeeded(
            self, [mutation for mutation, _ in values if id(mutation) not in built], has_built=True
        )

    def again(self) -> BaseException:
        """Return the exception that has the block traced again, with the same carried locations."""
        self.snapshot.restore()
        return RetraceNeeded(self, [])

    def maybe(self, target: Location, was_there: bool) -> None:
        """Raise an error if code may test whether `target` has a value while the block is traced.

        In a trace the location has no value, although it may have one when the graph runs.
        """
        if self.later_uses.asks_for(target, is_over=False):
            raise presence(target, was_there)

    def left(self, target: Location, was_there: bool, is_inner: bool) -> bool:
        """Return whether code uses `target` after a loop, which must then have given it a value.

        Raise an error if the code may test for the value, or uses it after a conditional or inner loop.
        """
        is_used = self.later_uses.uses_later(target)
        is_certain = not (self._is_choice or was_there or is_inner or self.later_uses.tests_later(target))
        if (is_used and not is_certain) or self.later_uses.asks_for(target, is_over=True):
            raise presence(target, was_there)
        return is_used

    def warn(self) -> None:
        """Warn of uses of process state that happen once, during tracing."""
        self._process.warn([(code, seen) for code, seen in self._blocks if not is_own_file(code.co_filename)])

    def confirm(self, locations: Sequence[Location], touched: Set[Location]) -> None:
        """Check that each location found before has changed again; otherwise a hidden condition decides."""
        for mutation in self._fresh:
            if mutation not in touched:
                raise only_once(mutation)
        for location in locations:
            has_default = (
                self._has_default(location)
                if isinstance(location, Attribute)
                else isinstance(location, MutatedLocation)
            )
            if (
                has_default
                and getattr(location, "has_default", True)
                and self.later_uses.tells_later(location)
            ):
                raise presence(location, False)

    def replay(self) -> None:
        """Add to containers the elements that the last traces have added."""
        for gains in self._gains.values():
            for record, gain in gains:
                record.grow(gain)


def _is_staged(value: Any) -> bool:
    return backends[type(value)] is not PYTHON


def _is_lasting(value: Any) -> bool:
    backend = backends[type(value)]
    return backend is not PYTHON and isinstance(value, tuple(getattr(backend, "lasting", ())))


def _is_settling(value: Any) -> bool:
    """Return whether `value` is an object that has been created, rather than a counter."""
    if _is_lasting(value):
        return True
    is_number = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return not is_number and backends[type(value)] is PYTHON and not isinstance(value, Maybe)
