"""Operators for comprehensions over values that a backend may own.

    [f(x) for x in t]               ag__.listed(t)(lambda items: [f(x) for x in items])
    [f(x) for x in t if x > 0]      ag__.selected(t, lambda items: [ag__.only(x > 0, lambda: f(x)) for x in items])
    [x * y for x in s for y in t]   ag__.joined(s, lambda items: [<the list for one x> for x in items])
    sum(f(x) for x in t)            sum(ag__.gone_through(t)(lambda items: (f(x) for x in items)))
    any(f(x) for x in t)            any(ag__.tested(t, 'any')(lambda items: (f(x) for x in items)))
    {f(x) for x in t}               {f(x) for x in ag__.known(t, 'set')}

In plain Python the comprehension runs unchanged. For a backend it becomes a loop that appends to a list, with one item
at a time as `items`. If the number of items is known and small, the loop is unrolled as in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from operator import length_hint, methodcaller
from types import GeneratorType
from typing import Any

from ..errors import Diagnostic, StagingError
from ..introspection.source_sites import running
from ..staging import PYTHON, backends
from ..traceback_filter import leaves_no_trace
from .conditionals import cond
from .logical import not_
from .loops import for_loop
from .variables import own_list

Build = Callable[[Iterable[Any]], Any]

_FEW = 32  # maximum number of items to unroll, to keep the graph small
_LEFT_OUT: Any = object()


class _Perhaps:
    """An element with a staged condition: a list with or without it, of a length that the backend tracks."""

    def __init__(self, elements: Any) -> None:
        self.elements = elements


@leaves_no_trace
def only(test: Any, element: Callable[[], Any]) -> Any:
    """Return an element of a comprehension with `if test`."""
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return element() if test else _LEFT_OUT
    (elements,) = cond(test, lambda: ([element()],), lambda: ([],), (), names=("comprehension",))
    return _Perhaps(elements)


@leaves_no_trace
def part(test: Any, inner: Callable[[], Any]) -> Any:
    """Return the list of the inner `for` for one item of the outer one, with `if test` between them."""
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return inner() if test else ()
    (found,) = cond(test, lambda: (_as_list(inner()),), lambda: ([],), (), names=("comprehension",))
    return found


def listed(items: Iterable[Any]) -> Callable[[Build], Any]:
    """Return a function that calls `build` with the items and returns its list. In plain Python this runs in
    C.

    >>> listed([1, 2, 3])(lambda items: [x * x for x in items])
    [1, 4, 9]
    """
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        number = _number(items)
        if number is None or number > _FEW:
            return partial(_looped, items)
    return methodcaller("__call__", items)


def gone_through(items: Iterable[Any]) -> Callable[[Build], Any]:
    """Return the same function for a generator that is consumed, and that may test the truth of its elements."""
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        return partial(_looped, items)
    return methodcaller("__call__", items)


def tested(items: Iterable[Any], name: str) -> Callable[[Build], Any]:
    """Return the same function for a generator of `any` or `all`, which compute no element after one that decides.

    For a backend, the elements become a list of one truth, which decides as they do.
    """
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        return partial(_until_decided, items, name)
    return methodcaller("__call__", items)


def _until_decided(items: Iterable[Any], name: str, build: Build) -> list[Any]:
    is_all = name == "all"
    comprehension: Any = False  # whether an element has decided; the name in error messages

    def step(item: Any, comprehension: Any) -> tuple[Any]:
        (element,) = build((item,))
        fails = not_(element, name)
        return (fails if is_all else not_(fails),)

    (decided,) = for_loop(items, step, (comprehension,), until="comprehension")
    return [not_(decided) if is_all else decided]


def selected(items: Iterable[Any], build: Build) -> Any:
    """Return the list or generator of a comprehension with a condition, with elements that `only` returns.

    >>> selected([1, 2, 3], lambda items: [only(x > 1, lambda: x * x) for x in items])
    [4, 9]
    """
    return _collected(items, build, _chosen)


def joined(items: Iterable[Any], build: Build) -> Any:
    """Return the list or generator of a comprehension with several `for` parts, with lists as elements.

    >>> joined([1, 2], lambda items: [[x, -x] for x in items])
    [1, -1, 2, -2]
    """
    return _collected(items, build, _whole)


@leaves_no_trace
def _collected(items: Iterable[Any], build: Build, elements: Callable[[Any], Any]) -> Any:
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        return _looped(items, build, elements)
    found = build(items)
    return _lazily(found, elements) if type(found) is GeneratorType else _extended([], found, elements)


def _looped(items: Iterable[Any], build: Build, elements: Callable[[Any], Any] | None = None) -> Any:
    comprehension: list[Any] = []  # the name in error messages

    def step(item: Any, comprehension: Any) -> tuple[Any]:
        return (_extended(comprehension, build((item,)), elements or _single),)

    (result,) = for_loop(items, step, (comprehension,), places=(own_list(lambda: comprehension),))
    return result


# Each function returns the elements that one iteration adds to the list, or a list that a backend owns.


def _single(found: Any) -> tuple[Any, ...]:
    return (found,)


def _chosen(found: Any) -> Any:
    if type(found) is _Perhaps:
        return found.elements
    return () if found is _LEFT_OUT else (found,)


def _whole(found: Any) -> Any:
    return found


def _as_list(found: Any) -> Any:
    return found if backends[type(found)] is not PYTHON else list(found)


def _extended(out: Any, turns: Iterable[Any], elements: Callable[[Any], Any]) -> Any:
    """Return the list extended by the elements of each iteration."""
    for turn in turns:
        added = elements(turn)
        if backends[type(added)] is PYTHON:
            out.extend(added)
        else:
            out = out + added
    return out


def _lazily(turns: Iterator[Any], elements: Callable[[Any], Any]) -> Any:
    """Yield the elements of a generator's iterations; return a list if the first one gives a backend's list."""
    for turn in turns:
        added = elements(turn)
        if backends[type(added)] is not PYTHON:
            return _extended([], chain((turn,), turns), elements)
        if type(added) is not tuple or added:
            return _flowing(chain((added,), map(elements, turns)))
    return iter(())


@leaves_no_trace
def _flowing(parts: Iterator[Iterable[Any]]) -> Iterator[Any]:
    for part in parts:
        yield from part


# Comprehensions that only Python can run: of sets and dicts, and those of lists that no lambda can contain


def known(items: Iterable[Any], kind: str) -> Iterable[Any]:
    """Return the items of a comprehension that stays Python; raise an error if their number is not known."""
    backend = backends[type(items)]
    if backend is PYTHON or not backend.owns(items) or _number(items) is not None:
        return items
    raise _refused(f"a {kind} comprehension iterates over items whose number the graph decides", kind)


def decided(test: Any, kind: str) -> Any:
    """Return the condition of a comprehension that stays Python; raise an error if it is staged."""
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return test
    try:
        return bool(test)
    except TypeError:
        raise _refused(f"a {kind} comprehension has a condition that the graph decides", kind) from None


def _refused(title: str, kind: str) -> Exception:
    return StagingError(Diagnostic("AGC276", title, running(), why=_REASONS[kind], fix=_REWRITES[kind]))


_REASONS = {
    "set": "a set is made while the function is traced, and Python needs its elements by then",
    "dict": "a dict is made while the function is traced, and Python needs its keys by then",
    "list": "a list comprehension with `await`, `super()`, or `:=` of a variable that other code mentions runs in "
    "Python while the function is traced",
}
_REWRITES = {
    "list": "compute the value in the comprehension's own `for`, as in `[y for x in xs for y in [f(x)] if y > 0]`, "
    "or write a loop",
    "set": "make a list, `xs = [... for ...]`, and then a tensor without duplicates: `tf.unique(tf.stack(xs)).y`",
    "dict": "make two lists, `keys = [... for ...]` and `values = [... for ...]`; or use keys that are known while "
    "tracing, and select the values: `{k: tf.where(test, v, 0) for k in names}`",
}


def _number(items: Any) -> int | None:
    """Return the number of items in a backend's value; None if it is not known."""
    number = length_hint(items, -1)
    return None if number < 0 else number
