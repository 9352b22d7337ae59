"""Referrer search: find the variables from which an object is reachable, at any depth.

    log = [x]
    rows = {"all": [[log]]}                  `rows`        a dict, a list, a list
    push = functools.partial(f, log)         `push`        its arguments
    Box.log = log                            `Box`         attributes of the class, as of any module or closure

The search is breadth-first and uses the references that Python's garbage collector tracks. A whole level is
expanded at once, so that 100,000 objects take tenths of a second. It does not expand values of a backend,
classes and modules of libraries, or frames, since these lead to no data of the program.
"""

from __future__ import annotations

import gc
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from ... import policy
from ...staging import PYTHON, backends

_OF_PYTHON = frozenset({"__builtins__", "__loader__", "__spec__"})
"""Names through which modules reach the import system, which is large and leads to no data of the program."""
_CLOSED = CodeType, FrameType, TracebackType
_NOTHING = object()

Parts = Callable[["ReferrerSearch", Any], Iterable[Any]]


class ReferrerSearch:
    """A search of several mappings in turn for the variables from which an object is reachable.

    Objects that an `earlier` search has visited are not searched again.
    """

    def __init__(self, sought: Any = _NOTHING, earlier: ReferrerSearch | None = None) -> None:
        self._sought = sought
        self._earlier: set[int] = set() if earlier is None else earlier._without
        # The ids of the objects that have been searched and do not lead to `sought`.
        self._without: set[int] = set()
        self._seen: set[int] = set()  # the ids that the current search has visited
        self._alive: list[Any] = []  # keeps objects alive, so that no other object gets their ids
        self._rules: dict[type, Parts | None] = {}

    def pass_by(self, variables: Any) -> None:
        """Do not expand `variables` when they are met as those of a module; they are searched separately."""
        self._without.add(id(variables))

    def meet(self, variables: Mapping[str, Any]) -> None:
        """Visit everything reachable from `variables`, without an object to find."""
        self._leads([value for name, value in variables.items() if name not in _OF_PYTHON])

    def has_met(self, value: Any) -> bool:
        """Return whether the search has visited `value`, or may have.

        The collector does not track some dicts, so a visit of these is unknown.
        """
        return id(value) in self._without or not gc.is_tracked(value)

    def names(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Yield the variables from which the object is reachable, and their attributes from which it is.

        >>> d = {}
        >>> list(ReferrerSearch(d).names({"d": d, "e": [1], "all": [d], "far": ({"d": [d]},), "__spec__": [d]}))
        ['d', 'all', 'far']
        """
        for name, value in variables.items():
            if name not in _OF_PYTHON and self._leads(value):
                yield name
                attributes = policy.attributes_of(value)
                yield from (f"{name}.{key}" for key, part in attributes.items() if self._leads(part))

    def _leads(self, value: Any) -> bool:
        """Return whether a value is the object, or leads to it."""
        level = [value]
        self._seen = set()
        while level:
            if self._sought is not _NOTHING and any(map(operator.is_, level, repeat(self._sought))):
                return True
            level = self._parts(self._new(level))
        smaller, larger = sorted((self._without, self._seen), key=len)
        larger |= smaller
        self._without = larger
        return False

    def _new(self, values: list[Any]) -> list[Any]:
        """Return the values that have not been visited and may hold objects, which the collector tracks."""
        kinds = set(map(type, values))
        for kind in kinds - self._rules.keys():
            self._rules[kind] = _rule_for(kind)
        arrays = [kind for kind in kinds if self._rules[kind] is _array]
        tracked = list(filter(gc.is_tracked, values))
        if arrays:
            tracked += [value for value in values if type(value) in arrays]
        numbers = set(map(id, tracked)) - self._earlier - self._without - self._seen
        if len(numbers) < len(tracked):
            found = dict(zip(map(id, tracked), tracked, strict=True))
            tracked = list(map(found.__getitem__, numbers))
        self._seen |= numbers
        self._alive.append(tracked)
        return tracked

    def _parts(self, values: list[Any]) -> list[Any]:
        """Return the objects to which these values refer."""
        ruled = {kind for kind in set(map(type, values)) if self._rules[kind] is not None}
        if not ruled:
            return gc.get_referents(*values)
        parts = gc.get_referents(*(value for value in values if type(value) not in ruled))
        for value in values:
            rule = self._rules[type(value)]
            if rule is not None:
                parts += rule(self, value)
        return parts

    def variables_of(self, variables: dict[str, Any]) -> Iterator[Any]:
        """Yield the variables of a module, unless they have been visited."""
        if not any(id(variables) in ids for ids in (self._earlier, self._without, self._seen)):
            self._seen.add(id(variables))
            yield from (value for name, value in variables.items() if name not in _OF_PYTHON)


def _rule_for(kind: type) -> Parts | None:
    """Return the rule that expands instances of a class; None means all their referents."""
    if issubclass(kind, _CLOSED) or backends[kind] is not PYTHON:
        return _nothing
    if any((base.__module__, base.__name__) == ("numpy", "ndarray") for base in policy.bases_of(kind)):
        return _array
    return next((rule for base, rule in _RULES if issubclass(kind, base)), None)


def _nothing(search: ReferrerSearch, value: Any) -> Iterable[Any]:
    return ()


def _function(search: ReferrerSearch, function: FunctionType) -> Iterable[Any]:
    """Yield the parts of a function that it shares with others, and the variables of its module."""
    yield from (function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__)
    if policy.is_user_code(function):
        yield from search.variables_of(function.__globals__)


def _class(search: ReferrerSearch, owner: type) -> Iterable[Any]:
    return (*vars(owner).values(), *policy.bases_of(owner)[1:]) if policy.is_user_class(owner) else ()


def _module(search: ReferrerSearch, module: ModuleType) -> Iterable[Any]:
    return () if policy.is_library_module(module) else search.variables_of(policy.attributes_of(module))


def _reference(search: ReferrerSearch, reference: weakref.ref[Any]) -> Iterable[Any]:
    return (reference(),)


def _array(search: ReferrerSearch, array: Any) -> Iterable[Any]:
    """Yield the objects in a NumPy array, which the collector does not track."""
    yield from gc.get_referents(array)
    if array.dtype.hasobject:
        yield from array.ravel().tolist()


_RULES: tuple[tuple[type, Parts], ...] = (
    (FunctionType, _function),
    (type, _class),
    (ModuleType, _module),
    (weakref.ref, _reference),
)
