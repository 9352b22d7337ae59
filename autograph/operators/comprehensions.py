"""Comprehensions over what may belong to a backend.

    [f(x) for x in t]               ag__.listed(t)(lambda items: [f(x) for x in items])
    [f(x) for x in t if x > 0]      ag__.selected(t, lambda items: [ag__.only(x > 0, lambda: f(x)) for x in items])
    sum(f(x) for x in t)            sum(ag__.listed(t)(lambda items: (f(x) for x in items)))

In plain Python the comprehension runs as it stands. For a backend it becomes a loop that appends to a list; then
`items` is one item at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import methodcaller
from typing import Any

from ..errors import leave_no_trace
from ..staging import PYTHON, backends
from .branches import cond
from .loops import for_loop
from .variables import own_list

Build = Callable[[Iterable[Any]], Any]

_LEFT_OUT: Any = object()


class _Perhaps:
    """An element that a backend decides about: a list with it or without it, whose length the backend knows."""

    def __init__(self, elements: Any) -> None:
        self.elements = elements


def only(test: Any, element: Callable[[], Any]) -> Any:
    """An element of a comprehension with `if test`."""
    backend = backends[type(test)]
    try:
        if backend is PYTHON or not backend.owns(test):
            return element() if test else _LEFT_OUT
        (elements,) = cond(test, lambda: ([element()],), lambda: ([],), (), names=("list",))
        return _Perhaps(elements)
    except BaseException as error:
        leave_no_trace(error)
        raise


def listed(items: Iterable[Any]) -> Callable[[Build], Any]:
    """What calls `build` with the items for the list (or generator) that it makes of them. In plain Python that is C.

    >>> listed([1, 2, 3])(lambda items: [x * x for x in items])
    [1, 4, 9]
    """
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        return partial(_looped, items)
    return methodcaller("__call__", items)


def selected(items: Iterable[Any], build: Build) -> Any:
    """The same for a comprehension with a condition, whose elements come from `only`.

    >>> selected([1, 2, 3], lambda items: [only(x > 1, lambda: x * x) for x in items])
    [4, 9]
    """
    backend = backends[type(items)]
    try:
        if backend is not PYTHON and backend.owns(items):
            return _looped(items, build)
        return _extended([], build(items))
    except BaseException as error:
        leave_no_trace(error)
        raise


def _looped(items: Iterable[Any], build: Build) -> Any:
    out: list[Any] = []

    def element(item: Any, out: Any) -> tuple[Any]:
        return (_extended(out, build((item,))),)

    (result,) = for_loop(items, element, (out,), places=(own_list(lambda: out),))
    return result


def _extended(out: Any, elements: Iterable[Any]) -> Any:
    """The list with the elements that are in it."""
    for element in elements:
        if type(element) is _Perhaps:
            out = out + element.elements
        elif element is not _LEFT_OUT:
            out.append(element)
    return out
