"""Operators for optional features: `print`, `==` and `!=`; see features.py."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..staging import PYTHON, Backend, backends
from ..traceback_filter import leaves_no_trace


@leaves_no_trace
def print_(*values: Any, **options: Any) -> None:
    """Run `print(*values)` in the backend that owns one of the values, or that a string mentions.

    >>> print_(1, [2], sep="-")
    1-[2]
    """
    backend = next((found for value in values for found in _owners(value)), None)
    printing = print if backend is None else backend.builtins.get(print, print)
    printing(*values, **options)


def _owners(value: Any) -> Iterator[Backend]:
    """Yield the backends that stage on a value, on an item of it, or on values that a string mentions."""
    kind = type(value)
    if kind in (list, tuple):
        for item in value:
            yield from _owners(item)
    elif kind is dict:
        yield from _owners([*value.items()])
    elif kind is str:
        yield from (b for b in set(backends.registered.values()) if _mentions(b, value))
    else:
        backend = backends[kind]
        if backend is not PYTHON and backend.owns(value):
            yield backend


def _mentions(backend: Backend, text: str) -> bool:
    answer = getattr(backend, "mentions", None)
    return answer is not None and bool(answer(text))


def eq(left: Any, right: Any) -> Any:
    """Return `left == right`."""
    return _compared(operator.eq, left, right)


def ne(left: Any, right: Any) -> Any:
    """Return `left != right`."""
    return _compared(operator.ne, left, right)


@leaves_no_trace
def _compared(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    for value in (left, right):
        backend = backends[type(value)]
        if backend is not PYTHON and backend.owns(value):
            compare = backend.builtins.get(compare, compare)
            break
    return compare(left, right)
