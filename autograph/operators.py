"""What generated code calls. Each operator asks whose value decides, and hands the work to that backend.

    (n,) = ag__.cond(n % 2 == 0, if_true, if_false, (n,), names=('n',))

With a plain value that is Python itself: `if_true(n)` or `if_false(n)` is called, and nothing else happens.
An exception on its way through an operator leaves no trace of it in the traceback.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from .conversion import Converter
from .errors import Diagnostic, StagingError, leave_no_trace, user_line
from .places import Attribute, Carried, Cell, Item, Place
from .staging import PYTHON, Backend, Pending, State, Undefined, backend_of, backends, ld

__all__ = [
    "cond", "cases", "keep", "while_loop", "for_loop", "until", "if_exp", "and_", "or_", "not_", "compare", "check",
    "converted", "ld", "ld_cell", "Undefined", "Pending", "attr", "item", "cell",
]  # fmt: skip

Branch = Callable[..., Any]  # returns a tuple of results; a block without results may return None
PlaceMaker = Callable[[], Place]

_ENDLESS = itertools.count, itertools.cycle

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})

# `f` or what stands for it in converted code: see conversion.py.
converter = Converter(sys.modules[__name__])
converted = converter.converted


def cond(
    test: Any,
    then: Branch,
    orelse: Branch,
    state: State = (),
    names: tuple[str, ...] | None = None,
    places: tuple[PlaceMaker, ...] = (),
) -> Any:
    """`if`: call one branch with `*state`; its results are the values of the variables `names`.

    The names are left out where they are the parameters of the branches.

    >>> cond(3 > 2, lambda y: (y + 1,), keep, (5,))
    (6,)
    """
    backend = backends[type(test)]
    try:
        if backend is PYTHON or not backend.owns(test):
            return then(*state) if test else orelse(*state)
        carried = Carried(places)
        return carried.leave(
            backend.cond(
                test,
                carried.block(then),
                carried.block(orelse),
                state + carried.initial,
                (_names_of(then, orelse) if names is None else names) + carried.names,
            )
        )
    except BaseException as error:
        leave_no_trace(error)
        raise


def _names_of(*branches: Branch) -> tuple[str, ...]:
    """The parameters of the first branch that is not `keep`, which takes anything."""
    return next((_parameters(branch) for branch in branches if branch is not keep), ())


def cases(
    *arms: tuple[Callable[[], Any], Branch],
    orelse: Branch,
    state: State = (),
    names: tuple[str, ...] | None = None,
    places: tuple[PlaceMaker, ...] = (),
) -> Any:
    """`if`, `elif` …, `else`: call the branch of the first arm whose test is true. The rest is as for `cond`.

    >>> cases((lambda: 1 > 2, lambda y: (y,)), (lambda: 2 > 1, lambda y: (y * 10,)), orelse=keep, state=(5,))
    (50,)
    """
    try:
        for place, (test, then) in enumerate(arms):
            going = test()
            backend = backends[type(going)]
            if backend is not PYTHON and backend.owns(going):
                if names is None:
                    names = _names_of(*(branch for _, branch in arms), orelse)
                rest = partial(_later_cases, arms[place + 1 :], orelse, names, places)
                return cond(going, then, rest, state, names, places)
            if going:
                return then(*state)
        return orelse(*state)
    except BaseException as error:
        leave_no_trace(error)
        raise


def _later_cases(arms: Any, orelse: Branch, names: tuple[str, ...], places: Any, *state: Any) -> Any:
    """The arms behind one that a backend decides about, as the other branch of that one."""
    return cases(*arms, orelse=orelse, state=state, names=names, places=places)


def keep(*state: Any) -> State:
    """The branch that changes nothing."""
    return state


def while_loop(
    test: Callable[..., Any],
    body: Branch,
    state: State = (),
    places: tuple[PlaceMaker, ...] = (),
    options: Mapping[str, Any] = NO_OPTIONS,
) -> State:
    """`while`: the names of the state are the parameters of `body`.

    The loop runs in Python for as long as its test gives Python values. Once the test belongs to a backend,
    the rest of the loop is the backend's, from the state that has been reached.

    >>> while_loop(lambda n: n < 100, lambda n: (n * 2,), (3,))
    (192,)
    """
    try:
        while True:
            going = test(*state)
            backend = backends[type(going)]
            if backend is not PYTHON and backend.owns(going):
                return _staged_while(backend, going, test, body, state, places, options)
            if not going:
                return state
            state = body(*state) or ()
    except BaseException as error:
        leave_no_trace(error)
        raise


def _staged_while(
    backend: Backend,
    first: Any,
    test: Callable[..., Any],
    body: Branch,
    state: State,
    places: tuple[PlaceMaker, ...],
    options: Mapping[str, Any],
) -> State:
    carried = Carried(places)
    names = _parameters(body) + carried.names
    options = {**options, "first": first}
    start = state + carried.initial
    return carried.leave(backend.while_loop(carried.test(test), carried.block(body), start, names, options))


def for_loop(
    items: Iterable[Any],
    body: Branch,
    state: State = (),
    until: str | None = None,
    places: tuple[PlaceMaker, ...] = (),
    options: Mapping[str, Any] = NO_OPTIONS,
) -> State:
    """`for`: `body(item, *state)` gives the next state; the variable `until`, once true, ends the loop.

    >>> for_loop([1, 2, 3], lambda x, total: (total + x,), (0,))
    (6,)
    """
    backend = backends[type(items)]
    try:
        if backend is not PYTHON and backend.owns(items):
            carried = Carried(places)
            names = _parameters(body)[1:] + carried.names
            start = state + carried.initial
            return carried.leave(backend.for_loop(items, carried.block(body), start, names, until, options))
        if until is not None:
            return _python_for_until(iter(items), body, state, until, places)
        for item in items:
            state = body(item, *state) or ()
        return state
    except BaseException as error:
        leave_no_trace(error)
        raise


def _python_for_until(
    pull: Iterator[Any], body: Branch, state: State, until: str, places: tuple[PlaceMaker, ...]
) -> State:
    """A `for` over Python's items with a `break`. When a backend's value decides on the break, the remaining
    iterations are laid out one after the other, each under the condition that the loop has not been left."""
    names = _parameters(body)[1:]
    flag = names.index(until)
    if _is_true(state[flag]):
        return state
    for item in pull:
        if state[flag] is False:
            state = body(item, *state)
        else:
            if isinstance(pull, _ENDLESS):
                raise _never_ends(pull)
            state = cond(state[flag], keep, partial(body, item), state, names, places)
        if state[flag] is not False and _is_true(state[flag]):
            break
    return state


def _never_ends(pull: Iterator[Any]) -> StagingError:
    return StagingError(
        Diagnostic(
            "AGC250",
            "this `for` would never end: a staged `break` cannot end it while it is being traced",
            user_line(),
            why=f"its items come from Python's {type(pull).__name__}, so each round is laid out in turn",
            fix="write it as `while` with a counter, or give it an end with `range`",
        )
    )


def _is_true(flag: Any) -> bool:
    """Whether a flag is known to be true; a backend's value is not known."""
    return backend_of(flag) is PYTHON and bool(flag)


def until(items: Iterable[Any], stop: Callable[[], Any]) -> Iterator[Any]:
    """The items for as long as `stop()` is false. Intermediate trees use it; `for_loop` takes its place.

    >>> list(until([1, 2, 3], lambda: False))
    [1, 2, 3]
    """
    if stop():
        return
    for element in items:
        yield element
        if stop():
            return


def if_exp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`then() if test else orelse()`."""
    backend = backends[type(test)]
    try:
        if backend is PYTHON or not backend.owns(test):
            return then() if test else orelse()
        (value,) = backend.cond(test, lambda: (then(),), lambda: (orelse(),), (), ("value",))
        return value
    except BaseException as error:
        leave_no_trace(error)
        raise


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and …`: as in Python, the operand that decides.

    >>> and_(3, lambda: [], lambda: 1 / 0)
    []
    """
    try:
        for operand in rest:
            backend = backends[type(first)]
            if backend is not PYTHON and backend.owns(first):
                return backend.logical("and", first, _chain(and_, *rest[rest.index(operand) :]))
            if not first:
                return first
            first = operand()
        return first
    except BaseException as error:
        leave_no_trace(error)
        raise


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or …`: as in Python, the operand that decides."""
    try:
        for operand in rest:
            backend = backends[type(first)]
            if backend is not PYTHON and backend.owns(first):
                return backend.logical("or", first, _chain(or_, *rest[rest.index(operand) :]))
            if first:
                return first
            first = operand()
        return first
    except BaseException as error:
        leave_no_trace(error)
        raise


def _chain(op: Callable[..., Any], operand: Callable[[], Any], *rest: Callable[[], Any]) -> Callable[[], Any]:
    """The operands that are left, as one."""
    return (lambda: op(operand(), *rest)) if rest else operand


def not_(value: Any) -> Any:
    """`not value`."""
    backend = backends[type(value)]
    try:
        if backend is PYTHON or not backend.owns(value):
            return not value
        return backend.logical("not", value, None)
    except BaseException as error:
        leave_no_trace(error)
        raise


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


def compare(left: Any, *links: Any) -> Any:
    """A chain of comparisons in which each operand is evaluated once, and only when it is needed.

    `a < f() <= g()` is `compare(a, '<', lambda: f(), '<=', lambda: g())`.

    >>> compare(1, '<', lambda: 2, '<=', lambda: 2)
    True
    >>> compare(3, '<', lambda: 2, '<=', lambda: 1 / 0)
    False
    """
    try:
        name, operand, *further = links
        right = operand()
        holds = _COMPARISONS[name](left, right)
        return and_(holds, lambda: compare(right, *further)) if further else holds
    except BaseException as error:
        leave_no_trace(error)
        raise


def check(test: Any, message: Callable[[], Any] | None = None) -> Any:
    """The test of an `assert` statement. A staged test is checked when the graph runs, so here it passes.

    >>> check([]), check(3)
    ([], 3)
    """
    backend = backends[type(test)]
    try:
        if backend is PYTHON or not backend.owns(test):
            return test
        backend.check(test, message)
        return True
    except BaseException as error:
        leave_no_trace(error)
        raise


def ld_cell(read: Callable[[], Any], name: str) -> Any:
    """`ld` for a variable that a closure shares: unbound, it is an error of the function it belongs to."""
    try:
        value = read()
    except NameError:
        value = Undefined(name)
    try:
        return ld(value, name)
    except UnboundLocalError as error:
        leave_no_trace(error)
        raise


def cell(get: Callable[[], Any], put: Callable[[Any], None]) -> PlaceMaker:
    """The variable that `get` reads and `put` assigns, as a place of a block."""
    return partial(Cell, get, put)


def attr(base: Callable[[], Any], key: str) -> PlaceMaker:
    """The attribute `key` of `base()`, as a place of a block."""
    return partial(Attribute, base, key)


def item(base: Callable[[], Any], key: Callable[[], Any]) -> PlaceMaker:
    """`base()[key()]`, as a place of a block."""
    return partial(Item, base, key)


def _parameters(body: Branch) -> tuple[str, ...]:
    """The user's names of a loop's state: what the loop body calls its parameters."""
    code = body.__code__
    return code.co_varnames[: code.co_argcount]
