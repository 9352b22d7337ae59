"""type of a value → the backend that stages on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .backend import PYTHON, Backend


class _Backends(dict[type, Backend]):
    """type → backend, filled on demand from what is registered for the type or one of its bases."""

    limit = 10_000  # types made on the fly must not pile up here

    def __init__(self) -> None:
        super().__init__()
        self.registered: dict[type, Backend] = {}

    def __missing__(self, kind: type) -> Backend:
        if len(self) >= self.limit:
            self.clear()
        # type.__mro__ is read past any metaclass that overrides it. A few types of Python's own have none.
        bases = type.__dict__["__mro__"].__get__(kind) or (kind,)
        found = next((self.registered[base] for base in bases if base in self.registered), PYTHON)
        self[kind] = found
        return found


# Read by the operators, where one lookup in it decides the plain-Python path.
backends = _Backends()


def register(backend: Backend, *types: type, always: bool = True) -> None:
    """Make `backend` the owner of the values of these types and of their subclasses.

    With `always=False` it owns values only while it says so with `live`; at all other times, modules that were
    converted on import run the user's own code.
    """
    for kind in types:
        if not isinstance(kind, type):
            raise TypeError(f"register() takes a backend and then types, but got {kind!r}")
        backends.registered[kind] = backend
    backends.clear()
    overloaded.update(backend.builtins)
    if always and types:
        _liveness.change(+1)


class Liveness:
    """How many backends own values now. Converted code reads it as the attribute `live` of its operators."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()
        self._readers: list[ModuleType] = []

    def change(self, by: int) -> None:
        with self._lock:
            self.count += by
            for reader in self._readers:
                reader.live = self.count  # type: ignore[attr-defined]

    def show(self, reader: ModuleType) -> None:
        """Keep `reader.live` up to date."""
        with self._lock:
            self._readers.append(reader)
            reader.live = self.count  # type: ignore[attr-defined]


_liveness = Liveness()
show_liveness = _liveness.show


@contextmanager
def live() -> Iterator[None]:
    """While a backend owns values, such as while it builds a graph: converted modules run converted code.

    >>> from agc.autograph import operators as ag__
    >>> with live():
    ...     bool(ag__.live)
    True
    """
    _liveness.change(+1)
    try:
        yield
    finally:
        _liveness.change(-1)


# The built-in functions that something stands in for, such as a backend's version.
overloaded: set[Callable[..., Any]] = set()


def backend_of(value: Any) -> Backend:
    """The backend that stages on `value`; plain Python unless one is registered for its type and owns it.

    >>> backend_of(3) is PYTHON
    True
    """
    backend = backends[type(value)]
    return backend if backend is PYTHON or backend.owns(value) else PYTHON
