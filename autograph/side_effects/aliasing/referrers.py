"""Which variables lead to an object, whatever it is in, and however deep.

    log = [x]
    rows = {"all": [[log]]}                  `rows`        a dict, a list, a list
    push = functools.partial(f, log)         `push`        its arguments
    Box.log = log                            `Box`         what the class holds, as any module or closure may

The search goes by what Python's garbage collector knows: what holds an object tells it so. It takes all that is
equally far away at once, so that 100,000 records take tenths of a second, and goes by what leads to no data of the
program: values of a backend, libraries' classes and modules, frames."""

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
"""The names by which modules know the import system, which leads far and to nothing of the program's."""
_CLOSED = CodeType, FrameType, TracebackType
_NOBODY = object()

Parts = Callable[["ReferrerSearch", Any], Iterable[Any]]


class ReferrerSearch:
    """A search for the variables that lead to an object, of one mapping after the other.

    What leads there no more than an `earlier` search has found is not searched again.
    """

    def __init__(self, sought: Any = _NOBODY, earlier: ReferrerSearch | None = None) -> None:
        self._sought = sought
        self._earlier: set[int] = set() if earlier is None else earlier._without
        # The numbers of what has been searched, and does not lead to the object.
        self._without: set[int] = set()
        self._seen: set[int] = set()  # those of what the search at hand has come by
        self._alive: list[Any] = []  # so that no other object gets such a number
        self._rules: dict[type, Parts | None] = {}

    def pass_by(self, variables: Any) -> None:
        """Leave out these variables where they are met as those of a module: they are looked at by themselves."""
        self._without.add(id(variables))

    def meet(self, variables: Mapping[str, Any]) -> None:
        """Come by everything that these lead to; nothing is sought."""
        self._leads([value for name, value in variables.items() if name not in _OF_PYTHON])

    def has_met(self, value: Any) -> bool:
        """Whether the search has come by an object, or perhaps has: the collector does not track some dicts."""
        return id(value) in self._without or not gc.is_tracked(value)

    def names(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Those that lead to the object; also their attributes that do.

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
        """Whether a value is the object, or leads to it."""
        level = [value]
        self._seen = set()
        while level:
            if self._sought is not _NOBODY and any(map(operator.is_, level, repeat(self._sought))):
                return True
            level = self._parts(self._new(level))
        smaller, larger = sorted((self._without, self._seen), key=len)
        larger |= smaller
        self._without = larger
        return False

    def _new(self, values: list[Any]) -> list[Any]:
        """Those of these values that may hold objects, which the collector tracks, and that have not been met."""
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
        """What these values refer to."""
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
        """What a module holds, once."""
        if not any(id(variables) in ids for ids in (self._earlier, self._without, self._seen)):
            self._seen.add(id(variables))
            yield from (value for name, value in variables.items() if name not in _OF_PYTHON)


def _rule_for(kind: type) -> Parts | None:
    """How the search goes on from instances of a class; None: to all that they refer to."""
    if issubclass(kind, _CLOSED) or backends[kind] is not PYTHON:
        return _nothing
    if any((base.__module__, base.__name__) == ("numpy", "ndarray") for base in policy.bases_of(kind)):
        return _array
    return next((rule for base, rule in _RULES if issubclass(kind, base)), None)


def _nothing(search: ReferrerSearch, value: Any) -> Iterable[Any]:
    return ()


def _function(search: ReferrerSearch, function: FunctionType) -> Iterable[Any]:
    """What a function shares with others, and with its module."""
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
    """The objects in an array of NumPy's, of which the collector does not know."""
    yield from gc.get_referents(array)
    if array.dtype.hasobject:
        yield from array.ravel().tolist()


_RULES: tuple[tuple[type, Parts], ...] = (
    (FunctionType, _function),
    (type, _class),
    (ModuleType, _module),
    (weakref.ref, _reference),
)
