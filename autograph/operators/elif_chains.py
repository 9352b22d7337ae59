"""Long staged chains of `if` and `elif`, without nesting each `else` in the previous one.

    if a: …                arm = 0 if a else 1 if b else … else 16            a few tests at a time, in order
    elif b: …      ==>     arm = (16 if q else … else 32) if arm >= 16 else arm
    …                      the arms below a middle one, or those above it     bisected until one is left

All tests up to the first true one are evaluated, in order, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..staging import PYTHON, State, backend_of

AT_ONCE = 16  # maximum number of arms that may be nested

Test = Callable[[], Any]
Number = Callable[[], tuple[Any]]
Branch = Callable[..., State]
ChooseNumber = Callable[[Any, Number, Number], Any]  # test, then, otherwise
ChooseBranch = Callable[[Any, Branch, Branch, State], State]


def arm_of(first: Any, tests: Sequence[Test], choose: ChooseNumber) -> Any:
    """Return the number of the first arm with a true test, `len(tests)` if none is; `first` is the first
    test's value."""
    tests = [lambda: first, *tests[1:]]
    arm: Any = 0
    for start in range(0, len(tests), AT_ONCE):
        arm = _from(start, arm, tests[start : start + AT_ONCE], choose)
    return arm


def _from(start: int, arm: Any, tests: Sequence[Test], choose: ChooseNumber) -> Any:
    """Return the arm that is found already, or else the first true one of the next few."""
    return choose(arm >= start, lambda: (_first_true(start, tests, choose),), lambda: (arm,))


def _first_true(start: int, tests: Sequence[Test], choose: ChooseNumber) -> Any:
    if not tests:
        return start
    test, *rest = tests  # keep other tests out of the closure, which is searched for effects
    going = test()

    def later() -> tuple[Any]:
        return (_first_true(start + 1, rest, choose),)

    if backend_of(going) is not PYTHON:
        return choose(going, lambda: (start,), later)
    return start if going else later()[0]


def run_arm(
    arm: Any, branches: Sequence[Branch], state: State, choose: ChooseBranch, lowest: int = 0
) -> State:
    """Run the branch with the number `arm`; the first of `branches` has the number `lowest`."""
    if len(branches) == 1:
        return branches[0](*state)
    middle = len(branches) // 2
    lower, upper = branches[:middle], branches[middle:]
    return choose(
        arm < lowest + middle,
        lambda *now: run_arm(arm, lower, now, choose, lowest),
        lambda *now: run_arm(arm, upper, now, choose, lowest + middle),
        state,
    )
