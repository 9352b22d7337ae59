"""The registry from the type of a value to the backend that stages on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .backend import PYTHON, Backend


class _Backends(dict[type, Backend]):
    """A cache from type to backend, filled on demand from the backends registered for the type or its bases."""

    limit = 1_000
    """The number of types at which the cache begins anew: it keeps them alive, with all that their methods hold."""

    def __init__(self) -> None:
        super().__init__()
        self.registered: dict[type, Backend] = {}

    def __missing__(self, kind: type) -> Backend:
        if len(self) >= self.limit:
            self.clear()
        # Read type.__mro__ without any metaclass that overrides it. A few built-in types have none.
        bases = type.__dict__["__mro__"].__get__(kind) or (kind,)
        found = next((self.registered[base] for base in bases if base in self.registered), PYTHON)
        self[kind] = found
        return found


# The operators read this dict; one lookup decides the plain-Python path.
backends = _Backends()


def register(backend: Backend, *types: type, always: bool = True) -> None:
    """Make `backend` the owner of the values of these types and of their subclasses.

    With `always=False` it owns values only while it says so with `live` or `building`; at all other times,
    converted functions run the user's own code.

    >>> class Symbol: ...
    >>> class Symbols(type(PYTHON)): ...
    >>> register(Symbols(), Symbol, always=False)
    >>> isinstance(backend_of(Symbol()), Symbols)
    True
    """
    for kind in types:
        if not isinstance(kind, type):
            raise TypeError(f"register() takes a backend and then types, but got {kind!r}")
        backends.registered[kind] = backend
    backends.clear()
    overloaded.update(backend.builtins)
    if always and types:
        _liveness.change(live=+1, building=+1)


class Liveness:
    """Counts of the backends that own values now. Converted code reads them as attributes of its operators.

    live        code that is converted as a whole module runs its converted version
    building    so do the functions that the user names to `convert`; never less than `live`
    """

    def __init__(self) -> None:
        self.live = self.building = 0
        self._lock = threading.Lock()
        self._readers: list[ModuleType] = []

    def change(self, *, live: int = 0, building: int = 0) -> None:
        with self._lock:
            self.live += live
            self.building += building
            for reader in self._readers:
                self._tell(reader)

    def show(self, reader: ModuleType) -> None:
        """Register `reader`, so that its attributes `live` and `building` are kept up to date.

        >>> import types
        >>> reader = types.ModuleType("operators")
        >>> show_liveness(reader)
        >>> sorted({"live", "building"} & set(vars(reader)))
        ['building', 'live']
        """
        with self._lock:
            self._readers.append(reader)
            self._tell(reader)

    def _tell(self, reader: ModuleType) -> None:
        vars(reader).update(live=self.live, building=self.building)


_liveness = Liveness()
show_liveness = _liveness.show


@contextmanager
def live() -> Iterator[None]:
    """Make all converted code run its converted version while a backend owns values, such as during a trace.

    >>> from agc.autograph import operators as ag__
    >>> with live():
    ...     bool(ag__.live), bool(ag__.building)
    (True, True)
    """
    _liveness.change(live=+1, building=+1)
    try:
        yield
    finally:
        _liveness.change(live=-1, building=-1)


def building(is_begun: bool) -> None:
    """Record that a graph is begun or ended for which only functions of `convert` are to be staged.

    >>> before = _liveness.building
    >>> building(True)
    >>> _liveness.building - before
    1
    >>> building(False)
    """
    _liveness.change(building=+1 if is_begun else -1)


# The built-in functions that some backend overloads.
overloaded: set[Callable[..., Any]] = set()


def backend_of(value: Any) -> Backend:
    """Return the backend that stages on `value`; plain Python unless one is registered for its type and owns
    it.

    >>> backend_of(3) is PYTHON
    True
    """
    backend = backends[type(value)]
    return backend if backend is PYTHON or backend.owns(value) else PYTHON
