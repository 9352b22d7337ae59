"""Operators for `if`, and for chains of `if` and `elif`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..side_effects import staged
from ..staging import PYTHON, Backend, State, backends
from ..traceback_filter import leaves_no_trace
from .elif_chains import AT_ONCE, arm_of, run_arm
from .pinned_objects import LocationMaker, PinnedObjects

if TYPE_CHECKING:
    from ..side_effects.carried_state import CarriedState

Branch = Callable[..., Any]  # returns a tuple of results; a block without results may return None


@leaves_no_trace
def cond(
    test: Any,
    then: Branch,
    orelse: Branch,
    state: State = (),
    names: tuple[str, ...] | None = None,
    places: tuple[LocationMaker, ...] = (),
) -> Any:
    """Call one branch of an `if` with `*state`; its results are the values of the variables `names`.

    `names` is omitted if they are the parameters of the branches.

    >>> cond(3 > 2, lambda y: (y + 1,), keep, (5,))
    (6,)
    """
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        return then(*state) if test else orelse(*state)
    gives = _names_of(then, orelse) if names is None else names
    takes = gives if then is keep else parameters_of(then)
    return _staged(backend, test, then, orelse, state, takes, gives, places)


def _staged(
    backend: Backend,
    test: Any,
    then: Branch,
    orelse: Branch,
    state: State,
    takes: Sequence[str],
    gives: Sequence[str],
    places: tuple[LocationMaker, ...],
    besides: Sequence[tuple[str, Any]] = (),
) -> State:
    """Stage an `if` in `backend`; `takes` and `gives` are the variables of the state and of the results."""
    held = PinnedObjects(places, state, takes, gives)

    def run(carried: CarriedState) -> State:
        return backend.cond(
            test,
            carried.block(held.block(then)),
            carried.block(held.block(orelse)),
            held.state + carried.initial,
            held.names + carried.names,
        )

    taken = [name for name in takes if name not in held.objects]
    others = [*held.callers, *besides]
    return held.leave(staged(held.makers, run, (then, orelse), held.state, taken, held.names, others))


def _names_of(*branches: Branch) -> tuple[str, ...]:
    """Return the parameters of the first branch other than `keep`, which accepts anything."""
    return next((parameters_of(branch) for branch in branches if branch is not keep), ())


@leaves_no_trace
def cases(
    *arms: tuple[Callable[[], Any], Branch],
    orelse: Branch,
    state: State = (),
    names: tuple[str, ...] | None = None,
    places: tuple[LocationMaker, ...] = (),
) -> Any:
    """Call the branch of the first arm whose test is true (`if`, `elif` …, `else`). The rest is as for
    `cond`.

    >>> cases((lambda: 1 > 2, lambda y: (y,)), (lambda: 2 > 1, lambda y: (y * 10,)), orelse=keep, state=(5,))
    (50,)
    """
    for number, (test, then) in enumerate(arms):
        going = test()
        backend = backends[type(going)]
        if backend is not PYTHON and backend.owns(going):
            if names is None:
                names = _names_of(*(branch for _, branch in arms), orelse)
            if len(arms) - number > AT_ONCE:
                return _long(going, arms[number:], orelse, state, names, places)
            rest = partial(_later_cases, arms[number + 1 :], orelse, names, places)
            return cond(going, then, rest, state, names, places)
        if going:
            return then(*state)
    return orelse(*state)


def _later_cases(arms: Any, orelse: Branch, names: tuple[str, ...], places: Any, *state: Any) -> Any:
    """Run the arms after a staged one, as the other branch of that one."""
    return cases(*arms, orelse=orelse, state=state, names=names, places=places)


def _long(
    going: Any,
    arms: Any,
    orelse: Branch,
    state: State,
    names: tuple[str, ...],
    places: tuple[LocationMaker, ...],
) -> State:
    """Stage a chain with too many arms for nested conditionals."""
    branches = [*(branch for _, branch in arms), orelse]
    takes = next((parameters_of(branch) for branch in branches if branch is not keep), names)

    def number(test: Any, then: Branch, other: Branch) -> Any:
        (arm,) = cond(test, then, other, (), ("arm",))
        return arm

    def branch(test: Any, then: Branch, other: Branch, now: State) -> State:
        return chosen(test, then, other, now, names, takes, places)

    return run_arm(arm_of(going, [test for test, _ in arms], number), branches, state, branch)


def chosen(
    test: Any,
    then: Branch,
    orelse: Branch,
    state: State,
    names: Sequence[str],
    takes: Sequence[str] | None = None,
    places: tuple[LocationMaker, ...] = (),
    besides: Sequence[tuple[str, Any]] = (),
) -> State:
    """Return `cond` for branches whose parameters are not the variables of the state; those are `takes`, or `names`.

    `besides` are further objects that the branches reach."""
    backend = backends[type(test)]
    if backend is PYTHON or not backend.owns(test):
        result: State = then(*state) if test else orelse(*state)
        return result
    takes = names if takes is None else takes
    return _staged(backend, test, then, orelse, state, takes, names, places, besides)


def keep(*state: Any) -> State:
    """Return the state unchanged, as the empty branch."""
    return state


def parameters_of(body: Branch) -> tuple[str, ...]:
    """Return the variables of a block's state: the names of its parameters."""
    code = body.__code__
    return code.co_varnames[: code.co_argcount]
