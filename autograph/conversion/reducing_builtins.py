"""Reducing built-in functions on iterables of a backend's values, while a function is traced.

max([a, b])                  the backend's `max` of the list, if `a` or `b` is a backend's value
sum(f(x) for x in xs)        likewise, for the values of the generator
any(x > 0 for x in xs)       x[0] > 0 or …, as lazily as Python
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import CellType, FunctionType, GeneratorType
from typing import Any

from ..errors import leave_no_trace
from ..introspection.code_objects import nested_code_objects
from ..side_effects import pure
from ..staging import PYTHON, Backend, backend_of

GATHERING = frozenset({any, all, sum, min, max, sorted})


@functools.cache
def gathering(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of `f` that handles a backend's values as arguments or elements."""

    @functools.wraps(f, updated=())
    def dispatch(*args: Any, **kwargs: Any) -> Any:
        try:
            owner = _owner((*args, *kwargs.values()))
            if owner is not PYTHON:
                return owner.builtins.get(f, f)(*args, **kwargs)
            several = len(args) > 1 and f in (min, max)
            if not args or several or not isinstance(args[0], Iterable):
                return f(*args, **kwargs)
            if f is any or f is all:
                return _decided(f, iter(args[0]), *args[1:], **kwargs)
            items, *rest = args
            if not isinstance(items, (list, tuple)):
                items = list(items)
            owner = _owner(items)
            if owner is not PYTHON:
                return owner.builtins.get(f, f)(items, *rest, **kwargs)
            return f(items, *rest, **kwargs)
        except BaseException as error:
            leave_no_trace(error)
            raise

    return dispatch


def _owner(values: Iterable[Any]) -> Backend:
    """Return the backend of the first value that belongs to a backend other than Python."""
    return next((owner for owner in map(backend_of, values) if owner is not PYTHON), PYTHON)


def _decided(f: Callable[..., bool], items: Iterator[Any]) -> Any:
    """Return `any` or `all` of `items`, taking elements until one decides."""
    for item in items:
        backend = backend_of(item)
        if backend is not PYTHON:
            truth = backend.logical("not", backend.logical(f.__name__, item, None), None)
            what = f"an element of this `{f.__name__}` after the first"
            name = _assigned(items)
            if name is not None:
                from ..side_effects.diagnostics import hidden

                raise hidden(name, what)
            rest = pure(lambda: _decided(f, items), what, _functions(items))
            return backend.logical("or" if f is any else "and", truth, rest)
        if bool(item) is (f is any):
            return f is any
    return f is all


def _assigned(items: Iterator[Any]) -> str | None:
    """Return a variable of a function around a generator that the generator assigns, as by `:=`; None without one."""
    if not isinstance(items, GeneratorType):
        return None
    import dis

    for code in nested_code_objects(items.gi_code):
        for instruction in dis.get_instructions(code):
            if instruction.opname == "STORE_DEREF" and instruction.argval in items.gi_code.co_freevars:
                return str(instruction.argval)
    return None


def _functions(items: Iterator[Any]) -> list[Callable[..., Any]]:
    """Return the functions that run when an iterator advances, such as the function of a `map`."""
    if isinstance(items, (map, filter)):
        return [part for part in items.__reduce__()[1] if callable(part)]
    if not isinstance(items, GeneratorType) or items.gi_frame is None:
        return []
    code, values = items.gi_code, items.gi_frame.f_locals
    known = tuple(CellType(values[name]) if name in values else CellType() for name in code.co_freevars)
    return [FunctionType(code, items.gi_frame.f_globals, code.co_name, None, known)]
