"""Operators for `while` and `for`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import length_hint
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, StagingError
from ..introspection.source_sites import running
from ..side_effects import staged
from ..staging import PYTHON, Backend, State, backend_of, backends, rotated
from ..traceback_filter import leaves_no_trace
from .conditionals import Branch, chosen, cond, keep, parameters_of
from .pinned_objects import LocationMaker, PinnedObjects

if TYPE_CHECKING:
    from ..side_effects.carried_state import CarriedState

_ENDLESS = itertools.count, itertools.cycle
_MOST = 100_000  # maximum number of unrolled iterations; those take a quarter of an hour or more

Options = Callable[..., Mapping[str, Any]]  # of the state; returns the options of `set_loop_options`


def no_options(*state: Any) -> Mapping[str, Any]:
    return NOTHING


NOTHING: Mapping[str, Any] = MappingProxyType({})


@leaves_no_trace
def while_loop(
    test: Callable[..., Any],
    body: Branch,
    state: State = (),
    places: tuple[LocationMaker, ...] = (),
    options: Options = no_options,
) -> State:
    """Run a `while` loop; the names of the state are the parameters of `body`.

    The loop runs in Python while its test returns Python values. Once the test returns a backend's value, the
    backend stages the rest of the loop, from the current state.

    >>> while_loop(lambda n: n < 100, lambda n: (n * 2,), (3,))
    (192,)
    """
    while True:
        going = test(*state)
        backend = backends[type(going)]
        if backend is not PYTHON and backend.owns(going):
            return _staged_while(backend, going, test, body, state, places, options)
        if not going:
            return state
        state = body(*state) or ()


def _staged_while(
    backend: Backend,
    first: Any,
    test: Callable[..., Any],
    body: Branch,
    state: State,
    places: tuple[LocationMaker, ...],
    options: Options,
) -> State:
    takes = parameters_of(body)
    held = PinnedObjects(places, state, takes, takes)
    said = {**options(*state), "first": first}

    def run(carried: CarriedState) -> State:
        said["is_used_later"] = carried.is_used_later
        going, step, start, names = held.test(test), held.block(body), held.state, held.names
        if carried.test_assigns:
            going, step, start = rotated(going, step, start, first)
            names = ("going", *names)
        results = backend.while_loop(
            carried.test(going), carried.block(step), carried.start(start), names + carried.names, said
        )
        return results[1:] if carried.test_assigns else results

    return held.leave(staged(held.makers, run, (body, test), held.state, held.names, besides=held.callers))


@leaves_no_trace
def for_loop(
    items: Iterable[Any],
    body: Branch,
    state: State = (),
    until: str | None = None,
    places: tuple[LocationMaker, ...] = (),
    options: Options = no_options,
) -> State:
    """Run a `for` loop: `body(item, *state)` returns the next state; the variable `until`, once true, ends
    it.

    >>> for_loop([1, 2, 3], lambda x, total: (total + x,), (0,))
    (6,)
    """
    backend = backends[type(items)]
    if backend is not PYTHON and backend.owns(items):
        return _staged_for(backend, items, body, state, until, places, options)
    if until is not None:
        return _python_for_until(iter(items), body, state, until, places)
    for item in items:
        state = body(item, *state) or ()
    return state


def _staged_for(
    backend: Backend,
    items: Any,
    body: Branch,
    state: State,
    until: str | None,
    places: tuple[LocationMaker, ...],
    options: Options,
) -> State:
    takes = parameters_of(body)[1:]
    held = PinnedObjects(places, state, takes, takes)
    said = {**options(*state)}

    called = [("items", function) for function in getattr(items, "functions", ())]  # as that of `map` is
    if called:
        items, within = items.apart()

    def run(carried: CarriedState) -> State:
        said["is_used_later"] = carried.is_used_later
        block = held.block(body, before=1)
        if called:
            block = within(block, held.names, partial(chosen, besides=called))
        step = carried.block(block, body)
        return backend.for_loop(
            items, step, carried.start(held.state), held.names + carried.names, until, said
        )

    besides = [*held.callers, *called]
    return held.leave(staged(held.makers, run, (body,), held.state, held.names, besides=besides))


@leaves_no_trace
def _python_for_until(
    pull: Iterator[Any], body: Branch, state: State, until: str, places: tuple[LocationMaker, ...]
) -> State:
    """Run a `for` over Python items with a `break`.

    Once a backend's value decides the break, the remaining iterations are unrolled, each under the condition that the
    loop has not ended."""
    names = parameters_of(body)[1:]
    flag = names.index(until)
    if _is_true(state[flag]):
        return state
    for item in pull:
        if state[flag] is False:
            state = body(item, *state)
        else:
            if isinstance(pull, _ENDLESS) or _rounds_left(pull) > _MOST:
                raise _never_ends(pull)
            state = cond(state[flag], keep, partial(body, item), state, names, places)
        if state[flag] is not False and _is_true(state[flag]):
            break
    return state


def _never_ends(pull: Iterator[Any]) -> StagingError:
    source, fix = type(pull).__name__, "write it as `while` with a counter, or limit it with `range`"
    if not isinstance(pull, _ENDLESS):
        source = f"{source.removesuffix('_iterator')} and there are {_rounds_left(pull)} more"
        fix = "write it as `while` with a counter, or as `for i in tf.range(n)`"
    return StagingError(
        Diagnostic(
            "AGC250",
            "this `for` would never end: a staged `break` cannot end it while it is being traced",
            running(),
            why=f"its items come from Python's {source}, so tracing unrolls the loop",
            fix=fix,
        )
    )


def _rounds_left(pull: Iterator[Any]) -> int:
    try:
        return length_hint(pull)
    except OverflowError:  # a range longer than any list
        return sys.maxsize


def _is_true(flag: Any) -> bool:
    """Return whether a flag is known to be true; a backend's value is not known."""
    return backend_of(flag) is PYTHON and bool(flag)


def until(items: Iterable[Any], stop: Callable[[], Any]) -> Iterator[Any]:
    """Yield the items while `stop()` is false. Intermediate trees use it; `for_loop` replaces it.

    >>> list(until([1, 2, 3], lambda: False))
    [1, 2, 3]
    """
    if stop():
        return
    for element in items:
        yield element
        if stop():
            return
